/* Names of functions: see the header. What C++ and PyTorch call things was seen in names of PyTorch 2.11, CuPy 14 and JAX 0.11. */
#include "function_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char unnamed[] = "(anonymous namespace)";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Lists end with NULL. */
static bool begins_with_any(const char *text, const char *const list[])
{
    for (; *list; list++)
        if (begins(text, *list))
            return true;
    return false;
}

static bool has_any(const char *text, const char *const list[])
{
    for (; *list; list++)
        if (strcasestr(text, *list))
            return true;
    return false;
}

/* A function of the CUDA runtime, which nvcc links into programs: cudaMalloc, __cudart123, libcudart_static_0a1b. */
static bool is_runtime_function(const char *name)
{
    return (begins(name, "cuda") && isupper((unsigned char)name[4])) || begins(name, "__cuda") ||
           begins(name, "libcudart_static_");
}

enum pw_capture_telling pw_capture_telling(const char *file, const char *function)
{
    static const char *const cuda[] = {"libcuda.so",    "libcudart.so",         "libnvidia-",
                                       "libsanitizer-", "libpagewalk-capture.", NULL};
    static const char *const any[] = {"libc10",  "libc.so",   "libpthread", "ld-linux",  "libffi",
                                      "python3", "libpython", "_ctypes.",   "libstdc++", NULL};
    static const char *const pools[] = {"alloc", "MemoryPool", "memory_pool", "cuda.memory.", NULL};
    static const char *const tensors[] = {"at::detail::", "at::_ops::", "c10::",   "::empty",
                                          "::_empty",     "resize",     "wrap",    "TensorIter",
                                          "set_output",   "create_out", "Storage", NULL};
    if (begins_with_any(file, cuda) || (function && is_runtime_function(function)))
        return PW_TELLS_NOTHING;
    if (begins_with_any(file, any) || (function && has_any(function, pools)))
        return PW_TELLS_POOL;
    if (begins(file, "libtorch") && (!function || has_any(function, tensors)))
        return PW_TELLS_TENSOR;
    if (function && (begins(function, "__Pyx") || strstr(function, "ndarray")))
        return PW_TELLS_TENSOR;
    return PW_TELLS_PLACE;
}

/* Drops what stands in template arguments and from the parameters on; of what is left the return type goes. */
static void cut_cpp(char *name)
{
    char *to = name, *word = name;
    int depth = 0;
    for (const char *at = name; *at; at++) {
        if (!depth && begins(at, unnamed)) {
            memmove(to, unnamed, sizeof unnamed - 1);
            to += sizeof unnamed - 1;
            at += sizeof unnamed - 2;
            continue;
        }
        bool of_operator = to - word >= 8 && strncmp(to - 8, "operator", 8) == 0;
        if (*at == '(' && !depth && !of_operator)
            break;
        depth -= *at == '>' && depth;
        if (!depth && *at != '<' && *at != '>')
            *to++ = *at;
        if (*at == ' ' && !depth && !(to - word >= 9 && strncmp(to - 9, "operator ", 9) == 0))
            word = to;
        depth += *at == '<';
    }
    *to = 0;
    memmove(name, word, (size_t)(to - word) + 1);
}

/* Packages, modules and classes stand in it as 4cupy_4cuda_, the number being that of letters; another number, before the name of
 * a function, tells functions apart. */
static void cut_cython(char *name, const char *from)
{
    char *to = name, *end;
    while (isdigit((unsigned char)*from)) {
        size_t letters = strtoul(from, &end, 10);
        from = end;
        if (letters >= strlen(from) || from[letters] != '_')
            break;
        memmove(to, from, letters);
        to[letters] = '.';
        to += letters + 1;
        from += letters + 1;
    }
    memmove(to, from, strlen(from) + 1);
}

void pw_capture_cut(char *name)
{
    static const char *const kinds[] = {"__pyx_f_", "__pyx_pf_", "__pyx_pw_"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(name, kinds[i])) {
            cut_cython(name, name + strlen(kinds[i]));
            return;
        }
    cut_cpp(name);
}

void pw_capture_drop_namespaces(char *name)
{
    enum { MOST = 3 };
    char *part;
    while ((part = strstr(name, unnamed)) && begins(part + sizeof unnamed - 1, "::"))
        memmove(part, part + sizeof unnamed + 1, strlen(part + sizeof unnamed + 1) + 1);
    size_t parts = 1;
    for (part = name; (part = strstr(part, "::")); part += 2)
        parts++;
    for (part = name; parts > MOST; parts--)
        part = strstr(part, "::") + 2;
    memmove(name, part, strlen(part) + 1);
}

void pw_capture_shorten_file(char *name)
{
    char *tag = strstr(name, ".cpython-"), *end = strrchr(name, '.');
    if (tag && end > tag)
        memmove(tag, end, strlen(end) + 1);
}
