/* Allocating, touching, freeing, coalescing, splintering, compacting and starting over, in seeded random order, against
 * a naive model: which frame each page of each application has. A page may change its frame only where pages are moved,
 * in a region that has just been freed in part; everything that a TLB or a page table answers is what the model says;
 * memory runs out only when none is left that could be handed out.
 *
 * A million steps; a number as argument is the first of as many further seeds. */
#include "mosaic.h"
#include "sim/random.h"

enum { STEPS = 50000, WORLDS = 20, RANGES = 6, MOST_PAGES = 3 * MOSAIC_PAGES, NOWHERE = -1, CHECK_EVERY = 1000 };

/* An allocation. Pages that are managed come and go one by one; others come together, and what is freed is gone. */
struct range {
    pw_vpn first;
    uint64_t pages; /* 0: there is none */
    bool managed;
    int64_t frames[MOST_PAGES]; /* of each page, or NOWHERE */
};

struct model {
    struct mosaic world;
    struct pw_random random;
    struct range ranges[MOSAIC_APPS][RANGES];
    uint64_t seed, step, refused;
};

static uint64_t below(struct model *m, uint64_t n)
{
    return pw_random_below(&m->random, n);
}

static void broken(const struct model *m, const char *what, uint64_t vpn)
{
    fail_msg("seed %llu, step %llu, page 0x%llx: %s", (unsigned long long)m->seed, (unsigned long long)m->step,
             (unsigned long long)vpn, what);
}

static uint64_t regions_of(const struct range *r)
{
    return (r->pages + MOSAIC_PAGES - 1) / MOSAIC_PAGES;
}

/* Compares the page table of a region with the model. Returns how many pages have another frame, which is noted. */
static uint64_t compare_region(struct model *m, pw_asid asid, struct range *r, uint64_t region)
{
    uint64_t moved = 0;
    for (uint64_t i = region * MOSAIC_PAGES; i < (region + 1) * MOSAIC_PAGES && i < r->pages; i++) {
        pw_vpn vpn = {r->first.v + i};
        pw_pfn frame = {0};
        bool mapped = pw_page_table_has_base(m->world.tables[asid], vpn, &frame);
        if (mapped != (r->frames[i] != NOWHERE))
            broken(m, mapped ? "is mapped but was freed" : "is not mapped", vpn.v);
        if (mapped && frame.v != r->frames[i]) {
            r->frames[i] = frame.v;
            moved++;
        }
    }
    return moved;
}

/* Compares everything with the model. No frame has two pages, and a frame that only a large mapping reaches has
 * none. */
static void compare_all(struct model *m)
{
    struct mosaic *w = &m->world;
    bool *used = calloc(pw_frames_total(w->physical.frames), sizeof *used);
    assert_non_null(used);
    for (int covered = 0; covered < 2; covered++)
        for (unsigned asid = 0; asid < MOSAIC_APPS; asid++)
            for (struct range *r = m->ranges[asid]; r < m->ranges[asid] + RANGES; r++)
                for (uint64_t i = 0; i < r->pages; i++) {
                    pw_vpn vpn = {r->first.v + i};
                    struct pw_translation t = pw_page_table_lookup(w->tables[asid], vpn);
                    bool mapped = r->frames[i] != NOWHERE;
                    if (mapped ? !t.present || t.frame.v != r->frames[i] : t.present && t.order != PW_PAGE_2M)
                        broken(m, "the page table has another frame", vpn.v);
                    if (!t.present || mapped == (covered == 1))
                        continue;
                    if (used[t.frame.v])
                        broken(m, "its frame belongs to somebody else", vpn.v);
                    used[t.frame.v] |= mapped;
                }
    free(used);
    for (unsigned asid = 0; asid < MOSAIC_APPS; asid++)
        for (struct range *r = m->ranges[asid]; r < m->ranges[asid] + RANGES; r++)
            for (uint64_t region = 0; region < regions_of(r); region++)
                if (compare_region(m, (pw_asid)asid, r, region))
                    broken(m, "a page of its region has moved", r->first.v + region * MOSAIC_PAGES);
    mosaic_check(w);
}

/* Frames that are free but part of a large page. */
static uint64_t free_in_large_pages(const struct model *m)
{
    uint64_t sum = 0;
    for (unsigned asid = 0; asid < MOSAIC_APPS; asid++)
        for (const struct range *r = m->ranges[asid]; r < m->ranges[asid] + RANGES; r++)
            for (uint64_t i = 0; i < regions_of(r); i++) {
                pw_vpn vpn = {r->first.v + i * MOSAIC_PAGES};
                if (mosaic_is_large(&m->world, (pw_asid)asid, vpn))
                    sum += MOSAIC_PAGES - pw_page_table_present(m->world.tables[asid], vpn);
            }
    return sum;
}

