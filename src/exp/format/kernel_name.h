/* Names of kernels for people. Compilers mangle C++ names (Itanium C++ ABI), and a trace keeps them as it found them:
 * not trusted, of any length. What is written here is UTF-8 without control characters, ends with a zero byte, and ends
 * with "…" where it was cut to fit. */
#ifndef PW_EXP_KERNEL_NAME_H
#define PW_EXP_KERNEL_NAME_H

#include <stddef.h>

enum { PW_KERNEL_NAME_SHORT = 64, PW_KERNEL_NAME_FULL = 1 << 16 }; /* sizes that are enough for nearly all */

/* The function with at most two namespaces before it, "at::native::reduce_kernel<…>", from a mangled name or one that
 * is demangled already. No parameters, no return type; other names, such as those of Triton, stay as they are. */
void pw_kernel_name_short(const char *mangled, char *out, size_t size);

/* All of it, demangled: "void at::native::reduce_kernel<512, 1>(float*)". A name that is not mangled, or is too long or
 * too nested for the demangler, stays as it is. */
void pw_kernel_name_full(const char *mangled, char *out, size_t size);

#endif
