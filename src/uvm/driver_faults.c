/* The driver's table of faults (UVM, Figure 1, steps 3 to 6): for each page that is waited for, since when it is, how
 * many accesses residency has still to hear of, and which registration of the page it is. Who waits is known to the
 * far-fault registers of the MMU (vm/far_faults.h), or to whoever else a replay is sent to: the driver also runs
 * without a GPU.
 *
 * A hash table by page number, linear probing, at most half full; removal moves what follows back into place, so
 * that no marks of removed faults pile up. There are as many places as are needed: neither the paper nor the real
 * fault buffer, which the GPU refills on every replay, bounds them in a way that would delay anybody but the
 * waiting. */
#include "uvm/driver_internal.h"

#include <assert.h>
#include <stdlib.h>

enum { LEAST_PLACES = 64 };

static size_t place_of(const struct fault_table *t, pw_page_id page)
{
    return (page * 0x9e3779b97f4a7c15ULL >> 32) & (t->capacity - 1);
}

struct fault *pw_faults_find(struct pw_uvm *u, pw_page_id page)
{
    struct fault_table *t = &u->faults;
    if (!t->count)
        return NULL;
    for (size_t i = place_of(t, page); t->places[i].page != PW_NO_PAGE; i = (i + 1) & (t->capacity - 1))
        if (t->places[i].page == page)
            return &t->places[i];
    return NULL;
}

struct fault *pw_faults_find_ticket(struct pw_uvm *u, struct ticket ticket)
{
    struct fault *f = pw_faults_find(u, ticket.page);
    return f && f->ticket == ticket.ticket ? f : NULL;
}

static struct fault *insert(struct fault_table *t, struct fault f)
{
    size_t i = place_of(t, f.page);
    while (t->places[i].page != PW_NO_PAGE)
        i = (i + 1) & (t->capacity - 1);
    t->places[i] = f;
    t->count++;
    return &t->places[i];
}

static bool double_table(struct pw_uvm *u)
{
    struct fault_table old = u->faults, new = old;
    new.capacity = old.capacity ? 2 * old.capacity : LEAST_PLACES;
    new.count = 0;
    new.places = malloc(new.capacity * sizeof *new.places);
    if (!new.places) {
        pw_uvm_fail(u, PW_FAILED, "out of memory for far faults");
        return false;
    }
    for (size_t i = 0; i < new.capacity; i++)
        new.places[i].page = PW_NO_PAGE;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.places[i].page != PW_NO_PAGE)
            insert(&new, old.places[i]);
    free(old.places);
    u->faults = new;
    return true;
}

struct fault *pw_faults_add(struct pw_uvm *u, pw_page_id page, pw_cycle now)
{
    if (2 * u->faults.count >= u->faults.capacity && !double_table(u))
        return NULL;
    u->counters[pw_residency_asid(u->residency, page)].registered++;
    return insert(&u->faults, (struct fault){.page = page, .since = now, .ticket = u->faults.tickets++});
}

static void remove_fault(struct fault_table *t, struct fault *f)
{
    size_t mask = t->capacity - 1, hole = (size_t)(f - t->places);
    for (size_t i = (hole + 1) & mask; t->places[i].page != PW_NO_PAGE; i = (i + 1) & mask) {
        size_t home = place_of(t, t->places[i].page);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            t->places[hole] = t->places[i];
            hole = i;
        }
    }
    t->places[hole].page = PW_NO_PAGE;
    t->count--;
}

void pw_faults_replay(struct pw_uvm *u, pw_page_id page, pw_cycle now)
{
    struct fault *f = pw_faults_find(u, page);
    pw_asid asid = pw_residency_asid(u->residency, page);
    struct driver_counters *c = &u->counters[asid];
    assert(f &&
           (pw_residency_state(u->residency, page) == PW_PAGE_RESIDENT || pw_residency_is_remote(u->residency, page)));
    c->replayed++;
    c->latency += now - f->since;
    remove_fault(&u->faults, f);
    u->wiring.replay(u->wiring.machine, asid, pw_residency_vpn(u->residency, page), now);
}

void pw_faults_forget(struct pw_uvm *u, pw_page_id first, pw_page_id outer)
{
    struct fault_table *t = &u->faults;
    for (size_t i = 0; i < t->capacity;) {
        struct fault *f = &t->places[i];
        if (f->page == PW_NO_PAGE || f->page < first || f->page >= outer) {
            i++;
            continue;
        }
        u->counters[pw_residency_asid(u->residency, f->page)].forgotten++;
        remove_fault(t, f); /* may move another one here */
    }
}

void pw_faults_report(struct pw_uvm *u, struct fault *f)
{
    uint32_t accesses = f->merges + !f->reported;
    for (uint32_t i = 0; i < accesses; i++)
        pw_residency_merge(u->residency, f->page);
    f->merges = 0;
    f->reported = true;
}

void pw_ticket_add(struct pw_uvm *u, struct ticket_list *list, const struct fault *f)
{
    struct ticket *items =
        pw_uvm_make_place(u, list->items, &list->first, &list->count, &list->capacity, sizeof *list->items);
    if (!items)
        return;
    list->items = items;
    list->items[list->count++] = (struct ticket){f->page, f->ticket};
}
