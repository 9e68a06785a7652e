/* Evaluates all figures, quick and full, from what the store has. */
#include "exp/claim/claim_evidence.h"

#include "exp/figure/experiment.h"

#include <stdlib.h>
#include <string.h>

struct evidence {
    struct pw_claim_evidence *items;
    size_t count, capacity;
};

/* The name that lives as long as the program does. */
static const char *lasting_name(const char *name)
{
    const struct pw_figure_file *f = pw_figure_files;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f->name : "";
}

static enum pw_status add(struct evidence *all, const struct pw_figure_outcome *figure, enum pw_scope scope,
                          struct pw_error *err)
{
    size_t claims = figure->figure->claim_count;
    if (all->count + claims > all->capacity) {
        size_t wanted = 2 * (all->count + claims);
        struct pw_claim_evidence *more = realloc(all->items, wanted * sizeof *more);
        if (!more)
            return pw_fail_memory(err, "the claims");
        all->items = more;
        all->capacity = wanted;
    }
    for (size_t i = 0; i < claims; i++)
        all->items[all->count++] = (struct pw_claim_evidence){
            .figure = lasting_name(figure->figure->name), .scope = scope, .outcome = figure->claims[i]};
    return PW_OK;
}

static enum pw_status collect_scope(struct pw_store *store, enum pw_scope scope, unsigned seeds, struct evidence *all,
                                    struct pw_error *err)
{
    struct pw_experiment *e = NULL;
    struct pw_experiment_spec spec = {.scope = scope, .seeds = seeds};
    enum pw_status status = pw_experiment_create(&spec, &e, err);
    if (status != PW_OK)
        return status;
    status = pw_experiment_look_up(e, store, err);
    for (size_t i = 0; status == PW_OK && i < e->figure_count; i++) {
        struct pw_figure_outcome figure = {0};
        status = pw_figure_evaluate(&e->plan.figures[i], e->runs, &figure, err);
        if (status == PW_OK)
            status = add(all, &figure, scope, err);
        pw_figure_outcome_release(&figure);
    }
    pw_experiment_destroy(e);
    return status;
}

enum pw_status pw_claim_evidence_collect(struct pw_store *store, struct pw_claim_evidence **out, size_t *out_count,
                                         struct pw_error *err)
{
    struct evidence all = {0};
    *out = NULL;
    *out_count = 0;
    uint64_t known; /* seeds: no figure can have more of them complete */
    enum pw_status status = pw_store_seeds(store, &known, err);
    unsigned seeds = known < PW_MAX_SEEDS ? (unsigned)known : PW_MAX_SEEDS;
    if (status == PW_OK)
        status = collect_scope(store, PW_QUICK, seeds, &all, err);
    if (status == PW_OK)
        status = collect_scope(store, PW_FULL, seeds, &all, err);
    if (status != PW_OK) {
        free(all.items);
        return status;
    }
    *out = all.items;
    *out_count = all.count;
    return PW_OK;
}