/* A page found no frame, or none for the page table above it: then all that is left is held by large pages, and nothing
 * where those are splintered in need. */
static void refused(struct model *m, pw_vpn vpn)
{
    enum { PAGE_AND_TABLES = 3 };
    uint64_t held = free_in_large_pages(m);
    if (pw_frames_free(m->world.physical.frames) >= held + PAGE_AND_TABLES)
        broken(m, "finds no frame though some are free", vpn.v);
    if (held && m->world.manager->compaction->makes_room)
        broken(m, "finds no frame though large pages could be splintered", vpn.v);
    m->refused++;
}

static void note_frame(struct model *m, pw_asid asid, struct range *r, uint64_t i)
{
    r->frames[i] = mosaic_frame(&m->world, asid, r->first.v + i).v;
    if (pw_frames_owner(m->world.physical.frames, (pw_pfn){(uint32_t)r->frames[i]}) != PW_OWNER_APP + asid)
        broken(m, "has a frame of somebody else", r->first.v + i);
}

/* Other pages of these have not moved. */
static void check_still(struct model *m, pw_asid asid, struct range *r, uint64_t from, uint64_t to)
{
    for (uint64_t region = from / MOSAIC_PAGES; region * MOSAIC_PAGES < to; region++)
        if (compare_region(m, asid, r, region))
            broken(m, "a page of its region has moved", r->first.v + region * MOSAIC_PAGES);
}

static void free_all(struct model *m, pw_asid asid, struct range *r)
{
    for (uint64_t i = 0; r->managed && i < r->pages; i++)
        if (r->frames[i] != NOWHERE)
            mosaic_evict(&m->world, asid, (pw_vpn){r->first.v + i});
    mosaic_free_all(&m->world, asid, r->first);
    r->pages = 0;
}

static void allocate(struct model *m, pw_asid asid, struct range *r)
{
    static const uint64_t sizes[] = {512, 512, 1024, 1536, 300, 700, 1, 40};
    uint64_t pages = sizes[below(m, sizeof sizes / sizeof *sizes)];
    r->managed = below(m, 3) == 0;
    r->pages = pages;
    for (uint64_t i = 0; i < pages; i++)
        r->frames[i] = NOWHERE;
    if (r->managed) {
        r->first = mosaic_reserve(&m->world, asid, pages);
    } else if (mosaic_try_allocate(&m->world, asid, pages, &r->first)) {
        for (uint64_t i = 0; i < pages; i++)
            note_frame(m, asid, r, i);
    } else {
        refused(m, r->first);
        free_all(m, asid, r);
    }
}

static void map_pages(struct model *m, pw_asid asid, struct range *r, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        if (r->frames[i] != NOWHERE)
            continue;
        if (!mosaic_map(&m->world, asid, (pw_vpn){r->first.v + i}, 1)) {
            refused(m, (pw_vpn){r->first.v + i});
            break;
        }
        note_frame(m, asid, r, i);
    }
    check_still(m, asid, r, from, to);
}

static void evict_page(struct model *m, pw_asid asid, struct range *r, uint64_t i)
{
    pw_vpn vpn = {r->first.v + i};
    if (r->frames[i] == NOWHERE)
        return;
    if (mosaic_evict(&m->world, asid, vpn).v != r->frames[i])
        broken(m, "leaves another frame", vpn.v);
    if (mosaic_is_large(&m->world, asid, vpn))
        broken(m, "has left, and its large page has not ended", vpn.v);
    r->frames[i] = NOWHERE;
    check_still(m, asid, r, i, i + 1);
}

/* What is left may move, and then is counted. */
static void free_pages(struct model *m, pw_asid asid, struct range *r, uint64_t from, uint64_t to)
{
    uint64_t before = mosaic_counters(&m->world, asid)->migrated, moved = 0;
    for (uint64_t i = from; i < to; i++)
        r->frames[i] = NOWHERE;
    mosaic_free(&m->world, asid, (pw_vpn){r->first.v + from}, to - from);
    for (uint64_t region = from / MOSAIC_PAGES; region * MOSAIC_PAGES < to; region++)
        moved += compare_region(m, asid, r, region);
    if (before + moved != mosaic_counters(&m->world, asid)->migrated)
        broken(m, "pages have moved that were not counted", r->first.v + from);
}

static void touch(struct model *m, pw_asid asid, const struct range *r, uint64_t i)
{
    pw_vpn vpn = {r->first.v + i};
    unsigned tlb = (unsigned)below(m, MOSAIC_TLBS);
    if (r->frames[i] == NOWHERE) {
        if (pw_page_table_lookup(m->world.tables[asid], vpn).present != mosaic_is_large(&m->world, asid, vpn))
            broken(m, "can be reached though it is not mapped", vpn.v);
        return;
    }
    if (mosaic_translate(&m->world, tlb, asid, vpn).v != r->frames[i])
        broken(m, "is translated to another frame", vpn.v);
    if (mosaic_has_large(&m->world, tlb, asid, vpn) && !mosaic_is_large(&m->world, asid, vpn))
        broken(m, "has a large entry though it is not large", vpn.v);
}

