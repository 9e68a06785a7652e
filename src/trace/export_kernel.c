/* Operations become instructions (export_kernel.h), of names that Accel-Sim knows on sm_70.
 *
 * A trace of ours has neither opcodes nor registers. A memory access becomes LDG, STG, ATOMG or RED of its width, with
 * its lanes and addresses; so many instructions of computation become an IADD3, by which an import of the trace finds
 * where an operation begins, and FFMA that depend on nothing, round and round four registers. First uses are kept as
 * registers: each load fills one that no load in flight has, and an operation that waits for all loads but the youngest
 * has the register of the youngest that it waits for among its sources (the fourth of an access, as the first ones
 * count for two or four registers there). 247 registers are for loads. Where more are asked for at one time, a load has
 * RZ, and the operation that should wait for it waits for the next younger load that has a register, or the next older
 * one if there is none.
 *
 * Program counters go round in 4 KiB, as those of a loop do, so that an instruction cache finds them again. A warp that
 * ends without an exit gets one, since Accel-Sim expects an instruction from each warp. */
#include "trace/export_kernel.h"

#include "trace/format.h"

#include <string.h>

enum {
    LOADS = 256,        /* whose registers are remembered, more than can be asked for */
    FIRST_REGISTER = 8, /* of those that loads fill; below: addresses, data and results of computation */
    RESULTS = 4,        /* and the three after it */
    RZ = 255,           /* no register */
    CODE_INSTRUCTIONS = 256,
    INSTRUCTION_BYTES = 16,
    REPORT_INSTRUCTIONS = 1 << 16,
    COUNT_OPERATIONS = 1 << 20, /* before they are written; between two calls of the watch */
};

struct kernel {
    const char *path;
    struct pw_export_text *out;
    struct pw_export_progress *progress;
    uint32_t lanes; /* of the warp */
    uint32_t instruction;
    uint64_t issued, completed; /* loads of the warp; the first so many are waited for */
    uint64_t filled_by[RZ];     /* number of the load, from 1, that fills a register; 0: none */
    uint8_t register_of[LOADS]; /* of a load, by its number modulo LOADS */
    uint32_t next;              /* register to try first */
    uint32_t waits;             /* the register that the next instruction takes; RZ: none */
};

static void begin_warp(struct kernel *k, uint32_t lanes)
{
    k->lanes = lanes;
    k->instruction = 0;
    k->issued = k->completed = 0;
    memset(k->filled_by, 0, sizeof k->filled_by);
    k->next = FIRST_REGISTER;
    k->waits = RZ;
}

/* The first of `width` registers side by side that no load in flight fills; RZ: there are none. */
static uint32_t find_registers(struct kernel *k, uint32_t width)
{
    uint32_t at = (k->next + width - 1) / width * width;
    for (uint32_t tried = 0; tried < RZ; tried += width, at += width) {
        if (at + width > RZ)
            at = FIRST_REGISTER;
        bool busy = false;
        for (uint32_t i = 0; i < width; i++)
            busy |= k->filled_by[at + i] > k->completed;
        if (!busy)
            return at;
    }
    return RZ;
}

/* The destination of the next load. */
static uint32_t fill(struct kernel *k, uint32_t bytes)
{
    uint32_t width = bytes > 4 ? bytes / 4 : 1, first = find_registers(k, width);
    k->issued++;
    k->register_of[k->issued % LOADS] = (uint8_t)first;
    for (uint32_t i = 0; first != RZ && i < width; i++)
        k->filled_by[first + i] = k->issued;
    if (first != RZ)
        k->next = first + width;
    return first;
}

/* The load that is waited for by its register, in place of one that may have none; 0: none can be. */
static uint64_t find_load(const struct kernel *k, uint64_t wanted)
{
    uint64_t oldest = k->issued > LOADS ? k->issued - LOADS : 0;
    for (uint64_t load = wanted; load <= k->issued; load++)
        if (k->register_of[load % LOADS] != RZ)
            return load;
    for (uint64_t load = wanted; load-- > k->completed + 1 && load > oldest;)
        if (k->register_of[load % LOADS] != RZ)
            return load;
    return 0;
}

/* Before the first instruction of an operation. What an operation without any waits for, the next one waits for. */
static void wait_for(struct kernel *k, uint32_t in_flight)
{
    if (in_flight == PW_ANY_IN_FLIGHT || k->issued < in_flight || k->issued - in_flight <= k->completed)
        return;
    uint64_t load = find_load(k, k->issued - in_flight);
    if (!load)
        return;
    k->waits = k->register_of[load % LOADS];
    k->completed = load;
}

static void begin_instruction(struct kernel *k, uint32_t mask)
{
    pw_export_hex(k->out, k->instruction++ % CODE_INSTRUCTIONS * INSTRUCTION_BYTES, 4);
    pw_export_hex(k->out, mask, 8);
}

static void add_register(struct kernel *k, uint32_t number)
{
    pw_export_add(k->out, "R");
    pw_export_decimal(k->out, number);
}

