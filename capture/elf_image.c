/* ELF images: see the header. */
#include "elf_image.h"

#include <string.h>

const uint8_t *pw_elf_part(const struct pw_elf_image *m, uint64_t offset, uint64_t bytes)
{
    return offset <= m->size && bytes <= m->size - offset ? m->bytes + offset : NULL;
}

Elf64_Shdr pw_elf_section(const struct pw_elf_image *m, uint32_t i)
{
    Elf64_Shdr s;
    memcpy(&s, m->sections + (size_t)i * sizeof s, sizeof s);
    return s;
}

const char *pw_elf_name_behind(const struct pw_elf_image *m, const Elf64_Shdr *s, const char *prefix)
{
    if (s->sh_name >= m->names_bytes)
        return NULL;
    const char *name = (const char *)m->names + s->sh_name;
    size_t length = strlen(prefix);
    if (!memchr(name, 0, m->names_bytes - s->sh_name) || strncmp(name, prefix, length) != 0)
        return NULL;
    return name + length;
}

enum pw_status pw_elf_open(const void *bytes, size_t size, const char *what, struct pw_elf_image *m,
                           struct pw_error *err)
{
    *m = (struct pw_elf_image){.bytes = bytes, .size = size};
    Elf64_Ehdr header;
    if (size < sizeof header || memcmp(bytes, ELFMAG, SELFMAG) != 0 || m->bytes[EI_CLASS] != ELFCLASS64)
        return pw_fail(err, PW_USER_ERROR, "%s is no 64-bit ELF image", what);
    memcpy(&header, bytes, sizeof header);
    /* Images with more sections than 16 bits number say in the first one how many there are. */
    m->sections = pw_elf_part(m, header.e_shoff, sizeof(Elf64_Shdr));
    Elf64_Shdr first = m->sections ? pw_elf_section(m, 0) : (Elf64_Shdr){0};
    uint64_t count = header.e_shnum ? header.e_shnum : first.sh_size;
    uint32_t names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
    if (count > UINT32_MAX || !pw_elf_part(m, header.e_shoff, count * sizeof(Elf64_Shdr)) ||
        header.e_shentsize != sizeof(Elf64_Shdr) || names >= count)
        return pw_fail(err, PW_USER_ERROR, "%s has no table of sections", what);
    m->count = (uint32_t)count;
    Elf64_Shdr s = pw_elf_section(m, names);
    m->names = pw_elf_part(m, s.sh_offset, s.sh_size);
    m->names_bytes = m->names ? s.sh_size : 0;
    return PW_OK;
}
