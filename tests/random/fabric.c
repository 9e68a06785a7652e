/* Random messages over random fabrics against a naive model: a graph whose ways are found by climbing to the root, one
 * number per direction of a link, and a search through all messages for the next head. Times are numerators over a
 * denominator that all links share. */
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric_fixture.h"

enum { FABRICS = 300, MESSAGES = 200, MOST_GPUS = 20, MOST_NODES = 2 * MOST_GPUS + 2, MOST_HOPS = 4 };

typedef __int128 number;

struct naive_message {
    unsigned from, to;
    uint32_t bytes;
    number head;   /* when it comes to the next link */
    pw_cycle next; /* that in whole cycles, rounded up */
    pw_cycle sent, tail, arrival;
    uint64_t order; /* among those of the same cycle */
    unsigned path[MOST_HOPS + 1], hops, at;
};

struct scene {
    struct pw_random random;
    struct pw_fabric_config config;
    unsigned gpus;
    uint32_t mhz;
    uint64_t gpu_rate, host_rate; /* thousands of bytes per second */
    number free[MOST_NODES][MOST_NODES], small[MOST_NODES][MOST_NODES], busy[MOST_NODES][MOST_NODES];
    struct naive_message messages[MESSAGES];
    struct fabric_fixture fixture;
    pw_cycle arrivals[MESSAGES];
};

static uint64_t below(struct scene *s, uint64_t bound)
{
    return pw_random_below(&s->random, bound);
}

/* Nodes: GPUs, host, root, switches. */
static unsigned host_of(const struct scene *s)
{
    return s->gpus;
}

static unsigned root_of(const struct scene *s)
{
    return s->gpus + 1;
}

static unsigned parent(const struct scene *s, unsigned node)
{
    return node < s->gpus ? root_of(s) + 1 + node / s->config.gpus_per_switch : root_of(s);
}

static number denominator(const struct scene *s)
{
    return (number)s->gpu_rate * s->host_rate;
}

static uint64_t rate_of(const struct scene *s, unsigned from, unsigned to)
{
    bool is_host_link = from == host_of(s) || to == host_of(s);
    bool is_direct = from < s->gpus && to < s->gpus;
    bool on_host_way = is_host_link || (s->config.topology == PW_FABRIC_ALL_TO_ALL && !is_direct);
    return on_host_way ? s->host_rate : s->gpu_rate;
}

static number duration(const struct scene *s, unsigned from, unsigned to, uint32_t bytes)
{
    return (number)bytes * s->mhz * 1000 * (denominator(s) / rate_of(s, from, to));
}

static pw_cycle cycles(const struct scene *s, number time)
{
    return (pw_cycle)((time + denominator(s) - 1) / denominator(s));
}

static void find_path(const struct scene *s, struct naive_message *m)
{
    unsigned up[3] = {m->from}, down[3] = {m->to}, ups = 1, downs = 1;
    if (s->config.topology == PW_FABRIC_TREE || m->from == host_of(s) || m->to == host_of(s)) {
        while (up[ups - 1] != root_of(s)) {
            up[ups] = parent(s, up[ups - 1]);
            ups++;
        }
        while (down[downs - 1] != root_of(s)) {
            down[downs] = parent(s, down[downs - 1]);
            downs++;
        }
        while (ups > 1 && downs > 1 && up[ups - 2] == down[downs - 2]) {
            ups--;
            downs--;
        }
        downs--; /* the node where both meet */
    }
    unsigned count = 0;
    for (unsigned i = 0; i < ups; i++)
        m->path[count++] = up[i];
    for (unsigned i = downs; i > 0; i--)
        m->path[count++] = down[i - 1];
    m->hops = count - 1;
}

static void move_on(struct scene *s, struct naive_message *m, uint64_t *order)
{
    unsigned a = m->path[m->at], b = m->path[m->at + 1];
    if (!m->at || rate_of(s, a, b) != rate_of(s, m->path[m->at - 1], a))
        m->head = (number)m->next * denominator(s);
    bool passes = s->config.queues == PW_FABRIC_BY_CLASS && m->bytes <= s->config.request_bytes;
    number *queue = passes ? &s->small[a][b] : &s->free[a][b];
    number start = *queue > m->head ? *queue : m->head;
    *queue = start + duration(s, a, b, m->bytes);
    if (passes) /* what has data loses that time, from then on */
        s->free[a][b] = (s->free[a][b] > start ? s->free[a][b] : start) + duration(s, a, b, m->bytes);
    s->busy[a][b] += duration(s, a, b, m->bytes);
    m->at++;
    pw_cycle latency = s->config.link_latency + (m->at == m->hops ? 0 : s->config.switch_latency);
    pw_cycle end = cycles(s, *queue);
    m->tail = (m->tail > end ? m->tail : end) + latency;
    m->head = start + (number)latency * denominator(s);
    m->next = cycles(s, m->head);
    m->order = (*order)++;
    if (m->at == m->hops)
        m->arrival = m->tail;
}