static void write_plain(struct kernel *k, const char *name)
{
    begin_instruction(k, k->lanes);
    pw_export_add(k->out, name);
    pw_export_add(k->out, k->waits == RZ ? "0 " : "1 ");
    if (k->waits != RZ)
        add_register(k, k->waits);
    k->waits = RZ;
    pw_export_add(k->out, "0 0\n");
}

static void write_compute(struct kernel *k, uint32_t turn)
{
    begin_instruction(k, k->lanes);
    pw_export_add(k->out, "1 ");
    add_register(k, RESULTS + turn % 4);
    pw_export_add(k->out, turn ? "FFMA 3 " : "IADD3 3 ");
    add_register(k, k->waits == RZ ? 0 : k->waits);
    pw_export_add(k->out, "R0 R1 0 0\n");
    k->waits = RZ;
}

static const char *suffix(uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return ".U8";
    case 2:
        return ".U16";
    case 8:
        return ".64";
    case 16:
        return ".128";
    default:
        return "";
    }
}

static void write_addresses(struct kernel *k, const struct pw_op *op, const uint64_t *words)
{
    uint32_t mask = op->count_or_mask, count = 0, run = mask >> __builtin_ctz(mask);
    uint64_t address[PW_WARP_LANES] = {0};
    for (uint32_t left = mask; left; left &= left - 1, count++)
        address[count] =
            op->form == PW_FORM_AFFINE ? words[0] + (uint32_t)__builtin_ctz(left) * words[1] : words[count];
    int64_t stride = count > 1 ? (int64_t)(address[1] - address[0]) : 0;
    bool even = !(run & (run + 1)) && stride == (int32_t)stride;
    for (uint32_t i = 2; i < count; i++)
        even &= (int64_t)(address[i] - address[i - 1]) == stride;
    pw_export_decimal(k->out, op->bytes);
    pw_export_add(k->out, even ? "1 0x" : "2 0x");
    pw_export_hex(k->out, address[0], 1);
    if (even)
        pw_export_decimal(k->out, stride);
    for (uint32_t i = 1; !even && i < count; i++)
        pw_export_decimal(k->out, (int64_t)(address[i] - address[i - 1]));
    pw_export_add(k->out, "0\n");
}

static void write_access(struct kernel *k, const struct pw_op *op, const uint64_t *words)
{
    static const char *const names[] = {[PW_OP_LOAD] = "LDG.E",
                                        [PW_OP_STORE] = "STG.E",
                                        [PW_OP_ATOMIC] = "RED.E.ADD",
                                        [PW_OP_ATOMIC_RETURN] = "ATOMG.E.ADD"};
    bool returns = op->kind == PW_OP_LOAD || op->kind == PW_OP_ATOMIC_RETURN;
    begin_instruction(k, op->count_or_mask);
    pw_export_add(k->out, returns ? "1 " : "0 ");
    if (returns) {
        uint32_t to = fill(k, op->bytes);
        add_register(k, to == RZ && op->kind == PW_OP_ATOMIC_RETURN ? FIRST_REGISTER : to);
    }
    pw_export_add(k->out, names[op->kind]);
    pw_export_add(k->out, suffix(op->bytes));
    pw_export_add(k->out, op->kind >= PW_OP_ATOMIC ? ".STRONG.GPU " : " ");
    if (k->waits != RZ) {
        pw_export_add(k->out, "4 R2 R4 R4 ");
        add_register(k, k->waits);
    } else {
        pw_export_add(k->out, op->kind == PW_OP_LOAD ? "1 R2 " : "2 R2 R4 ");
    }
    k->waits = RZ;
    write_addresses(k, op, words);
}

static enum pw_status ask_watch(const struct pw_export_progress *p, struct pw_error *err)
{
    if (p->watch && p->watch->progress && p->watch->progress(p->watch->context, p->done, p->all))
        return pw_fail(err, PW_INTERRUPTED, "interrupted");
    return PW_OK;
}

/* So many instructions more. */
static enum pw_status report(struct kernel *k, uint64_t instructions, struct pw_error *err)
{
    struct pw_export_progress *p = k->progress;
    p->done += instructions;
    if (p->done - p->reported < REPORT_INSTRUCTIONS)
        return PW_OK;
    p->reported = p->done;
    enum pw_status status = ask_watch(p, err);
    return status == PW_OK ? pw_export_status(k->out, err) : status;
}

static enum pw_status write_op(struct kernel *k, const struct pw_op *op, const uint64_t *words, struct pw_error *err)
{
    wait_for(k, op->loads_in_flight);
    if (op->kind == PW_OP_COMPUTE) {
        enum pw_status status = PW_OK;
        for (uint32_t i = 0; i < op->count_or_mask && status == PW_OK; i++) {
            write_compute(k, i);
            status = report(k, 1, err);
        }
        return status;
    }
    if (pw_op_is_access(*op))
        write_access(k, op, words);
    else
        write_plain(k, op->kind == PW_OP_BARRIER ? "0 BAR.SYNC " : "0 EXIT ");
    return report(k, 1, err);
}

