/* Instructions become operations (warp_ops.h). */
#include "trace/warp_ops.h"

void pw_warp_ops_init(struct pw_warp_ops *o, struct pw_trace_writer *out)
{
    *o = (struct pw_warp_ops){.out = out};
}

void pw_warp_ops_begin(struct pw_warp_ops *o, uint32_t cta, uint32_t warp, uint32_t lanes)
{
    o->cta = cta;
    o->warp = warp;
    o->live = lanes;
    o->any = o->exit_held = false;
    o->in_flight = PW_ANY_IN_FLIGHT;
    o->run = o->arrived = 0;
    o->completed = o->issued; /* what warps before it have loaded is no load of this one */
    o->committed = 0;
}

static void write_op(struct pw_warp_ops *o, struct pw_op op, const uint64_t *words)
{
    op.loads_in_flight = o->in_flight;
    o->in_flight = PW_ANY_IN_FLIGHT;
    if (!pw_trace_write_op(o->out, o->cta, o->warp, &op, words))
        o->failed = true;
}

static void flush(struct pw_warp_ops *o)
{
    if (!o->run)
        return;
    write_op(o, (struct pw_op){.kind = PW_OP_COMPUTE, .count_or_mask = o->run}, NULL);
    o->run = 0;
}

/* Before an instruction that is an operation of its own. */
static void begin_op(struct pw_warp_ops *o)
{
    o->run += o->exit_held;
    o->exit_held = false;
    o->any = true;
    flush(o);
}

void pw_warp_ops_cut(struct pw_warp_ops *o)
{
    begin_op(o);
}

void pw_warp_ops_end(struct pw_warp_ops *o)
{
    if (!o->any)
        return;
    flush(o);
    write_op(o, (struct pw_op){.kind = PW_OP_EXIT}, NULL);
}

void pw_warp_ops_wait(struct pw_warp_ops *o, uint64_t loads)
{
    if (loads <= o->completed)
        return;
    begin_op(o);
    o->completed = loads;
    uint64_t younger = o->issued - loads;
    if (younger < o->in_flight)
        o->in_flight = (uint8_t)younger;
    else if (o->in_flight == PW_ANY_IN_FLIGHT)
        o->in_flight = PW_ANY_IN_FLIGHT - 1;
}

static struct pw_op access_op(struct pw_warp_ops *o, const struct pw_sass *s, bool result, uint32_t mask,
                              enum pw_op_form form)
{
    enum pw_op_kind kind = s->kind == PW_SASS_STORE    ? PW_OP_STORE
                           : s->kind != PW_SASS_ATOMIC ? PW_OP_LOAD
                           : result                    ? PW_OP_ATOMIC_RETURN
                                                       : PW_OP_ATOMIC;
    o->issued += kind == PW_OP_LOAD || kind == PW_OP_ATOMIC_RETURN;
    return (struct pw_op){.kind = (uint8_t)kind, .form = (uint8_t)form, .bytes = s->bytes, .count_or_mask = mask};
}

void pw_warp_ops_affine(struct pw_warp_ops *o, const struct pw_sass *s, bool result, uint32_t mask, uint64_t base,
                        int64_t stride)
{
    begin_op(o);
    write_op(o, access_op(o, s, result, mask, PW_FORM_AFFINE), (uint64_t[]){base, (uint64_t)stride});
}

static bool is_run(uint32_t mask)
{
    return !(mask & (mask + 1));
}

/* Whether the stride makes all addresses of lanes side by side; without a branch for each. */
static bool run_fits(const uint64_t *addresses, uint32_t count, uint64_t stride)
{
    uint64_t other = 0;
    for (uint32_t i = 1; i < count; i++)
        other |= addresses[i] - addresses[i - 1] - stride;
    return !other;
}

static bool lanes_fit(uint32_t mask, const uint64_t *addresses, uint64_t stride)
{
    uint32_t at = 0;
    for (uint32_t left = mask; left; left &= left - 1, at++)
        if (addresses[at] != addresses[0] + (uint32_t)__builtin_ctz(left) * stride)
            return false;
    return true;
}

/* Whether one stride makes all addresses. One lane alone has stride 0. */
static bool find_stride(uint32_t mask, const uint64_t *addresses, int64_t *out)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask), count = pw_lane_count(mask);
    *out = 0;
    if (count == 1)
        return true;
    uint32_t second = (uint32_t)__builtin_ctz(mask & (mask - 1));
    int64_t stride = (int64_t)(addresses[1] - addresses[0]);
    if (second - first > 1) {
        if (stride % (int64_t)(second - first))
            return false;
        stride /= (int64_t)(second - first);
    }
    *out = stride;
    if (addresses[count - 1] != addresses[0] + (uint64_t)(31 - __builtin_clz(mask) - (int)first) * (uint64_t)stride)
        return false;
    return is_run(mask >> first) ? run_fits(addresses, count, (uint64_t)stride)
                                 : lanes_fit(mask >> first, addresses, (uint64_t)stride);
}

void pw_warp_ops_access(struct pw_warp_ops *o, const struct pw_sass *s, bool result, uint32_t mask,
                        const uint64_t *addresses)
{
    int64_t stride;
    if (find_stride(mask, addresses, &stride)) {
        uint64_t base = addresses[0] - (uint64_t)__builtin_ctz(mask) * (uint64_t)stride;
        pw_warp_ops_affine(o, s, result, mask, base, stride);
        return;
    }
    begin_op(o);
    write_op(o, access_op(o, s, result, mask, PW_FORM_LANES), addresses);
}

void pw_warp_ops_commit(struct pw_warp_ops *o)
{
    pw_warp_ops_count(o);
    o->group[o->committed++ % PW_WARP_COPY_GROUPS] = o->issued;
}

void pw_warp_ops_wait_copies(struct pw_warp_ops *o, uint64_t groups_in_flight)
{
    if (groups_in_flight < o->committed && groups_in_flight < PW_WARP_COPY_GROUPS)
        pw_warp_ops_wait(o, o->group[(o->committed - 1 - groups_in_flight) % PW_WARP_COPY_GROUPS]);
    pw_warp_ops_count(o);
}

void pw_warp_ops_barrier(struct pw_warp_ops *o, uint32_t mask)
{
    if (!o->whole_warps) {
        o->arrived = (o->arrived & mask) ? mask : o->arrived | mask;
        if (o->live & ~o->arrived) {
            pw_warp_ops_count(o);
            return;
        }
    }
    o->arrived = 0;
    begin_op(o);
    write_op(o, (struct pw_op){.kind = PW_OP_BARRIER}, NULL);
}

void pw_warp_ops_exit(struct pw_warp_ops *o, uint32_t mask)
{
    o->run += o->exit_held;
    o->exit_held = o->any = true;
    o->live &= ~mask;
}
