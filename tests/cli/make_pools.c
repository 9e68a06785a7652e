/* make_pools FOLDER [DEVICE]: seven traces of programs as frameworks run them, FOLDER/NAME.pwt, for scripts/pools.
 *
 * A framework takes device memory in segments of 20 MiB and hands out parts of them, so it has more than its kernels
 * touch; some take most of it after their first launch, and one has no pool. The numbers are those of recordings of
 * real programs, as far as allocations, touched pages and launches go; the kernels only read one line and write another
 * of every page that is touched, launch after launch. */
#include "trace/trace_writer.h"

#include <stdio.h>

#define MIB 1048576.0
#define SEGMENT (UINT64_C(20) << 20)
#define POOL UINT64_C(0x7f0000000000)

enum { PAGE = 4096, PAGES_OF_A_WARP = 32, WARPS = 8 };

/* In MiB. What is allocated after the first launch is what the others touch. */
static const struct program {
    const char *name;
    double before, after, touched; /* allocated before the first launch and after it */
    unsigned launches;
} programs[] = {
    {"layer", 22, 0, 4, 4},         {"block", 22, 0, 14.3, 6},     {"late", 2.06, 321.94, 32.1, 6},
    {"inference", 178, 0, 43.8, 6}, {"training", 140, 0, 30.1, 8}, {"attention", 256, 0, 45.2, 6},
    {"no-pool", 9.3, 0, 9.3, 8},
};

static uint64_t pages_of(double mib)
{
    return (uint64_t)(mib * MIB / PAGE + 0.5);
}

static uint64_t allocate(struct pw_trace_writer *w, uint64_t at, double mib)
{
    uint64_t end = at + pages_of(mib) * PAGE;
    for (; at < end; at += SEGMENT) {
        const struct pw_trace_event event = {.kind = PW_TRACE_ALLOC,
                                             .memory = PW_TRACE_DEVICE,
                                             .address = at,
                                             .bytes = end - at < SEGMENT ? end - at : SEGMENT,
                                             .name = "segment"};
        pw_trace_write_event(w, &event);
    }
    return at;
}

/* Every page from `first` on, one after the other: a warp loads a line of each of its pages, and stores another. */
static void launch(struct pw_trace_writer *w, uint64_t first, uint64_t pages, unsigned number)
{
    uint64_t of_a_cta = (uint64_t)WARPS * PAGES_OF_A_WARP;
    uint32_t ctas = (uint32_t)((pages + of_a_cta - 1) / of_a_cta);
    const struct pw_trace_event event = {
        .kind = PW_TRACE_LAUNCH, .name = "kernel", .grid = {ctas, 1, 1}, .block = {32 * WARPS, 1, 1}};
    pw_trace_write_launch(w, &event);
    for (uint64_t page = 0; page < pages; page++) {
        uint64_t words[] = {first + page * PAGE + number % 16 * 128, 4};
        struct pw_op op = {.kind = PW_OP_LOAD,
                           .form = PW_FORM_AFFINE,
                           .bytes = 4,
                           .loads_in_flight = PW_ANY_IN_FLIGHT,
                           .count_or_mask = PW_ALL_LANES};
        uint32_t cta = (uint32_t)(page / of_a_cta), warp = (uint32_t)(page % of_a_cta / PAGES_OF_A_WARP);
        pw_trace_write_op(w, cta, warp, &op, words);
        op.kind = PW_OP_STORE;
        op.loads_in_flight = 0;
        words[0] += 2048;
        pw_trace_write_op(w, cta, warp, &op, words);
    }
}

static int write_program(const char *folder, const char *device, const struct program *p)
{
    char path[4096];
    struct pw_trace_writer *w;
    struct pw_error err;
    snprintf(path, sizeof path, "%s/%s.pwt", folder, p->name);
    if (pw_trace_writer_open(path, &w, &err) != PW_OK) {
        fprintf(stderr, "make_pools: %s\n", err.message);
        return 1;
    }
    pw_trace_writer_set_origin(w, &(struct pw_trace_origin){"make_pools", p->name, device, 1, 1});
    uint64_t next = allocate(w, POOL, p->before), pages = pages_of(p->touched), early = 0;
    uint64_t first = POOL + (pages_of(p->before) - pages) / 2 * PAGE; /* the middle of the pool */
    if (p->after > 0) {
        early = pages_of(p->before) / 2;
        launch(w, POOL, early, 0);
        first = (next + SEGMENT - 1) / SEGMENT * SEGMENT;
        allocate(w, first, p->after);
    }
    for (unsigned i = early > 0; i < p->launches; i++)
        launch(w, first, pages - early, i);
    if (pw_trace_writer_finish(w, NULL, &err) == PW_OK)
        return 0;
    fprintf(stderr, "make_pools: %s\n", err.message);
    return 1;
}

int main(int argc, char **argv)
{
    int failed = argc < 2 || argc > 3;
    if (failed)
        fprintf(stderr, "usage: make_pools FOLDER [DEVICE]\n");
    for (size_t i = 0; !failed && i < sizeof programs / sizeof *programs; i++)
        failed = write_program(argv[1], argc > 2 ? argv[2] : "", &programs[i]);
    return failed;
}
