/* The host program: suspension inside backend calls, and errors that end it without leaving anything behind (leaks
 * show under AddressSanitizer). */
#include "workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A backend that suspends in launches as often as told, and fails where told. */
struct fake {
    struct pw_host *host;
    unsigned allocs, frees, launches, suspensions;
    unsigned fail_alloc, fail_launch, fail_free; /* the how-manieth fails; 0: none */
    unsigned resolved_at_launch;
    uint64_t freed_bytes;
    uint64_t issued, of_launch; /* warp instructions: in all, and added by each launch */
};

static unsigned steps, resolved; /* what the programs below have reached; reset by each test */
static uint64_t drawn;

static enum pw_status fake_alloc(void *backend, uint32_t id, const char *name, uint64_t bytes, pw_vaddr *out,
                                 struct pw_error *err)
{
    (void)name;
    struct fake *f = backend;
    assert_int_equal(id, f->allocs);
    if (++f->allocs == f->fail_alloc)
        return pw_fail(err, PW_FAILED, "no room for %llu bytes", (unsigned long long)bytes);
    out->v = 0x10000U * f->allocs;
    return PW_OK;
}

static enum pw_status fake_free(void *backend, uint32_t id, pw_vaddr base, uint64_t bytes, struct pw_error *err)
{
    struct fake *f = backend;
    assert_int_equal(base.v, 0x10000U * (id + 1));
    f->freed_bytes += bytes;
    if (++f->frees == f->fail_free)
        return pw_fail(err, PW_FAILED, "cannot free");
    return PW_OK;
}

static enum pw_status fake_launch(void *backend, const struct pw_launch *launch, struct pw_error *err)
{
    (void)launch;
    struct fake *f = backend;
    f->resolved_at_launch = resolved;
    if (++f->launches == f->fail_launch)
        return pw_fail(err, PW_USER_ERROR, "cannot launch");
    f->issued += f->of_launch;
    for (unsigned i = 0; i < f->suspensions; i++)
        pw_host_suspend(f->host);
    return PW_OK;
}

static uint64_t fake_issued(void *backend)
{
    return ((const struct fake *)backend)->issued;
}

static const struct pw_backend fake_backend = {
    .alloc = fake_alloc, .free = fake_free, .launch = fake_launch, .issued = fake_issued};

static void start(struct fake *f, const struct pw_program *program, uint64_t seed, unsigned instance)
{
    steps = resolved = 0;
    struct pw_error err;
    assert_int_equal(pw_host_create(program, seed, instance, true, &fake_backend, f, &f->host, &err), PW_OK);
}

static void resolve(void *state)
{
    *(unsigned *)state += 1;
}

static void ordinary_program(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    pw_host_plan(h, 2);
    struct pw_array a = pw_alloc(h, "a", 100, 8), b = pw_alloc(h, "b", 50, 4);
    unsigned char *kept = pw_host_keep(h, 1000);
    assert_int_equal((uintptr_t)kept % 16, 0);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(kept[i], 0);
    if (pw_host_values(h))
        for (size_t i = 0; i < 100; i++)
            assert_int_equal(((uint64_t *)a.data)[i], 0);
    drawn = pw_random_next(pw_host_random(h));
    steps++;
    struct pw_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .resolve = resolve, .resolve_state = &resolved};
    pw_launch(h, &launch);
    steps++;
    pw_free(h, &b);
    assert_null(b.data);
    launch.resolve = NULL;
    pw_launch(h, &launch);
    memset(kept, 1, 1000);
    steps++;
}

static void launches_suspend_the_program_and_resume_it_where_it_was(void **state)
{
    (void)state;
    TEST_PROGRAM(program, ordinary_program);
    struct fake f = {.suspensions = 3};
    start(&f, &program, 1, 0);
    for (int i = 0; i < 6; i++) {
        assert_false(pw_host_resume(f.host));
        assert_int_equal(steps, i < 3 ? 1 : 2);
        assert_int_equal(f.launches, i < 3 ? 1 : 2);
        assert_int_equal(f.resolved_at_launch, 1);
    }
    assert_true(pw_host_resume(f.host));
    assert_true(pw_host_resume(f.host));
    assert_int_equal(steps, 3);
    assert_int_equal(pw_host_planned(f.host), 2);
    assert_int_equal(f.freed_bytes, 200);
    struct pw_error err;
    assert_int_equal(pw_host_outcome(f.host, &err), PW_OK);
    pw_host_destroy(f.host);
}

