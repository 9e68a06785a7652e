/* Miss status holding registers under random misses, merges and answers, against a plain list of keys and queues. */
#include "mem/mshr.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_CAPACITY = 300, MAX_WAITERS = 40, STEPS = 20000 };

struct miss {
    uint64_t key, mask;
    uint32_t place;
    unsigned waiters;
    uint32_t owners[MAX_WAITERS]; /* in the order in which they came */
};

struct scene {
    struct pw_mshr mshr;
    struct pw_request_pool pool;
    struct pw_random random;
    uint32_t capacity, count, next_owner;
    struct miss misses[MAX_CAPACITY];
};

/* Lines side by side, pages far apart that differ only in high bits, and the extremes. */
static uint64_t random_key(struct scene *s)
{
    uint64_t small = pw_random_below(&s->random, 2 * s->capacity + 3);
    switch (pw_random_below(&s->random, 8)) {
    case 0:
        return small << 40;
    case 1:
        return UINT64_MAX - small;
    default:
        return small;
    }
}

static struct miss *find(struct scene *s, uint64_t key)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->misses[i].key == key)
            return &s->misses[i];
    return NULL;
}

static void wait_for(struct scene *s, struct pw_mshr_entry *e, struct miss *m)
{
    struct pw_request *r = pw_request_take(&s->pool);
    uint64_t bit = 1ULL << pw_random_below(&s->random, 64);
    r->owner = s->next_owner++;
    pw_mshr_wait(e, r);
    e->mask |= bit;
    m->mask |= bit;
    m->owners[m->waiters++] = r->owner;
}

static struct pw_mshr_entry *entry_of(struct scene *s, const struct miss *m)
{
    struct pw_mshr_entry *e = pw_mshr_find(&s->mshr, m->key);
    assert_non_null(e);
    assert_true(e->key == m->key && e->mask == m->mask);
    assert_int_equal(pw_mshr_place(&s->mshr, e), m->place);
    return e;
}

/* Takes all that wait and lets some wait again, as when not all sectors have come. */
static void answer_some(struct scene *s, struct miss *m)
{
    struct pw_mshr_entry *e = entry_of(s, m);
    struct pw_request *r = pw_mshr_take_waiting(e), *next;
    unsigned kept = 0;
    assert_null(pw_mshr_take_waiting(e));
    for (unsigned i = 0; i < m->waiters; i++, r = next) {
        assert_non_null(r);
        assert_int_equal(r->owner, m->owners[i]);
        next = r->next;
        if (pw_random_below(&s->random, 2)) {
            pw_request_give(&s->pool, r);
        } else {
            m->owners[kept++] = r->owner;
            pw_mshr_wait(e, r);
        }
    }
    assert_null(r);
    m->waiters = kept;
}

static void answer(struct scene *s, struct miss *m)
{
    while (m->waiters)
        answer_some(s, m);
    pw_mshr_remove(&s->mshr, entry_of(s, m));
    assert_null(pw_mshr_find(&s->mshr, m->key));
    *m = s->misses[--s->count];
}

static void add(struct scene *s, uint64_t key)
{
    struct pw_mshr_entry *e = pw_mshr_add(&s->mshr, key);
    struct miss *m = &s->misses[s->count];
    *m = (struct miss){.key = key, .place = pw_mshr_place(&s->mshr, e)};
    assert_true(m->place < s->capacity);
    for (uint32_t i = 0; i < s->count; i++)
        assert_int_not_equal(s->misses[i].place, m->place);
    s->count++;
    assert_true(entry_of(s, m) == e);
    assert_null(pw_mshr_take_waiting(e));
    wait_for(s, e, m);
}

static void miss_on(struct scene *s, uint64_t key)
{
    struct miss *m = find(s, key);
    assert_int_equal(pw_mshr_full(&s->mshr), s->count == s->capacity);
    if (!m) {
        assert_null(pw_mshr_find(&s->mshr, key));
        if (s->count == s->capacity)
            answer(s, &s->misses[pw_random_below(&s->random, s->count)]);
        add(s, key);
    } else if (m->waiters == MAX_WAITERS || pw_random_below(&s->random, 8) == 0) {
        answer_some(s, m);
    } else {
        wait_for(s, entry_of(s, m), m);
    }
}

static void run(uint32_t capacity)
{
    struct scene *s = calloc(1, sizeof(*s));
    struct pw_error err;
    s->capacity = capacity;
    pw_request_pool_init(&s->pool, NULL);
    pw_random_init(&s->random, capacity, "mshr");
    assert_int_equal(pw_mshr_init(&s->mshr, "test", capacity, &err), PW_OK);
    for (unsigned step = 0; step < STEPS; step++) {
        miss_on(s, random_key(s));
        /* Long stretches of filling up, and of emptying to the last one. */
        unsigned answers = step / 500 % 2 ? (unsigned)pw_random_below(&s->random, 4) : step % 4 == 0;
        for (; answers && s->count; answers--)
            answer(s, &s->misses[pw_random_below(&s->random, s->count)]);
    }
    while (s->count)
        answer(s, &s->misses[0]);
    assert_false(pw_mshr_full(&s->mshr));
    for (uint64_t key = 0; key < capacity; key++)
        pw_mshr_add(&s->mshr, key);
    assert_true(pw_mshr_full(&s->mshr));
    assert_int_equal(s->pool.records.in_use, 0);
    pw_mshr_release(&s->mshr);
    pw_request_pool_destroy(&s->pool);
    free(s);
}

static void registers_agree_with_a_list_of_queues(void **state)
{
    (void)state;
    const uint32_t capacities[] = {1, 2, 3, 8, 17, 32, 64, 128, MAX_CAPACITY};
    for (unsigned i = 0; i < sizeof(capacities) / sizeof(*capacities); i++)
        run(capacities[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(registers_agree_with_a_list_of_queues)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
