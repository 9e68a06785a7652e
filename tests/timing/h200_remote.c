/* Accesses to host memory on a real H200 (data/hw/h200-remote.csv) against the machine of that name: the rows from
 * which its values were taken, each measured again on the simulated machine. */
#include "timed.h"

#include <math.h>
#include <stdio.h>

/* A value of the file, by the first two columns. */
static double measured(const char *kind, const char *parameter)
{
    FILE *file = fopen(PW_DATA "/hw/h200-remote.csv", "r");
    assert_non_null(file);
    char line[128], k[16], p[64];
    double value, found = 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%15[^,],%63[^,],%lf", k, p, &value) == 3 && !strcmp(k, kind) && !strcmp(p, parameter))
            found = value;
    fclose(file);
    assert_true(found > 0);
    return found;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (fabs(value - expected) > tolerance * expected)
        fail_msg("%.4f is not within %g of %.4f", value, tolerance, expected);
}

static struct timed h200(void)
{
    return (struct timed){
        .machine = "h200",
        .sets = {"paging.mode=demand", "uvm.advice=a:accessed-by", "page.size=2MB", "gpu.launch_latency=0"}};
}

static double option(const char *name)
{
    struct timed t = h200();
    struct pw_option_view view;
    timed_configure(&t);
    pw_options_view(t.options, (size_t)pw_options_find(t.options, name), &view);
    double value = strtod(view.value, NULL);
    pw_options_destroy(t.options);
    return value;
}

static void values_are_those_of_the_file(void **state)
{
    (void)state;
    assert_near(option("link.remote_rate"), measured("read", "warps=4224 lane_stride=4"), 0.001);
    assert_near(option("link.remote_transfers"), measured("read", "warps=4224 lane_stride=128"), 0.001);
}

/* n[0] lines one after the other, a page of 4 KiB apart. */
static void chain(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_fetch(w, t, i * PW_PAGE_BYTES);
}

static void a_dependent_read_takes_as_long(void **state)
{
    (void)state;
    struct timed t = h200();
    t.kernel = chain;
    t.n[0] = 20;
    pw_cycle few = timed_cycles(t);
    t.n[0] = 120;
    assert_near((double)(timed_cycles(t) - few) / 100, measured("latency", "footprint=64KiB"), 0.005);
}

/* Every warp reads its own part of the array; n[1] bytes lie between lanes. */
static void sweep(struct pw_warp *w, struct timed *t)
{
    uint64_t part = w->cta_index * (t->bytes / w->launch->grid.x);
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_load_lanes(w, t, part + i * 32 * t->n[1], 32, (int64_t)t->n[1]);
    pw_use(w);
}

/* Bytes over the link in a second, in 10^9, of 1,056 warps with lanes so far apart. */
static double rate(uint64_t stride, uint64_t *out_reads)
{
    struct timed t = h200();
    t.kernel = sweep;
    t.ctas = 1056;
    t.n[0] = 512 / stride;
    t.n[1] = stride;
    t.bytes = (uint64_t)t.ctas * t.n[0] * 32 * stride;
    pw_cycle cycles = timed_run(&t);
    uint64_t bytes = timed_count(&t, "uvm.remote_bytes");
    *out_reads = timed_count(&t, "uvm.remote_reads");
    timed_end(&t);
    return (double)bytes * 1980 / 1000 / (double)cycles;
}

/* The rest of the machine does not keep the link from it. The ends of a run take their time, a few percent. */
static void the_machine_reaches_what_the_gpu_reached(void **state)
{
    (void)state;
    uint64_t reads;
    assert_near(rate(4, &reads), measured("read", "warps=4224 lane_stride=4"), 0.05);
    double sectors = rate(128, &reads) * 1000 / 32;
    assert_near(sectors, measured("read", "warps=4224 lane_stride=128"), 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_file),
        cmocka_unit_test(a_dependent_read_takes_as_long),
        cmocka_unit_test(the_machine_reaches_what_the_gpu_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