/* The application ends and starts over. */
static void start_over(struct model *m, pw_asid asid)
{
    pw_vpn first, outer;
    for (struct range *r = m->ranges[asid]; r < m->ranges[asid] + RANGES; r++) {
        if (r->pages && r->managed)
            free_all(m, asid, r);
        r->pages = 0;
    }
    pw_address_space_reset(&m->world.spaces[asid], &first, &outer);
    mosaic_forget(&m->world, asid, first, outer);
}

/* [*from, *to): some pages, all in one region, the rest of the range, or all of it. */
static void choose_part(struct model *m, const struct range *r, uint64_t *from, uint64_t *to)
{
    uint64_t at = below(m, r->pages), region = at / MOSAIC_PAGES * MOSAIC_PAGES, kind = below(m, 40);
    *from = kind == 0 ? 0 : kind < 4 ? region : at;
    *to = kind < 2 ? r->pages : kind < 4 ? region + MOSAIC_PAGES : at + 1 + below(m, kind < 10 ? 400 : 40);
    *to = *to < r->pages ? *to : r->pages;
}

static void one_step(struct model *m)
{
    pw_asid asid = (pw_asid)below(m, MOSAIC_APPS);
    struct range *r = &m->ranges[asid][below(m, RANGES)];
    uint64_t choice = below(m, 1000), from, to;
    if (!r->pages) {
        allocate(m, asid, r);
        return;
    }
    choose_part(m, r, &from, &to);
    if (choice < 900)
        touch(m, asid, r, below(m, r->pages));
    else if (choice < 965 && !r->managed)
        free_pages(m, asid, r, from, to);
    else if (choice < 955)
        map_pages(m, asid, r, from, to);
    else if (choice < 965)
        evict_page(m, asid, r, from);
    else if (choice < 970)
        pw_splinter(m->world.manager, asid, (pw_vpn){r->first.v + from});
    else if (choice < 974)
        pw_page_manager_make_room(m->world.manager, asid, below(m, 2));
    else if (choice < 997)
        free_all(m, asid, r);
    else
        start_over(m, asid);
}

/* What has happened in all worlds. */
struct done {
    uint64_t coalesced, splintered, migrated, compactions, emergencies, refused;
};

/* A world of its own size, threshold and way of copying; every fourth without compaction. */
static void run_world(uint64_t seed, struct done *done)
{
    struct model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->seed = seed;
    pw_random_init(&m->random, seed, "mosaic");
    m->world.blocks = 14 + below(m, 24);
    m->world.threshold = 1 + (uint32_t)below(m, 100);
    m->world.copy = (uint32_t)below(m, 3);
    m->world.compact = below(m, 4) ? NULL : "none";
    m->world.page.fragmentation = below(m, 2) ? (double)below(m, 101) : 0;
    m->world.page.occupancy = (double)below(m, 80);
    mosaic_open(&m->world);
    for (m->step = 0; m->step < STEPS; m->step++) {
        m->world.events->now++;
        one_step(m);
        if (m->step % CHECK_EVERY == 0)
            compare_all(m);
        m->world.shootdown_count = 0;
    }
    compare_all(m);
    done->refused += m->refused;
    for (unsigned asid = 0; asid < MOSAIC_APPS; asid++) {
        const struct pw_page_manager_counters *c = mosaic_counters(&m->world, (pw_asid)asid);
        done->coalesced += c->coalesced;
        done->splintered += c->splintered;
        done->migrated += c->migrated;
        done->compactions += c->compactions;
        done->emergencies += c->emergencies;
        start_over(m, (pw_asid)asid);
    }
    mosaic_close(&m->world);
    free(m);
}

static uint64_t first_seed = 1;

/* mosaic-sec5-protection, mosaic-sec43-stale-base-valid, mosaic-sec44-oom-avoid */
static void every_translation_is_the_models(void **state)
{
    (void)state;
    struct done done = {0};
    for (uint64_t i = 0; i < WORLDS; i++)
        run_world(first_seed + i, &done);
    print_message("%llu coalesced, %llu splintered, %llu moved, %llu frames emptied, %llu emergencies, %llu refused\n",
                  (unsigned long long)done.coalesced, (unsigned long long)done.splintered,
                  (unsigned long long)done.migrated, (unsigned long long)done.compactions,
                  (unsigned long long)done.emergencies, (unsigned long long)done.refused);
    assert_true(done.coalesced > 1000 && done.splintered > 1000 && done.migrated > 10000);
    assert_true(done.compactions > 100 && done.emergencies > 100 && done.refused > 100);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_translation_is_the_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
