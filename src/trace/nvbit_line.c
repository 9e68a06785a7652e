/* Reads lines of NVBit's mem_trace (nvbit_line.h). */
#include "trace/nvbit_line.h"

#include "trace/text_scan.h"

static const char *fail(struct pw_lines *t, struct pw_error *err, const char *what)
{
    pw_lines_refuse(t, err, "%s", what);
    return NULL;
}

/* The number behind a text. */
static const char *read_number(const char *at, const char *before, uint32_t *out)
{
    at = pw_scan_text(at, before);
    return at ? pw_scan_number(at, out) : NULL;
}

static const char *read_dim3(const char *at, const char *before, struct pw_dim3 *out)
{
    uint32_t v[3];
    at = pw_scan_text(at, before);
    at = at ? pw_scan_triple(at, v) : NULL;
    if (at)
        *out = (struct pw_dim3){v[0], v[1], v[2]};
    return at;
}

static const char *read_launch(struct pw_lines *t, const char *at, const char *newline, struct pw_nvbit_line *out,
                               struct pw_error *err)
{
    static const char before_name[] = "Kernel name ", after_name[] = " - grid launch id ";
    const char *name = memmem(at, (size_t)(newline - at), before_name, sizeof before_name - 1);
    const char *end = name ? memmem(name, (size_t)(newline - name), after_name, sizeof after_name - 1) : NULL;
    if (!end)
        return fail(t, err, "this launch has no `Kernel name` and `grid launch id`");
    name += sizeof before_name - 1;
    pw_import_copy_name(name, out->name);
    if ((size_t)(end - name) < strlen(out->name))
        out->name[end - name] = '\0';
    at = pw_scan_decimal(end + sizeof after_name - 1, &out->launch);
    if (!at)
        return fail(t, err, "the `grid launch id` is not a number");
    out->kind = PW_NVBIT_LAUNCH;
    out->grid = out->block = (struct pw_dim3){0};
    out->shared_bytes = out->registers = 0;
    if (*at == '\n' || *at == '\r')
        return at; /* older versions say no more */
    at = read_dim3(at, " - grid size ", &out->grid);
    at = at ? read_dim3(at, " - block size ", &out->block) : NULL;
    at = at ? read_number(at, " - nregs ", &out->registers) : NULL;
    at = at ? read_number(at, " - shmem ", &out->shared_bytes) : NULL;
    if (!at)
        return fail(t, err, "`grid size`, `block size`, `nregs` and `shmem` of this launch are not understood");
    return at;
}

static const char *read_addresses(struct pw_lines *t, const char *at, struct pw_nvbit_line *out, struct pw_error *err)
{
    uint32_t active = 0;
    uint64_t all = 0;
    out->mask = 0;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        uint64_t address;
        at = at ? pw_scan_hex(pw_scan_blanks(at), &address) : NULL;
        if (!at || !pw_scan_ends(*at))
            return fail(t, err, "an access has 32 hexadecimal addresses, one for each lane");
        if (!address)
            continue;
        out->mask |= 1U << lane;
        out->addresses[active++] = address;
        all |= address;
    }
    if (*pw_scan_blanks(at) != '\n')
        return fail(t, err, "an access has 32 hexadecimal addresses, one for each lane");
    if (all >> PW_TRACE_ADDRESS_BITS)
        return fail(t, err, "an address has more than 57 bits");
    return at;
}

static const char *read_access(struct pw_lines *t, const char *at, struct pw_sass_cache *names,
                               struct pw_nvbit_line *out, struct pw_error *err)
{
    at = pw_scan_decimal(at, &out->launch);
    at = at ? read_dim3(at, " - CTA ", &out->cta) : NULL;
    at = at ? read_number(at, " - warp ", &out->warp) : NULL;
    at = at ? pw_scan_text(at, " - ") : NULL;
    if (!at || out->warp >= PW_NVBIT_WARPS)
        return fail(t, err, "this is not `grid_launch_id N - CTA X,Y,Z - warp N - …` with a warp below 64");
    out->sass = pw_sass_find(names, at, &at);
    if (!out->sass || !(at = pw_scan_text(at, " - ")))
        return fail(t, err, "the access has no instruction and addresses");
    if (pw_sass_is_access(out->sass) && !out->sass->bytes)
        return fail(t, err, "a lane accesses at most 16 bytes");
    out->kind = PW_NVBIT_ACCESS;
    return read_addresses(t, at, out, err);
}

enum pw_status pw_nvbit_read_line(struct pw_lines *t, struct pw_sass_cache *names, struct pw_nvbit_line *out,
                                  bool *out_more, struct pw_error *err)
{
    static const char begin[] = "MEMTRACE: CTX ";
    const char *line;
    enum pw_status status = pw_lines_next(t, &line, err);
    *out_more = status == PW_OK && line;
    if (!*out_more)
        return status;
    out->kind = PW_NVBIT_OTHER;
    const char *newline = memchr(line, '\n', (size_t)(t->end - line));
    t->next = newline + 1;
    /* What the program has printed before may have no newline. */
    const char *at = memmem(line, (size_t)(newline - line), begin, sizeof begin - 1);
    uint64_t context;
    at = at ? pw_scan_hex(at + sizeof begin - 1, &context) : NULL;
    at = at ? pw_scan_text(at, " - ") : NULL;
    if (!at)
        return PW_OK;
    const char *value = pw_scan_text(at, "grid_launch_id ");
    if (value)
        at = read_access(t, value, names, out, err);
    else if (pw_scan_text(at, "LAUNCH - "))
        at = read_launch(t, at, newline, out, err);
    return at ? PW_OK : PW_USER_ERROR;
}
