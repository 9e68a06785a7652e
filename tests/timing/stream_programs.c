/* A stream that is given the operations of a program is the run of that program: the same cycles, and every metric.
 *
 * The program runs without time (workload/runtime/functional.h), and its operations are pushed to the slots in which a
 * run would put their warps: one CTA on each SM, in order. Launches take no time to begin in either. Only the numbers
 * of launches and CTAs differ, since a stream is one launch and each of its warps a CTA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "streams.h"
#include "workload/runtime/functional.h"

enum { ARRAYS = 8, SETS = 4 };

struct pushing {
    struct pw_stream *stream;
    uint64_t base[ARRAYS];
};

static void push(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    static const enum pw_stream_kind kinds[] = {[PW_OP_COMPUTE] = PW_STREAM_COMPUTE,
                                                [PW_OP_LOAD] = PW_STREAM_LOAD,
                                                [PW_OP_STORE] = PW_STREAM_STORE,
                                                [PW_OP_ATOMIC] = PW_STREAM_ATOMIC,
                                                [PW_OP_ATOMIC_RETURN] = PW_STREAM_ATOMIC_RETURN,
                                                [PW_OP_EXIT] = PW_STREAM_EXIT};
    const struct pushing *p = context;
    assert_int_not_equal(op->kind, PW_OP_BARRIER);
    struct pw_stream_operation pushed = {.kind = kinds[op->kind], .report = true};
    if (op->loads_in_flight != PW_ANY_IN_FLIGHT) {
        pushed.use = true;
        pushed.all_but = op->loads_in_flight;
    }
    if (op->kind == PW_OP_COMPUTE)
        pushed.instructions = op->count_or_mask;
    if (pw_op_is_access(*op)) {
        pushed.mask = op->count_or_mask;
        pushed.bytes = op->bytes;
        pushed.addresses = op->form == PW_FORM_LANES ? words : NULL;
        pushed.base = words[0];
        pushed.stride = op->form == PW_FORM_AFFINE ? (int64_t)words[1] : 0;
    }
    STREAM_OK(pw_stream_push(p->stream, (struct pw_stream_place){.sm = w->cta_index, .warp = w->index}, &pushed, err));
}

static enum pw_status allocated(void *context, uint32_t id, const char *name, pw_vaddr base, uint64_t bytes,
                                struct pw_error *err)
{
    struct pushing *p = context;
    uint64_t address = 0;
    assert_true(id < ARRAYS);
    enum pw_status status = pw_stream_allocate(p->stream, 0, bytes, name, &address, err);
    assert_int_equal(address, base.v);
    p->base[id] = address;
    return status;
}

static enum pw_status freed(void *context, uint32_t id, struct pw_error *err)
{
    const struct pushing *p = context;
    enum pw_status status = pw_stream_drain(p->stream, err);
    return status == PW_OK ? pw_stream_unmap(p->stream, 0, p->base[id], err) : status;
}

static enum pw_status launched(void *context, const struct pw_launch *launch, struct pw_error *err)
{
    (void)launch;
    return pw_stream_drain(((struct pushing *)context)->stream, err);
}

static struct pw_result *as_stream(const struct pw_run_spec *spec)
{
    struct pw_program program;
    struct pw_functional_counts counts;
    struct pw_result *result;
    struct pushing p = {.stream = stream_open((struct pw_stream_spec){.machine = spec->machine,
                                                                      .design = spec->design,
                                                                      .sets = spec->sets,
                                                                      .set_count = spec->set_count,
                                                                      .queue = 4096})};
    struct pw_functional_observer observer = {
        .context = &p, .visit = push, .allocated = allocated, .freed = freed, .launched = launched};
    STREAM_OK(pw_program_parse(spec->workload, &program, err));
    STREAM_OK(pw_functional_observe(&program, 1, false, &observer, &counts, err));
    STREAM_OK(pw_stream_drain(p.stream, err));
    struct pw_stream_completion done;
    uint64_t completions = 0;
    for (; pw_stream_next(p.stream, &done); completions++)
        assert_true(done.issued <= done.translated && done.translated <= done.completed);
    assert_int_equal(completions, counts.memory_instructions);
    STREAM_OK(pw_stream_finish(p.stream, &result, err));
    pw_stream_close(p.stream);
    pw_program_release(&program);
    return result;
}

static bool may_differ(const char *name)
{
    const char *at = strchr(name, '.');
    return !strcmp(at, ".sm.launches") || !strcmp(at, ".sm.ctas");
}

static void compare(const char *machine, const char *design, const char *workload)
{
    const char *sets[SETS] = {"gpu.launch_latency=0"};
    struct pw_run_spec spec = {
        .machine = machine, .design = design, .workload = workload, .sets = sets, .set_count = 1};
    struct pw_result *run;
    STREAM_OK(pw_run(&spec, &run, err));
    struct pw_result *stream = as_stream(&spec);
    if (run->cycles != stream->cycles)
        fail_msg("%s %s %s: %llu cycles, as a stream %llu", machine, design, workload, (unsigned long long)run->cycles,
                 (unsigned long long)stream->cycles);
    assert_int_equal(run->metric_count, stream->metric_count);
    for (size_t i = 0; i < run->metric_count; i++) {
        const struct pw_metric *a = &run->metrics[i], *b = &stream->metrics[i];
        assert_string_equal(a->name, b->name);
        if (!may_differ(a->name) && memcmp(&a->real, &b->real, sizeof a->real) != 0)
            fail_msg("%s %s %s: %s is %g, as a stream %g", machine, design, workload, a->name, a->real, b->real);
    }
    assert_true(run->apps[0].warp_instructions > 100);
    assert_int_equal(run->apps[0].warp_instructions, stream->apps[0].warp_instructions);
    pw_result_free(run);
    pw_result_free(stream);
}

static const char *const programs[] = {
    "pointer_chase:bytes=2MB:stride=4KB:hops=600", "vecadd:ctas=8:warps=4:iterations=9",
    "gather:ctas=12:warps=3:table=16MB:iterations=6", "alu:ctas=5:warps=2:iterations=50", "GUP:ctas=6:table=64KB"};

static void the_operations_of_a_program_take_as_long_in_a_stream(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        compare("mosaic", "gpu-mmu", programs[i]);
        compare("volta", "gpu-mmu", programs[i]);
    }
}

static void it_does_not_matter_what_the_design_is(void **state)
{
    (void)state;
    static const char *const designs[] = {"gpu-mmu-2m", "gpu-mmu-64k", "mosaic",   "mask",           "mosaic+mask",
                                          "compress",   "range-tlb",   "pwcache",  "ideal-tlb",      "ideal-l2-tlb",
                                          "uvm-nvidia", "uvm-tbn-tbn", "mask-tlb", "4k-pages+mosaic"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        compare("mosaic", designs[i], programs[2]);
        compare("pascal", designs[i], programs[1]);
    }
}

static void nor_does_it_with_several_gpus(void **state)
{
    (void)state;
    static const char *const designs[] = {"bypass", "centralized", "distributed", "route-ideal"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++)
        compare("mgpu4", designs[i], programs[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_operations_of_a_program_take_as_long_in_a_stream),
        cmocka_unit_test(it_does_not_matter_what_the_design_is),
        cmocka_unit_test(nor_does_it_with_several_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
