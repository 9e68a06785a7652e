/* The functions of the recorded process by the addresses of their code, for people: "libtorch_cuda.so!c10::cuda::f+0x5a".
 * The same in every run of the same program, wherever its libraries are loaded. */
#ifndef PW_CAPTURE_SYMBOLS_H
#define PW_CAPTURE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes where `code` lies: its file, the function without parameters, and the distance from its beginning; without a
 * function's name the distance from the file's beginning. Cut to fit, printable. False: it is part of CUDA (the driver, its
 * runtime, also one that is linked into the program, and the recorder), or in no file. */
bool pw_capture_symbol(const void *code, char *out, size_t bytes);

/* From a name as C++ has it, "void ns::f<int>(int*)", to the function alone, "ns::f". In place. */
void pw_capture_shorten(char *name);

#endif
