/* Names of functions: made short for people, and how much each says about an allocation that is made below it.
 *
 * Between a program's own code and cudaMalloc there may be dozens of functions that are the same for every allocation:
 * the pools of PyTorch, CuPy or JAX, what makes a tensor of whatever kind, the interpreter. Which those are is known by
 * the names of their files and by words in theirs. */
#ifndef PW_CAPTURE_FUNCTION_NAMES_H
#define PW_CAPTURE_FUNCTION_NAMES_H

enum pw_capture_telling {
    /* part of CUDA (its driver, its runtime, also one that is linked into the program), or the recorder */
    PW_TELLS_NOTHING,
    PW_TELLS_POOL,   /* hands out memory, or runs whatever it is given: an allocator, an interpreter, the C library */
    PW_TELLS_TENSOR, /* makes a tensor of whatever kind, or finds the code of an operation */
    PW_TELLS_PLACE,
};

/* By the name of a library or program, and of its function, as pw_capture_cut leaves it; NULL if that is not known. */
enum pw_capture_telling pw_capture_telling(const char *file, const char *function);

/* From a name as C++ has it, "void a::f<int>(int*)", to the function alone, "a::f"; from one of Cython's,
 * "__pyx_f_4cupy_4cuda_6memory_alloc", to "cupy.cuda.memory.alloc". In place. */
void pw_capture_cut(char *name);

/* Leaves the last three parts of "a::b::c::d", without namespaces that have no name. In place. */
void pw_capture_drop_namespaces(char *name);

/* "memory.cpython-312-x86_64-linux-gnu.so" as "memory.so". In place. */
void pw_capture_shorten_file(char *name);

#endif