static void expect_failure(struct fake f, void (*body)(struct pw_host *, const void *), enum pw_status status,
                           const char *message, unsigned steps_done)
{
    TEST_PROGRAM(program, body);
    start(&f, &program, 1, 0);
    while (!pw_host_resume(f.host))
        ;
    struct pw_error err = {0};
    assert_int_equal(pw_host_outcome(f.host, &err), status);
    assert_string_equal(err.message, message);
    assert_int_equal(steps, steps_done);
    pw_host_destroy(f.host);
}

static void fail_at_depth(struct pw_host *h, int depth)
{
    if (depth < 0)
        return;
    if (!depth)
        pw_host_fail(h, "size %d does not divide", 7);
    fail_at_depth(h, depth - 1);
    steps++;
}

static void failing_program(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    pw_alloc(h, "a", 1000, 8);
    pw_host_keep(h, 4096);
    fail_at_depth(h, 10);
}

static void too_large_program(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    pw_alloc(h, "huge", UINT64_MAX / 2, 16);
    steps++;
}

static void errors_end_the_program_where_they_happen(void **state)
{
    (void)state;
    expect_failure((struct fake){.fail_alloc = 1}, ordinary_program, PW_FAILED, "no room for 800 bytes", 0);
    expect_failure((struct fake){.fail_alloc = 2}, ordinary_program, PW_FAILED, "no room for 200 bytes", 0);
    expect_failure((struct fake){.fail_launch = 1, .suspensions = 1}, ordinary_program, PW_USER_ERROR, "cannot launch",
                   1);
    expect_failure((struct fake){.fail_launch = 2, .suspensions = 1}, ordinary_program, PW_USER_ERROR, "cannot launch",
                   2);
    expect_failure((struct fake){.fail_free = 1}, ordinary_program, PW_FAILED, "cannot free", 2);
    expect_failure((struct fake){0}, failing_program, PW_USER_ERROR, "workload test:x=1: size 7 does not divide", 0);
    expect_failure((struct fake){0}, too_large_program, PW_USER_ERROR,
                   "workload test:x=1: array huge cannot have 9223372036854775807 elements of 16 bytes; choose other "
                   "sizes",
                   0);
}

static void a_program_can_be_destroyed_before_its_end(void **state)
{
    (void)state;
    TEST_PROGRAM(program, ordinary_program);
    for (int resumes = 0; resumes < 3; resumes++) {
        struct fake f = {.suspensions = 1};
        start(&f, &program, 1, 0);
        for (int i = 0; i < resumes; i++)
            assert_false(pw_host_resume(f.host));
        pw_host_destroy(f.host);
    }
    pw_host_destroy(NULL);
}

static void checking_program(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    assert_true(pw_host_verifying(h));
    pw_host_expect(h, true, "never");
    pw_host_expect(h, false, "the %s", "first");
    pw_host_expect(h, false, "the second");
    pw_host_expect(h, true, "never");
    steps++;
}

static void a_failed_check_fails_the_run_and_the_first_is_told(void **state)
{
    (void)state;
    expect_failure((struct fake){0}, checking_program, PW_FAILED, "workload test:x=1: wrong result: the first", 1);
    TEST_PROGRAM(program, checking_program);
    struct fake f = {0};
    start(&f, &program, 1, 0);
    pw_host_resume(f.host);
    assert_int_equal(pw_host_checks(f.host), 2);
    pw_host_destroy(f.host);
}

static void valueless_program(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    assert_false(pw_host_values(h));
    assert_false(pw_host_verifying(h));
    struct pw_array a = pw_alloc(h, "a", UINT64_C(1) << 40, 4);
    assert_null(a.data);
    assert_int_equal(a.base.v, 0x10000);
    pw_free(h, &a);
    assert_int_equal(pw_host_scaled(h, 1000, 8), 2000);
    assert_int_equal(pw_host_scaled(h, 3, 8), 8);
    assert_int_equal(pw_host_scaled_side(h, 1000, 1), 1414);
    assert_int_equal(pw_host_scaled_side(h, 1000, 128), 1408);
    steps++;
}

static void without_values_arrays_cost_nothing(void **state)
{
    (void)state;
    TEST_PROGRAM(program, valueless_program);
    program.values = false;
    program.scale = 2;
    struct fake f = {0};
    start(&f, &program, 1, 0);
    assert_true(pw_host_resume(f.host));
    assert_int_equal(steps, 1);
    pw_host_destroy(f.host);
}

static uint64_t first_draw(uint64_t seed, unsigned instance)
{
    TEST_PROGRAM(program, ordinary_program);
    struct fake f = {0};
    start(&f, &program, seed, instance);
    pw_host_resume(f.host);
    pw_host_destroy(f.host);
    return drawn;
}