/* Instructions of a warp, with its exit. */
static enum pw_status count_warp(const struct kernel *k, struct pw_trace_launch *l, uint32_t cta, uint32_t warp,
                                 uint64_t *out, struct pw_error *err)
{
    struct pw_trace_cursor cursor;
    struct pw_op op = {.kind = PW_OP_KIND_COUNT};
    uint64_t words[PW_WARP_LANES];
    enum pw_trace_step step = PW_TRACE_STEP_OP;
    enum pw_status status = PW_OK;
    *out = 0;
    pw_trace_cursor_start(&cursor, l, cta, warp);
    for (uint64_t i = 1; status == PW_OK; i++) {
        step = pw_trace_cursor_next(&cursor, &op, words, err);
        if (step != PW_TRACE_STEP_OP)
            break;
        *out += pw_op_instructions(op);
        if (i % COUNT_OPERATIONS == 0)
            status = ask_watch(k->progress, err);
    }
    *out += op.kind != PW_OP_EXIT;
    if (status == PW_OK && *out > INT32_MAX)
        return pw_fail(err, PW_USER_ERROR, "%s: CTA %u, warp %u has %llu instructions, more than Accel-Sim can count",
                       k->path, cta, warp, (unsigned long long)*out);
    return step == PW_TRACE_STEP_FAILED ? err->status : status;
}

static enum pw_status write_warp(struct kernel *k, struct pw_trace_launch *l, uint32_t cta, uint32_t warp,
                                 struct pw_error *err)
{
    struct pw_trace_cursor cursor;
    struct pw_op op = {.kind = PW_OP_KIND_COUNT};
    uint64_t words[PW_WARP_LANES] = {0}, count;
    enum pw_trace_step step = PW_TRACE_STEP_OP;
    enum pw_status status = count_warp(k, l, cta, warp, &count, err);
    if (status != PW_OK)
        return status;
    pw_export_print(k->out, "\nwarp = %u\ninsts = %llu\n", warp, (unsigned long long)count);
    pw_trace_cursor_start(&cursor, l, cta, warp);
    while (status == PW_OK && (step = pw_trace_cursor_next(&cursor, &op, words, err)) == PW_TRACE_STEP_OP)
        status = write_op(k, &op, words, err);
    if (status == PW_OK && step == PW_TRACE_STEP_FAILED)
        return err->status;
    const struct pw_op leave = {.kind = PW_OP_EXIT, .loads_in_flight = PW_ANY_IN_FLIGHT};
    return status == PW_OK && op.kind != PW_OP_EXIT ? write_op(k, &leave, words, err) : status;
}

static void write_head(struct kernel *k, const struct pw_trace_event *e)
{
    pw_export_print(k->out, "-kernel name = %.900s\n", e->name);
    pw_export_print(k->out,
                    "-kernel id = %u\n-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n-shmem = %u\n-nregs = %u\n",
                    e->allocation + 1, e->grid.x, e->grid.y, e->grid.z, e->block.x, e->block.y, e->block.z,
                    e->shared_bytes, e->registers);
    pw_export_add(k->out, "-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x0000000000000000\n"
                          "-local mem base_addr = 0x0000000000000000\n-accelsim tracer version = 5\n"
                          "-enable lineinfo = 0\n-pagewalk operations = 1\n");
    if (e->pace)
        pw_export_print(k->out, "-pagewalk pace = %u\n", e->pace);
    if (e->sampled_of)
        pw_export_print(k->out, "-pagewalk sampled of = 0x%llx\n", (unsigned long long)e->sampled_of);
    pw_export_add(k->out, "\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
                          "mem_width [adrrescompress?] [mem_addresses] immediate\n");
}

enum pw_status pw_export_kernel(struct pw_trace *t, const struct pw_trace_event *launch, struct pw_export_text *out,
                                struct pw_export_progress *progress, struct pw_error *err)
{
    struct kernel k = {.path = pw_trace_path(t), .out = out, .progress = progress};
    struct pw_trace_launch *l;
    const struct pw_dim3 *grid = &launch->grid;
    uint32_t threads = launch->block.x * launch->block.y * launch->block.z;
    uint32_t ctas = grid->x * grid->y * grid->z;
    enum pw_status status = pw_trace_launch_open(t, launch->allocation, &l, err);
    if (status != PW_OK)
        return status;
    write_head(&k, launch);
    for (uint32_t cta = 0; cta < ctas && status == PW_OK; cta++) {
        pw_export_print(out, "\n#BEGIN_TB\n\nthread block = %u,%u,%u\n", cta % grid->x, cta / grid->x % grid->y,
                        cta / grid->x / grid->y);
        for (uint32_t warp = 0; PW_WARP_LANES * warp < threads && status == PW_OK; warp++) {
            uint32_t left = threads - PW_WARP_LANES * warp;
            begin_warp(&k, left >= PW_WARP_LANES ? PW_ALL_LANES : (1U << left) - 1);
            status = write_warp(&k, l, cta, warp, err);
        }
        pw_export_add(out, "\n#END_TB\n");
    }
    pw_trace_launch_close(l);
    return status == PW_OK ? pw_export_status(out, err) : status;
}
