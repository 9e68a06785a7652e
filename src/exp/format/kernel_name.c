/* Short and full names of kernels.
 *
 * A kernel is a function at the level of a namespace, so its mangled name begins with the names of namespaces, each
 * after its length, then its own, then template arguments if any: "_ZN2at6native13reduce_kernelILi512EEEvPf". The short
 * name needs no more than that beginning, whatever follows it and however long it is.
 *
 * The full name is the work of libstdc++. Of its two ways in, __cxa_demangle keeps its result in memory that grows, and
 * a name of 1,000 bytes can have one of 2^100, since a mangled name refers back to its parts. The other hands out
 * pieces and is left as soon as there are enough. It only exists in the static library. */
#include "exp/format/kernel_name.h"

#include "sim/utf8.h"

#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* In libstdc++.a (libiberty/cp-demangle.c): 0 when the name is a mangled one; gives up on names of over 1,024 bytes. */
int __gcclibcxx_demangle_callback(const char *mangled, void (*take)(const char *bytes, size_t length, void *context),
                                  void *context);

static const char ellipsis[] = "\xe2\x80\xa6";

/* What fits into the caller's bytes; `full` once something did not. */
struct name {
    char *bytes;
    size_t size, length;
    bool full;
};

/* Takes the last character off, all its bytes. */
static void drop_character(struct name *n)
{
    while (n->length > 0 && ((unsigned char)n->bytes[--n->length] & 0xc0) == 0x80)
        continue;
}

static void append(struct name *n, const char *bytes, size_t length)
{
    size_t room = n->size - 1 - n->length;
    n->full |= length > room;
    length = length < room ? length : room;
    memcpy(n->bytes + n->length, bytes, length);
    n->length += length;
}

/* Nothing that a terminal obeys; no character becomes longer. */
static void make_printable(struct name *n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n->length;) {
        size_t shown = pw_utf8_printable_length(n->bytes + i), taken = pw_utf8_length(n->bytes + i);
        if (shown)
            memmove(n->bytes + kept, n->bytes + i, shown);
        else
            n->bytes[kept] = '?';
        kept += shown ? shown : 1;
        i += taken ? taken : 1;
    }
    n->length = kept;
}

static void finish(struct name *n)
{
    n->bytes[n->length] = '\0';
    make_printable(n);
    if (n->full && n->size >= sizeof ellipsis) {
        while (n->length > n->size - sizeof ellipsis)
            drop_character(n);
        append(n, ellipsis, sizeof ellipsis - 1);
    }
    n->bytes[n->length] = '\0';
}

struct part {
    const char *start;
    size_t length;
};

/* A function and the namespaces before it: the last of them. */
struct function {
    struct part parts[3];
    size_t count;
    bool is_template;
};

static bool begins(struct part p, const char *with)
{
    return p.length >= strlen(with) && strncmp(p.start, with, strlen(with)) == 0;
}

/* GCC, Clang and nvcc name an unnamed namespace, and what is static in a file, each in their own way. */
static bool is_anonymous(struct part p)
{
    return begins(p, "_GLOBAL__N") || begins(p, "_INTERNAL_") || begins(p, "(anonymous") || begins(p, "<unnamed>") ||
           begins(p, "<anonymous") || begins(p, "{anonymous}");
}

static void add_part(struct function *f, struct part p)
{
    enum { MOST = sizeof f->parts / sizeof *f->parts };
    if (p.length == 0 || is_anonymous(p))
        return;
    if (f->count == MOST)
        memmove(f->parts, f->parts + 1, (--f->count) * sizeof *f->parts);
    f->parts[f->count++] = p;
}

/* "6native…", a length and so many bytes; moves `at` behind it. */
static bool read_part(const char **at, struct part *out)
{
    const char *s = *at;
    size_t length = 0, left = strlen(s);
    if (*s < '1' || *s > '9')
        return false;
    for (; *s >= '0' && *s <= '9' && length <= left; s++)
        length = length * 10 + (size_t)(*s - '0');
    if (length > strlen(s))
        return false;
    *out = (struct part){s, length};
    *at = s + length;
    return true;
}

