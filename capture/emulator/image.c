/* Cubins: ELF files whose sections carry the kernel's name. `.nv.info.KERNEL` is a list of attributes, each a word
 * size << 16 | attribute << 8 | format and, in format 4, `size` bytes behind it. */
#include "image.h"

#include <elf.h>
#include <string.h>

enum { ATTRIBUTE_PARAMETER = 0x17, ATTRIBUTE_CONSTANT_BANK = 0x0a, ATTRIBUTE_REGISTERS = 0x2f };

struct elf {
    const uint8_t *bytes;
    const Elf64_Shdr *sections;
    uint32_t count;
    const char *names;
};

static struct elf open_elf(const uint8_t *image)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    return (struct elf){image, sections, header->e_shnum, (const char *)image + sections[header->e_shstrndx].sh_offset};
}

/* The section whose name is `prefix` and then `kernel`. */
static const Elf64_Shdr *find_section(const struct elf *e, const char *prefix, const char *kernel)
{
    size_t length = strlen(prefix);
    for (uint32_t i = 0; i < e->count; i++) {
        const char *name = e->names + e->sections[i].sh_name;
        if (strncmp(name, prefix, length) == 0 && strcmp(name + length, kernel) == 0)
            return &e->sections[i];
    }
    return NULL;
}

static uint32_t word_at(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void read_attribute(struct kernel *k, uint32_t attribute, const uint8_t *at)
{
    uint32_t place = word_at(at + 4);
    if (attribute == ATTRIBUTE_CONSTANT_BANK)
        k->parameter_base = place & 0xffff;
    if (attribute != ATTRIBUTE_PARAMETER)
        return;
    uint32_t ordinal = place & 0xffff;
    if (ordinal >= MAX_PARAMETERS)
        return;
    k->parameters[ordinal] = (struct parameter){place >> 16, word_at(at + 8) >> 18};
    if (k->parameter_count <= ordinal)
        k->parameter_count = ordinal + 1;
}

static void read_attributes(const struct elf *e, const Elf64_Shdr *section, struct kernel *k)
{
    const uint8_t *at = e->bytes + section->sh_offset, *end = at + section->sh_size;
    while (at + 4 <= end) {
        uint32_t head = word_at(at);
        at += 4;
        if ((head & 0xff) != 4)
            continue;
        read_attribute(k, head >> 8 & 0xff, at);
        at += head >> 16;
    }
}

static uint32_t registers_of(const struct elf *e, uint32_t symbol)
{
    const Elf64_Shdr *info = find_section(e, ".nv.info", "");
    const uint8_t *at = info ? e->bytes + info->sh_offset : NULL, *end = info ? at + info->sh_size : NULL;
    while (at && at + 4 <= end) {
        uint32_t head = word_at(at);
        at += 4;
        if ((head & 0xff) != 4)
            continue;
        if ((head >> 8 & 0xff) == ATTRIBUTE_REGISTERS && word_at(at) == symbol)
            return word_at(at + 4);
        at += head >> 16;
    }
    return 0;
}

int image_find_kernel(const uint8_t *image, const char *name, struct kernel *out)
{
    struct elf e = open_elf(image);
    const Elf64_Shdr *text = find_section(&e, ".text.", name), *info = find_section(&e, ".nv.info.", name);
    if (!text || !info)
        return 0;
    *out = (struct kernel){.name = name,
                           .code = (const void *)(image + text->sh_offset),
                           .instructions = (uint32_t)(text->sh_size / sizeof(struct instruction)),
                           .registers = registers_of(&e, text->sh_info)};
    read_attributes(&e, info, out);
    const Elf64_Shdr *shared = find_section(&e, ".nv.shared.", name);
    out->shared_bytes = shared ? (uint32_t)shared->sh_size : 0;
    for (uint32_t bank = 0; bank < CONSTANT_BANKS; bank++) {
        char prefix[] = ".nv.constant0.";
        prefix[12] = (char)('0' + bank);
        const Elf64_Shdr *s = find_section(&e, prefix, name);
        if (!s && bank == 3)
            s = find_section(&e, ".nv.constant3", "");
        if (!s)
            continue;
        out->constants[bank] = image + s->sh_offset;
        out->constant_bytes[bank] = (uint32_t)s->sh_size;
    }
    return 1;
}

uint32_t image_find_constant(const uint8_t *image, const char *name)
{
    struct elf e = open_elf(image);
    const Elf64_Shdr *table = find_section(&e, ".symtab", ""), *strings = find_section(&e, ".strtab", "");
    for (size_t i = 0; table && strings && i < table->sh_size / sizeof(Elf64_Sym); i++) {
        const Elf64_Sym *s = (const Elf64_Sym *)(const void *)(image + table->sh_offset) + i;
        if (strcmp((const char *)image + strings->sh_offset + s->st_name, name) == 0)
            return (uint32_t)s->st_value;
    }
    return UINT32_MAX;
}
