/* The functions of the recorded process by the addresses of their code, for people: "libtorch_cuda.so!at::native::ones+0x5a".
 * The same in every run of the same program, wherever its libraries are loaded. */
#ifndef PW_CAPTURE_SYMBOLS_H
#define PW_CAPTURE_SYMBOLS_H

#include "function_names.h"

#include <stddef.h>

/* Writes where `code` lies: its file, the function without parameters, and the distance from its beginning; without a
 * function's name the distance from the file's beginning. Cut to fit, printable. With PW_TELLS_NOTHING, also of code that is in no
 * file, nothing may be written. */
enum pw_capture_telling pw_capture_symbol(const void *code, char *out, size_t bytes);

#endif