/* The beginning of a mangled name up to the function's own name. */
static bool read_mangled(const char *s, struct function *f)
{
    struct part p, tag;
    if (strncmp(s, "_Z", 2) != 0)
        return false;
    s += 2;
    bool nested = *s == 'N';
    s += nested;
    if (strncmp(s, "St", 2) == 0) {
        add_part(f, (struct part){"std", 3});
        s += 2;
    }
    do {
        s += *s == 'L'; /* of this file alone */
        if (!read_part(&s, &p))
            return false;
        add_part(f, p);
        while (*s == 'B' && (s++, read_part(&s, &tag)))
            continue;
    } while (nested && *s != 'I' && *s != 'E');
    f->is_template = *s == 'I';
    return f->count > 0;
}

/* A name that was demangled before: "void at::native::(anonymous namespace)::f<(int)4, float>(int, float)". The
 * function is what stands before the parameters, and behind the blank after the return type; what stands in brackets of
 * any kind belongs to a name unless it is all of it. */
static bool read_demangled(const char *s, struct function *f)
{
    size_t depth = 0;
    struct part p = {s, 0};
    bool brackets = false;
    for (;; s++) {
        bool opens = *s && strchr("<({[", *s), closes = *s && strchr(">)}]", *s);
        bool ends = depth == 0 && (!*s || *s == ' ' || strncmp(s, "::", 2) == 0);
        bool parameters = depth == 0 && *s == '(' && s > p.start;
        if (ends || parameters) {
            if (!brackets)
                p.length = (size_t)(s - p.start);
            add_part(f, p);
            if (parameters || !*s)
                break;
            f->count = *s == ' ' ? 0 : f->count;
            f->is_template = brackets = false;
            s += *s == ':';
            p = (struct part){s + 1, 0};
            continue;
        }
        if (!*s || (closes && depth-- == 0))
            return false;
        if (opens && depth++ == 0 && s > p.start && *s == '<') {
            f->is_template = brackets = true;
            p.length = (size_t)(s - p.start);
        }
    }
    return f->count > 0 && !strchr("<({[", *f->parts[f->count - 1].start);
}

void pw_kernel_name_short(const char *mangled, char *out, size_t size)
{
    struct name n = {.bytes = out, .size = size};
    struct function f = {0};
    bool found = read_mangled(mangled, &f);
    if (!found) {
        f = (struct function){0};
        found = strpbrk(mangled, "<(") && read_demangled(mangled, &f);
    }
    if (!found)
        append(&n, mangled, strlen(mangled));
    for (size_t i = 0; found && i < f.count; i++) {
        append(&n, "::", i ? 2 : 0);
        append(&n, f.parts[i].start, f.parts[i].length);
    }
    if (found && f.is_template) {
        append(&n, "<", 1);
        append(&n, ellipsis, sizeof ellipsis - 1);
        append(&n, ">", 1);
    }
    finish(&n);
}

struct demangling {
    struct name name;
    jmp_buf enough;
};

static void take(const char *bytes, size_t length, void *context)
{
    struct demangling *d = context;
    append(&d->name, bytes, length);
    if (d->name.full)
        longjmp(d->enough, 1);
}

/* Whether there is a demangled name, or as much of one as is wanted. */
static bool demangle(const char *mangled, struct demangling *d)
{
    if (strncmp(mangled, "_Z", 2) != 0)
        return false;
    if (setjmp(d->enough) != 0)
        return true;
    return __gcclibcxx_demangle_callback(mangled, take, d) == 0;
}

void pw_kernel_name_full(const char *mangled, char *out, size_t size)
{
    struct demangling d = {.name = {.bytes = out, .size = size}};
    if (!demangle(mangled, &d)) {
        d.name.length = 0;
        append(&d.name, mangled, strlen(mangled));
    }
    finish(&d.name);
}
