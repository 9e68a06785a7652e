#include "operands.h"

#include <stdio.h>
#include <stdlib.h>

void unknown(const struct state *s, const char *what)
{
    fprintf(stderr, "emulator: %s: %s: instruction %016llx %016llx (opcode %03x) is not known\n", s->m->kernel->name,
            what, (unsigned long long)s->i.low, (unsigned long long)s->i.high, bits(s->i, 0, 12));
    exit(3);
}

static int64_t branch_distance(struct instruction i)
{
    int64_t high = (int64_t)((i.low >> 34 | (i.high & 0x3ffff) << 30) << 16) >> 16;
    return high * 256 + bits(i, 16, 8);
}

/* Instructions from the next one. */
static int64_t branch_steps(struct instruction i)
{
    return branch_distance(i) * 4 / (int64_t)sizeof(struct instruction);
}

static enum outcome remove_lanes(struct state *s, struct group *g, uint32_t lanes)
{
    g->lanes &= ~lanes;
    g->pc++;
    if (!g->lanes)
        *g = s->w->groups[--s->w->group_count];
    return OUTCOME_MOVED;
}

static enum outcome go_to(struct state *s, struct group *g, uint32_t lanes, uint32_t target)
{
    if (!lanes)
        return OUTCOME_NEXT;
    if (lanes == g->lanes) {
        g->pc = target;
        return OUTCOME_MOVED;
    }
    s->w->groups[s->w->group_count++] = (struct group){lanes, target, GROUP_RUNS, 0};
    return remove_lanes(s, g, lanes);
}

/* Before an instruction that needs several lanes together, BRA.DIV jumps to code for lanes that are apart. A uniform
 * register has the lanes. */
static bool are_together(const struct state *s)
{
    return !(get_uniform(s, bits(s->i, 24, 8)) & warp_live_lanes(s->w) & ~s->lanes);
}

static enum outcome branch(struct state *s, struct group *g)
{
    bool if_apart = bit(s->i, 91);
    if (form_of(s->i) != MIDDLE_IMMEDIATE)
        unknown(s, "BRA of another form");
    if (if_apart && are_together(s))
        return OUTCOME_NEXT;
    uint32_t taken = s->lanes & predicate_mask(s->w, bits(s->i, 87, 3), bit(s->i, 90));
    return go_to(s, g, taken, (uint32_t)(g->pc + 1 + branch_steps(s->i)));
}

static enum outcome call(struct state *s, struct group *g)
{
    return go_to(s, g, s->lanes, (uint32_t)(g->pc + 1 + branch_steps(s->i)));
}

/* To an address within the kernel, the same for all lanes, that a register holds. */
static enum outcome return_from(struct state *s, struct group *g)
{
    if (!s->lanes)
        return OUTCOME_NEXT;
    uint64_t offset = get64(s, bits(s->i, 24, 8), (uint32_t)__builtin_ctz(s->lanes));
    FOR_LANES(lane, s->lanes)
    if (get64(s, bits(s->i, 24, 8), lane) != offset)
        unknown(s, "RET to several places");
    int64_t steps = (int64_t)(offset / sizeof(struct instruction));
    return go_to(s, g, s->lanes, (uint32_t)(g->pc + 1 + branch_steps(s->i) + steps));
}

static enum outcome set_convergence(struct state *s, const struct group *g)
{
    FOR_LANES(lane, g->lanes)
    s->w->barriers[bits(s->i, 16, 4)][lane] = g->lanes;
    return OUTCOME_NEXT;
}

static enum outcome wait_for_convergence(struct state *s, struct group *g)
{
    if (!(s->lanes & predicate_mask(s->w, bits(s->i, 87, 3), bit(s->i, 90))))
        return OUTCOME_NEXT;
    if (s->lanes != g->lanes)
        unknown(s, "BSYNC of some lanes");
    g->state = GROUP_AT_CONVERGENCE;
    g->barrier = bits(s->i, 16, 4);
    warp_converge(s->w);
    return OUTCOME_MOVED;
}

/* WARPSYNC of all lanes. It comes behind code that has joined them already. */
static enum outcome synchronise(struct state *s)
{
    if (form_of(s->i) != MIDDLE_IMMEDIATE || bits(s->i, 32, 32))
        unknown(s, "WARPSYNC of some lanes");
    if (warp_live_lanes(s->w) & ~s->lanes)
        unknown(s, "WARPSYNC of lanes that are apart");
    return OUTCOME_NEXT;
}

static enum outcome leave(struct state *s, struct group *g)
{
    uint32_t lanes = s->lanes & predicate_mask(s->w, bits(s->i, 87, 3), bit(s->i, 90));
    if (!lanes)
        return OUTCOME_NEXT;
    s->m->effect.kind = EFFECT_EXIT;
    s->m->effect.lanes = lanes;
    remove_lanes(s, g, lanes);
    warp_converge(s->w);
    return OUTCOME_MOVED;
}

static enum outcome execute_control(struct state *s, struct group *g)
{
    switch (opcode_of(s->i)) {
    case 0x118:
        return OUTCOME_NEXT;
    case 0x11d:
        if (s->lanes != g->lanes || bits(s->i, 72, 19) != 1 << 8)
            unknown(s, "BAR other than of all threads");
        s->m->effect.kind = EFFECT_BARRIER;
        g->state = GROUP_AT_CTA_BARRIER;
        return OUTCOME_NEXT;
    case 0x141:
        return wait_for_convergence(s, g);
    case 0x144:
        return call(s, g);
    case 0x145:
        return set_convergence(s, g);
    case 0x147:
        return branch(s, g);
    case 0x148:
        return synchronise(s);
    case 0x14d:
        return leave(s, g);
    case 0x150:
        return return_from(s, g);
    default:
        unknown(s, "opcode");
    }
}

enum { OPCODES = 512 };

struct entry {
    void (*execute)(struct state *s);
    bool is_uniform; /* its guard is a uniform predicate */
};

static void add_operations(struct entry *table, const struct operation *operations, bool uniform)
{
    for (; operations->execute; operations++)
        table[operations->opcode] = (struct entry){operations->execute, uniform};
}

static const struct entry *operation_table(void)
{
    static struct entry table[OPCODES];
    if (!table[integer_operations->opcode].execute) {
        add_operations(table, integer_operations, false);
        add_operations(table, float_operations, false);
        add_operations(table, memory_operations, false);
        add_operations(table, uniform_operations, true);
    }
    return table;
}

enum outcome execute(struct machine *m, struct warp *w, struct group *g)
{
    struct state s = {m, w, m->kernel->code[g->pc], 0};
    const struct entry *e = &operation_table()[opcode_of(s.i)];
    bool uniform_guard = e->is_uniform && uniform_predicate(&s, 12, 15);
    s.lanes =
        e->is_uniform ? (uniform_guard ? g->lanes : 0) : g->lanes & predicate_mask(w, bits(s.i, 12, 3), bit(s.i, 15));
    m->effect.kind = EFFECT_NONE;
    m->effect.lanes = s.lanes;
    m->effect.in_shared = 0;
    if (!e->execute)
        return execute_control(&s, g);
    if (s.lanes)
        e->execute(&s);
    return OUTCOME_NEXT;
}
