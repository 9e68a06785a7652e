/* The identity "every frame is owned once", of every GPU's memory. */
#include "vm/address_space.h"

struct ownership {
    const struct pw_physical_memory *physical; /* one of them; others' frames are not looked at */
    pw_owner owner;
    uint64_t pages;
    bool wrong;
};

static void check_mapping(void *context, pw_vpn vpn, pw_pfn frame, enum pw_page_order order)
{
    (void)vpn;
    struct ownership *o = context;
    if (!pw_physical_memory_has(o->physical, frame))
        return;
    for (uint32_t i = 0; i < 1U << order; i++)
        o->wrong |= pw_physical_owner(o->physical, (pw_pfn){frame.v + i}) != o->owner;
    o->pages += 1ULL << order;
}

static enum pw_status check_memory(const struct pw_address_space *spaces, unsigned count,
                                   const struct pw_physical_memory *physical, struct pw_error *err)
{
    const struct pw_frames *frames = physical->frames;
    uint64_t used = physical->fragment_pages;
    for (unsigned i = 0; i < count; i++) {
        struct ownership o = {.physical = physical, .owner = pw_address_space_owner(&spaces[i])};
        pw_page_table_each(spaces[i].table, check_mapping, &o);
        if (o.wrong)
            return pw_fail(err, PW_FAILED, "app%u maps a frame it does not own", i);
        used += o.pages + pw_page_table_node_bytes(spaces[i].table) / PW_PAGE_BYTES;
    }
    uint64_t taken = pw_frames_total(frames) - pw_frames_free(frames);
    if (used != taken)
        return pw_fail(err, PW_FAILED, "%llu frames are mapped, hold page tables or are fragmented, but %llu are taken",
                       (unsigned long long)used, (unsigned long long)taken);
    return pw_frames_check(frames, err);
}

enum pw_status pw_address_spaces_check(const struct pw_address_space *spaces, unsigned count, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (unsigned i = 0; status == PW_OK && i < pw_physical_memories(spaces[0].physical); i++)
        status = check_memory(spaces, count, pw_physical_memory_at(spaces[0].physical, i), err);
    return status;
}
