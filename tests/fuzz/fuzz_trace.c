/* Any bytes behind the checksums of a trace: as its blocks, a launch's table or its index, in a file whose seals are
 * right. Nothing may crash, a refusal is one line that begins with the file's name, and whatever is accepted keeps what
 * trace/trace.h promises.
 *
 * An input is lines of a letter and bytes in hexadecimal: `b` a block of a launch, `t` its table, `i` the index. What
 * is not given is made to fit: a table of the blocks, an index of the table. */
#include "fuzz.h"
#include "message.h"
#include "trace/format.h"
#include "trace/trace_internal.h"

#include <ctype.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_RAW = 4096, MOST_BLOCKS = 16, MOST_FILE = 1 << 17, CTAS = 40, WARPS = 3 };

struct input {
    struct pw_bytes_out blocks[MOST_BLOCKS], table, index;
    size_t block_count;
    bool has_table, has_index;
};

static void read_hex(struct pw_bytes_out *out, const char *text, const char *end)
{
    unsigned byte = 0, digits = 0;
    for (; text < end; text++) {
        if (!isxdigit((unsigned char)*text))
            continue;
        byte = byte << 4 | (unsigned)(isdigit((unsigned char)*text) ? *text - '0' : (*text | 32) - 'a' + 10);
        if (++digits % 2 == 0)
            pw_add_bytes(out, &(uint8_t){(uint8_t)byte}, 1);
    }
}

static void read_input(struct input *in, const char *at, const char *end)
{
    for (; at < end; at++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        if (*at == 'b' && in->block_count < MOST_BLOCKS) {
            read_hex(&in->blocks[in->block_count++], at + 1, line_end);
        } else if (*at == 't' && !in->has_table) {
            read_hex(&in->table, at + 1, line_end);
            in->has_table = true;
        } else if (*at == 'i' && !in->has_index) {
            read_hex(&in->index, at + 1, line_end);
            in->has_index = true;
        }
        at = line_end;
    }
}

/* A file that is being made. */
struct making {
    uint8_t bytes[MOST_FILE];
    size_t used;
    uint64_t checksum; /* of the launch's parts so far */
    struct pw_packer *packer;
};

static struct pw_part add_part(struct making *m, const struct pw_bytes_out *raw)
{
    static const uint8_t nothing;
    struct pw_part part;
    size_t bytes;
    bool empty = !raw->used;
    const uint8_t *packed =
        pw_pack(m->packer, m->used, empty ? &nothing : raw->bytes, empty ? 1 : raw->used, 1, &part, &bytes);
    require(packed && m->used + bytes <= MOST_FILE);
    memcpy(m->bytes + m->used, packed, bytes);
    m->used += bytes;
    m->checksum = pw_checksum_word(m->checksum, pw_load_bytes(packed, PW_PART_SEAL));
    return part;
}

/* CTAs that have a segment in a block, as far as it can be read, are in its pieces. */
static void add_ctas(struct pw_table *table, const struct pw_bytes_out *raw, uint32_t block)
{
    struct pw_segment *segments = calloc(raw->used + 1, sizeof *segments);
    uint32_t count = pw_directory_count(raw->bytes, raw->used);
    if (!pw_directory_read(raw->bytes, raw->used, CTAS, WARPS, count, segments))
        count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!i || segments[i].cta != segments[i - 1].cta)
            require(pw_table_add_cta(table, segments[i].cta, block));
    if (!count)
        require(pw_table_add_cta(table, block % CTAS, block));
    free(segments);
}

static void add_blocks(struct making *m, struct input *in)
{
    struct pw_table table = {0};
    for (uint32_t i = 0; i < in->block_count; i++) {
        struct pw_part part = add_part(m, &in->blocks[i]);
        require(pw_table_add_block(&table, &part));
        if (in->blocks[i].used)
            add_ctas(&table, &in->blocks[i], i);
    }
    if (!in->has_table)
        require(pw_table_sort(&table) && pw_table_write(&table, &in->table));
    pw_table_release(&table);
}

static void make_index(struct input *in, struct pw_part table, uint64_t checksum)
{
    struct pw_trace_event events[2] = {
        {.kind = PW_TRACE_ALLOC, .address = 1 << 20, .bytes = 1 << 20, .name = "array"},
        {.kind = PW_TRACE_LAUNCH, .name = "kernel", .grid = {CTAS, 1, 1}, .block = {32 * WARPS, 1, 1}}};
    struct pw_launch_place place = {.blocks = PW_TRACE_HEADER_BYTES, .table = table, .checksum = checksum, .event = 1};
    struct pw_index index = {.origin = {.recorder = "", .program = "", .device = "", .cta_sample = 1},
                             .events = events,
                             .launches = &place,
                             .event_count = 2,
                             .launch_count = 1};
    pw_index_write(&index, &in->index);
}

