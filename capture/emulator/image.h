/* A cubin as the emulator needs it: machine code, parameters and constants of each kernel. */
#ifndef PW_EMULATOR_IMAGE_H
#define PW_EMULATOR_IMAGE_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_PARAMETERS = 32, CONSTANT_BANKS = 8 };

struct instruction {
    uint64_t low, high;
};

struct parameter {
    uint32_t offset, bytes;
};

struct kernel {
    const char *name;
    const struct instruction *code;
    uint32_t instructions, registers, shared_bytes;
    uint32_t parameter_base, parameter_count;
    struct parameter parameters[MAX_PARAMETERS];
    const uint8_t *constants[CONSTANT_BANKS]; /* as in the image; NULL where the kernel has no such bank */
    uint32_t constant_bytes[CONSTANT_BANKS];
};

/* The kernel of that (mangled) name in an ELF image; false if it has none. The image has to outlive the kernel. Images
 * come from nvcc and are trusted. */
int image_find_kernel(const uint8_t *image, const char *name, struct kernel *out);

/* Where a variable in constant memory lies in bank 3, or UINT32_MAX. */
uint32_t image_find_constant(const uint8_t *image, const char *name);

#endif
