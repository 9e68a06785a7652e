/* An ELF image in memory, read with every offset checked: machine code of GPUs, and the libraries of the recorded
 * process. */
#ifndef PW_CAPTURE_ELF_IMAGE_H
#define PW_CAPTURE_ELF_IMAGE_H

#include "sim/status.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct pw_elf_image {
    const uint8_t *bytes;
    uint64_t size;
    const uint8_t *sections, *names;
    uint32_t count;
    uint64_t names_bytes;
};

/* `what` is the image's name in messages. The image refers to the bytes. */
enum pw_status pw_elf_open(const void *bytes, size_t size, const char *what, struct pw_elf_image *out,
                           struct pw_error *err);

/* The part of the image at [offset, offset + bytes), NULL if it has no such part. */
const uint8_t *pw_elf_part(const struct pw_elf_image *m, uint64_t offset, uint64_t bytes);

/* Section i, below m->count. */
Elf64_Shdr pw_elf_section(const struct pw_elf_image *m, uint32_t i);

/* What follows `prefix` in the section's name, NULL if it does not begin so. */
const char *pw_elf_name_behind(const struct pw_elf_image *m, const Elf64_Shdr *s, const char *prefix);

#endif