static void run_naively(struct scene *s)
{
    uint64_t order = 0;
    for (unsigned i = 0; i < MESSAGES; i++)
        s->messages[i].order = order++;
    for (;;) {
        struct naive_message *first = NULL;
        for (unsigned i = 0; i < MESSAGES; i++) {
            struct naive_message *m = &s->messages[i];
            if (m->at < m->hops &&
                (!first || m->next < first->next || (m->next == first->next && m->order < first->order)))
                first = m;
        }
        if (!first)
            return;
        move_on(s, first, &order);
    }
}

/* What the slowest link takes for it, and all latencies. */
static pw_cycle time_alone(const struct scene *s, const struct naive_message *m)
{
    number slowest = 0;
    for (unsigned i = 0; i < m->hops; i++) {
        number time = duration(s, m->path[i], m->path[i + 1], m->bytes);
        slowest = time > slowest ? time : slowest;
    }
    return cycles(s, slowest) + (pw_cycle)m->hops * s->config.link_latency +
           (pw_cycle)(m->hops - 1) * s->config.switch_latency;
}

static void note(void *object, uint64_t argument, pw_cycle now)
{
    struct scene *s = object;
    s->arrivals[argument] = now;
}

static void send(void *object, uint64_t argument, pw_cycle now)
{
    struct scene *s = object;
    const struct naive_message *m = &s->messages[argument];
    pw_fabric_send(s->fixture.fabric, m->from, m->to, m->bytes, now, note, s, argument);
}

static void draw(struct scene *s)
{
    struct pw_fabric_config *c = &s->config;
    *c = fabric_defaults();
    c->topology = (uint32_t)below(s, 2);
    c->queues = (uint32_t)below(s, 2);
    c->request_bytes = 1 + (uint32_t)below(s, 300);
    c->gpus_per_switch = 1 + (uint32_t)below(s, 5);
    c->switch_latency = below(s, 4) ? (uint32_t)below(s, 200) : 0;
    c->link_latency = below(s, 2) ? (uint32_t)below(s, 50) : 0;
    s->gpus = 1 + (unsigned)below(s, MOST_GPUS);
    s->mhz = 1 + (uint32_t)below(s, 2000);
    s->gpu_rate = below(s, 2) ? 16000000 : 1000 + below(s, 100000000);
    s->host_rate = below(s, 2) ? s->gpu_rate : 1000 + below(s, 100000000);
    c->gbytes_per_second = (double)s->gpu_rate / 1e6;
    if (s->host_rate != s->gpu_rate || below(s, 2))
        c->host_gbytes_per_second = (double)s->host_rate / 1e6;
    uint64_t span = 1ULL << below(s, 16);
    uint32_t largest = (uint32_t)1 << below(s, 13);
    for (unsigned i = 0; i < MESSAGES; i++) {
        struct naive_message *m = &s->messages[i];
        *m = (struct naive_message){.from = (unsigned)below(s, s->gpus + 1), .bytes = (uint32_t)below(s, largest + 1)};
        m->to = (m->from + 1 + (unsigned)below(s, s->gpus)) % (s->gpus + 1);
        m->sent = m->next = below(s, span);
        find_path(s, m);
    }
}

static void compare(struct scene *s)
{
    const struct fabric_fixture *f = &s->fixture;
    double latency = 0, alone = 0, link_bytes = 0;
    for (unsigned i = 0; i < MESSAGES; i++) {
        const struct naive_message *m = &s->messages[i];
        assert_int_equal(s->arrivals[i], m->arrival);
        pw_cycle unloaded = time_alone(s, m);
        assert_int_equal(pw_fabric_unloaded(f->fabric, m->from, m->to, m->bytes), unloaded);
        assert_true(m->arrival >= m->sent + unloaded);
        latency += (double)(m->arrival - m->sent);
        alone += (double)unloaded;
        link_bytes += (double)m->bytes * m->hops;
    }
    number busiest = 0;
    for (unsigned i = 0; i < MOST_NODES * MOST_NODES; i++)
        if (s->busy[i / MOST_NODES][i % MOST_NODES] > busiest)
            busiest = s->busy[i / MOST_NODES][i % MOST_NODES];
    assert_true(fabric_metric(*f, "fabric.latency_mean") == latency / MESSAGES);
    assert_true(fabric_metric(*f, "fabric.queue_mean") == (latency - alone) / MESSAGES);
    assert_true(fabric_metric(*f, "fabric.link_bytes") == link_bytes);
    assert_true(fabric_metric(*f, "fabric.busy_max") == (double)(uint64_t)(busiest / denominator(s)));
}

static void messages_arrive_as_in_a_naive_model(void **state)
{
    (void)state;
    struct scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (unsigned seed = 0; seed < FABRICS; seed++) {
        memset(s, 0, sizeof *s);
        pw_random_init(&s->random, seed, "fabric");
        draw(s);
        s->fixture = fabric_open(s->config, s->gpus, s->mhz);
        for (unsigned i = 0; i < MESSAGES; i++)
            pw_events_post(s->fixture.events, s->messages[i].sent, send, s, i);
        fabric_run(s->fixture, PW_NEVER);
        assert_int_equal(pw_fabric_pending(s->fixture.fabric), 0);
        run_naively(s);
        compare(s);
        fabric_close(s->fixture);
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_arrive_as_in_a_naive_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