static void random_numbers_follow_seed_and_instance(void **state)
{
    (void)state;
    assert_int_equal(first_draw(1, 0), first_draw(1, 0));
    assert_int_not_equal(first_draw(1, 0), first_draw(2, 0));
    assert_int_not_equal(first_draw(1, 0), first_draw(1, 1));
}

enum { SOME_ISSUED_BEFORE = 1000, LAUNCHES_OF_PASS = 2 };

static uint32_t passes_asked, planned[8];

static void passing_program(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    struct pw_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    pw_host_plan_passes(h, LAUNCHES_OF_PASS, 1);
    pw_launch(h, &launch);
    for (uint32_t pass = 0; pass < 6 && pw_host_pass(h, pass, passes_asked); pass++) {
        planned[pass] = pw_host_planned(h);
        for (int i = 0; i < LAUNCHES_OF_PASS; i++)
            pw_launch(h, &launch);
        steps++;
    }
}

/* Passes that the program above makes, of 100 instructions each after a launch of 50, where none begins after `cut`. */
static uint32_t passes_made(uint32_t passes, uint32_t cut, double scale)
{
    TEST_PROGRAM(program, passing_program);
    program.instructions = cut;
    program.scale = scale;
    passes_asked = passes;
    memset(planned, 0, sizeof planned);
    struct fake f = {.issued = SOME_ISSUED_BEFORE, .of_launch = 50, .suspensions = 1};
    start(&f, &program, 1, 0);
    while (!pw_host_resume(f.host))
        ;
    uint32_t made = pw_host_passes(f.host);
    assert_int_equal(made, steps);
    assert_int_equal(f.launches, 1 + LAUNCHES_OF_PASS * made);
    pw_host_destroy(f.host);
    return made;
}

static void no_pass_begins_once_the_instructions_are_issued(void **state)
{
    (void)state;
    static const struct {
        uint32_t passes, cut, made;
        double scale;
    } table[] = {
        {5, 0, 5, 1},                       /* off */
        {5, 1, 1, 1},                       /* the first is always made */
        {5, 150, 1, 1},                     /* reached exactly by one */
        {5, 151, 2, 1},                     /* one more than that */
        {5, 250, 2, 1},                     /* reached exactly by two */
        {5, 251, 3, 1},                     /* one more */
        {5, 550, 5, 1},                     /* by all */
        {5, 9999, 5, 1},                    /* never */
        {1, 9999, 1, 1},  {0, 0, 6, 1},     /* 0: until the algorithm ends, after 6 */
        {0, 251, 3, 1},   {5, 500, 2, 0.5}, /* times the scale */
        {5, 502, 3, 0.5},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(passes_made(table[i].passes, table[i].cut, table[i].scale), table[i].made);
}

static void the_plan_follows_the_passes(void **state)
{
    (void)state;
    passes_made(3, 0, 1);
    for (int pass = 0; pass < 3; pass++)
        assert_int_equal(planned[pass], 1 + 3 * LAUNCHES_OF_PASS);
    passes_made(1, 400, 1); /* one pass cannot be cut */
    assert_int_equal(planned[0], 1 + LAUNCHES_OF_PASS);
    passes_made(0, 0, 1); /* nobody knows */
    assert_int_equal(planned[5], 0);
    assert_int_equal(passes_made(100, 450, 1), 4);
    assert_int_equal(planned[0], 0); /* not known before a pass has been made */
    /* 300 of 450 are left after one of 150: 2 more; 200 after two of 125 each: 2 more; 100 after three: 1 more. */
    assert_int_equal(planned[1], 1 + 3 * LAUNCHES_OF_PASS);
    assert_int_equal(planned[2], 1 + 4 * LAUNCHES_OF_PASS);
    assert_int_equal(planned[3], 1 + 4 * LAUNCHES_OF_PASS);
    passes_made(3, 100000, 1); /* not cut: all of them */
    assert_int_equal(planned[2], 1 + 3 * LAUNCHES_OF_PASS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_suspend_the_program_and_resume_it_where_it_was),
        cmocka_unit_test(errors_end_the_program_where_they_happen),
        cmocka_unit_test(a_program_can_be_destroyed_before_its_end),
        cmocka_unit_test(a_failed_check_fails_the_run_and_the_first_is_told),
        cmocka_unit_test(without_values_arrays_cost_nothing),
        cmocka_unit_test(random_numbers_follow_seed_and_instance),
        cmocka_unit_test(no_pass_begins_once_the_instructions_are_issued),
        cmocka_unit_test(the_plan_follows_the_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
