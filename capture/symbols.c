/* Functions by address: see the header. Tables of dynamic symbols, which dladdr knows, lack a program's own functions, so
 * that the file's table of all symbols is read first, where it has not been stripped. Names of C++ are demangled by the
 * C++ library of the process; one without it has none to demangle. */
#include "symbols.h"

#include "elf_image.h"
#include "sim/utf8.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A function: what its file calls it, and where in it the code lies. */
struct place {
    char *name; /* allocated; NULL: not known */
    uint64_t offset;
};

/* The function in a table of symbols that has the code. */
static bool find_in_table(const struct pw_elf_image *m, const Elf64_Shdr *table, uint64_t code, struct place *out)
{
    const uint8_t *symbols = pw_elf_part(m, table->sh_offset, table->sh_size);
    Elf64_Shdr strings = table->sh_link < m->count ? pw_elf_section(m, table->sh_link) : (Elf64_Shdr){0};
    const char *names = (const char *)pw_elf_part(m, strings.sh_offset, strings.sh_size);
    for (uint64_t i = 0; symbols && names && i < table->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym s;
        memcpy(&s, symbols + i * sizeof s, sizeof s);
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || code < s.st_value || code - s.st_value >= s.st_size ||
            s.st_name >= strings.sh_size)
            continue;
        *out = (struct place){strndup(names + s.st_name, strings.sh_size - s.st_name), code - s.st_value};
        return out->name;
    }
    return false;
}

static bool find_in_image(const void *bytes, size_t size, uint64_t base, uint64_t code, struct place *out)
{
    struct pw_elf_image m;
    Elf64_Ehdr header;
    if (pw_elf_open(bytes, size, "a library", &m, NULL))
        return false;
    memcpy(&header, bytes, sizeof header);
    uint64_t address = header.e_type == ET_EXEC ? code : code - base;
    for (uint32_t i = 0; i < m.count; i++) {
        Elf64_Shdr s = pw_elf_section(&m, i);
        if (s.sh_type == SHT_SYMTAB && find_in_table(&m, &s, address, out))
            return true;
    }
    return false;
}

static bool find_in_file(const char *path, uint64_t base, uint64_t code, struct place *out)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool found = false;
    if (file >= 0 && fstat(file, &st) == 0 && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            found = find_in_image(bytes, (size_t)st.st_size, base, code, out);
            munmap(bytes, (size_t)st.st_size);
        }
    }
    if (file >= 0)
        close(file);
    return found;
}

/* Where the process has a C++ library; NULL: it has none, or the name is not one of C++. */
static char *demangle(const char *name)
{
    char *(*demangler)(const char *, char *, size_t *, int *) = NULL;
    void *library = strncmp(name, "_Z", 2) == 0 ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!library)
        return NULL;
    *(void **)&demangler = dlsym(library, "__cxa_demangle");
    char *result = demangler ? demangler(name, NULL, NULL, NULL) : NULL;
    dlclose(library);
    return result;
}

static void make_printable(char *text)
{
    for (char *at = text; *at;) {
        size_t length = pw_utf8_printable_length(at);
        if (!length)
            *at = '?';
        at += length ? length : 1;
    }
}

/* Cut at the function's end to leave room for the distance. */
static void write_place(char *file, char *name, uint64_t offset, char *out, size_t bytes)
{
    pw_capture_shorten_file(file);
    if (name)
        pw_capture_drop_namespaces(name);
    char distance[24];
    int distance_bytes = snprintf(distance, sizeof distance, "+0x%llx", (unsigned long long)offset);
    int room = (int)bytes - 1 - distance_bytes - (int)strlen(file) - 1;
    snprintf(out, bytes, "%s%s%.*s%s", file, name ? "!" : "", name && room > 0 ? room : 0, name ? name : "", distance);
    make_printable(out);
}

enum pw_capture_telling pw_capture_symbol(const void *code, char *out, size_t bytes)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(code, &info, (void **)&map, RTLD_DL_LINKMAP) || !info.dli_fname)
        return PW_TELLS_NOTHING;
    bool is_program = map && !*map->l_name;
    char program[4096], file[256];
    ssize_t length = is_program ? readlink("/proc/self/exe", program, sizeof program - 1) : -1;
    if (length > 0)
        program[length] = 0;
    const char *path = length > 0 ? program : info.dli_fname, *slash = strrchr(path, '/');
    snprintf(file, sizeof file, "%.*s", (int)sizeof file - 1, slash ? slash + 1 : path);
    if (pw_capture_telling(file, NULL) == PW_TELLS_NOTHING)
        return PW_TELLS_NOTHING;
    uint64_t base = (uint64_t)(uintptr_t)info.dli_fbase;
    struct place p = {NULL, (uint64_t)(uintptr_t)code - base};
    if (!find_in_file(is_program ? "/proc/self/exe" : path, base, (uint64_t)(uintptr_t)code, &p) && info.dli_sname)
        p = (struct place){strdup(info.dli_sname), (uint64_t)((uintptr_t)code - (uintptr_t)info.dli_saddr)};
    char *demangled = p.name ? demangle(p.name) : NULL;
    char *name = demangled ? demangled : p.name;
    if (name)
        pw_capture_cut(name);
    enum pw_capture_telling telling = pw_capture_telling(file, name);
    write_place(file, name, p.offset, out, bytes);
    free(demangled);
    free(p.name);
    return telling;
}
