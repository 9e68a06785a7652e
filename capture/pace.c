/* Times of a lone warp: see the header. */
#include "pace.h"

#include "trace/trace.h"

#define NEVER (INT64_MIN / 2)

static void raise_to(int64_t *time, int64_t at_least)
{
    if (*time < at_least)
        *time = at_least;
}

/* Executes an instruction; when it issues. */
static int64_t execute(struct pw_pace_times *t, const struct pw_code_instruction *i)
{
    int64_t at = t->ready;
    for (uint32_t s = 0; s < PW_CODE_SCOREBOARDS; s++)
        if (i->waits_for >> s & 1)
            raise_to(&at, t->released[s]);
    if (i->scoreboard < PW_CODE_SCOREBOARDS)
        raise_to(&t->released[i->scoreboard], at + i->latency.result);
    if (i->operand_scoreboard < PW_CODE_SCOREBOARDS)
        raise_to(&t->released[i->operand_scoreboard], at + i->latency.operands);
    t->ready = at + i->stall;
    return at;
}

void pw_pace_way_begin(struct pw_pace_way *way)
{
    way->instructions = 0;
    for (uint32_t from = 0; from <= PW_CODE_SCOREBOARDS; from++) {
        way->end[from].ready = from ? NEVER : 0;
        for (uint32_t s = 0; s < PW_CODE_SCOREBOARDS; s++)
            way->end[from].released[s] = from == s + 1 ? 0 : NEVER;
    }
}

void pw_pace_way_add(struct pw_pace_way *way, const struct pw_code_instruction *i)
{
    way->instructions++;
    for (uint32_t from = 0; from <= PW_CODE_SCOREBOARDS; from++)
        execute(&way->end[from], i);
}

static struct pw_pace_times times_of(const struct pw_pace_warp *w)
{
    struct pw_pace_times t = {0};
    for (uint32_t s = 0; s < PW_CODE_SCOREBOARDS; s++)
        t.released[s] = w->left[s];
    return t;
}

/* From now on counts from when the warp is ready; the cycles until then. */
static uint64_t settle(struct pw_pace_warp *w, const struct pw_pace_times *t)
{
    for (uint32_t s = 0; s < PW_CODE_SCOREBOARDS; s++)
        w->left[s] = t->released[s] > t->ready ? (uint8_t)(t->released[s] - t->ready) : 0;
    return (uint64_t)t->ready;
}

void pw_pace_go(struct pw_pace *p, struct pw_pace_warp *w, const struct pw_pace_way *way)
{
    p->ways++;
    if (!way) {
        p->guessed++;
        *w = (struct pw_pace_warp){0};
        return;
    }
    struct pw_pace_times t = way->end[0];
    for (uint32_t from = 0; from < PW_CODE_SCOREBOARDS; from++) {
        if (!w->left[from])
            continue;
        const struct pw_pace_times *end = &way->end[1 + from];
        raise_to(&t.ready, end->ready + w->left[from]);
        for (uint32_t s = 0; s < PW_CODE_SCOREBOARDS; s++)
            raise_to(&t.released[s], end->released[s] + w->left[from]);
    }
    p->cycles += settle(w, &t);
    p->instructions += way->instructions;
}

void pw_pace_record(struct pw_pace *p, struct pw_pace_warp *w, enum pw_capture_kind kind,
                    const struct pw_code_instruction *i)
{
    struct pw_pace_times t = times_of(w);
    int64_t at = execute(&t, i);
    switch (kind) {
    case PW_CAPTURE_BARRIER:
    case PW_CAPTURE_EXIT:
        p->cycles += (uint64_t)at;
        *w = (struct pw_pace_warp){0};
        break;
    case PW_CAPTURE_LOAD:
    case PW_CAPTURE_STORE:
    case PW_CAPTURE_ATOMIC:
    case PW_CAPTURE_COPY:
    case PW_CAPTURE_BULK:
        t.ready = at + 1;
        p->cycles += settle(w, &t) - 1;
        break;
    default:
        p->cycles += settle(w, &t);
        p->instructions++;
    }
}

uint32_t pw_pace_mean(const struct pw_pace *p)
{
    enum { MOST_GUESSED = 20 /* one way in so many */ };
    if (!p->instructions || p->guessed * MOST_GUESSED > p->ways)
        return 0;
    uint64_t mean = (1000 * p->cycles + p->instructions / 2) / p->instructions;
    return mean < PW_TRACE_MOST_PACE ? (uint32_t)mean : PW_TRACE_MOST_PACE;
}