static void make_file(struct making *m, struct input *in)
{
    pw_trace_put_header(m->bytes);
    m->used = PW_TRACE_HEADER_BYTES;
    m->checksum = PW_CHECKSUM_START;
    bool launch = in->block_count || in->has_table || !in->has_index;
    if (launch) {
        add_blocks(m, in);
        struct pw_part table = add_part(m, &in->table);
        if (!in->has_index)
            make_index(in, table, m->checksum);
    }
    struct pw_part index = add_part(m, &in->index);
    pw_trace_put_trailer(m->bytes + m->used, &index);
    m->used += PW_TRACE_TRAILER_BYTES;
}

static void check_refusal(enum pw_status status, const struct pw_error *err)
{
    require_refusal(status, err);
    require(!strncmp(err->message, "f: ", 3));
}

static void check_warp(struct pw_trace_launch *l, uint32_t cta, uint32_t warp)
{
    struct pw_trace_cursor c;
    struct pw_op op;
    uint64_t words[PW_WARP_LANES];
    struct pw_error err = {0};
    enum pw_trace_step step;
    pw_trace_cursor_start(&c, l, cta, warp);
    bool exited = false;
    for (size_t ops = 0; (step = pw_trace_cursor_next(&c, &op, words, &err)) == PW_TRACE_STEP_OP; ops++) {
        require(pw_op_is_sound(&op) && !exited && ops < MOST_BLOCKS * MOST_RAW);
        exited = op.kind == PW_OP_EXIT;
    }
    if (step == PW_TRACE_STEP_FAILED)
        check_refusal(err.status, &err);
}

static void check_events(const struct pw_trace *t)
{
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    for (size_t i = 0; i < count; i++) {
        const struct pw_trace_event *e = &events[i];
        require(e->kind < PW_TRACE_EVENT_KIND_COUNT && e->name && pw_event_flags_are_known(e));
        if (e->kind == PW_TRACE_LAUNCH) {
            require(e->pace <= PW_TRACE_MOST_PACE);
            require(pw_recorded_ctas(e) && pw_recorded_warps(e) >= 1 && pw_recorded_warps(e) <= PW_CTA_WARPS);
            continue;
        }
        require(e->bytes && e->address < PW_TRACE_ADDRESS_END && e->bytes <= PW_TRACE_ADDRESS_END - e->address);
        bool alive = true;
        for (size_t k = i + 1; e->kind == PW_TRACE_ALLOC && k < count && alive; k++) {
            alive = events[k].kind != PW_TRACE_FREE || events[k].allocation != e->allocation;
            if (events[k].kind == PW_TRACE_ALLOC)
                require(events[k].address >= e->address + e->bytes ||
                        events[k].address + events[k].bytes <= e->address);
        }
    }
}

static void check_trace(struct pw_trace *t)
{
    struct pw_error err = {0};
    enum pw_status status = pw_trace_verify(t, &err);
    if (status != PW_OK)
        check_refusal(status, &err);
    check_events(t);
    for (uint32_t i = 0; i < pw_trace_launches(t); i++) {
        struct pw_trace_launch *l;
        status = pw_trace_launch_open(t, i, &l, &err);
        if (status != PW_OK) {
            check_refusal(status, &err);
            continue;
        }
        for (uint32_t cta = 0; cta < CTAS + 1; cta++)
            for (uint32_t warp = 0; warp < WARPS + 1; warp++)
                check_warp(l, cta, warp);
        pw_trace_launch_close(l);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {0};
    struct making *m = malloc(sizeof *m);
    require(m);
    m->packer = pw_packer_create();
    read_input(&in, (const char *)data, (const char *)data + (size < MOST_RAW ? size : MOST_RAW));
    make_file(m, &in);
    int file = memfd_create("trace", MFD_CLOEXEC);
    require(file >= 0 && write(file, m->bytes, m->used) == (ssize_t)m->used);
    struct pw_trace *t;
    struct pw_error err = {0};
    enum pw_status status = pw_trace_open_file(file, "f", &t, &err);
    if (status == PW_OK) {
        check_trace(t);
        pw_trace_close(t);
    } else {
        check_refusal(status, &err);
    }
    for (size_t i = 0; i < in.block_count; i++)
        pw_bytes_free(&in.blocks[i]);
    pw_bytes_free(&in.table);
    pw_bytes_free(&in.index);
    pw_packer_destroy(m->packer);
    free(m);
    return 0;
}
