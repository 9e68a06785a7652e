/* What compression takes in hardware (TLB compression, Section 4.8): the base pairs with their counters. The entries
 * stay as wide as they were as long as the differences of `ratio` translations fit into one; where they do not, what
 * they lack is a cost too, and so is the register for uncompressible translations where no way is for these.
 *
 * An entry has two state bits, what is above the set's number of a page number, and a frame number (Figure 2); a
 * compressed translation has two state bits of its own and its two differences (Figure 9). The paper gives a counter
 * from 16 down four bits, so the value after the last is told from the first by other means; so it is here. The base's
 * address space number is not in the paper's pair, and is shown apart, as those of TLB entries are (system/cost.h);
 * compressed translations need none. Comparators are not counted. */
#include "policy/tlb/base_search.h"
#include "policy/tlb/compressed.h"

enum { STATE_BITS = 2 };

/* How an array is divided. */
struct widths {
    uint32_t sets, ways, compressed_ways, pairs;
    uint32_t tag, frame; /* bits in an uncompressed entry */
    uint32_t virtual_difference, physical_difference;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static struct widths widths_of(const struct compressed_options *o, const struct pw_cost_array *a)
{
    const struct pw_tlb_shape shape = {.entries = a->entries, .ways = a->ways};
    uint32_t sets = tlb_sets(&shape), compressed = compressed_ways(o, tlb_ways(&shape));
    uint32_t chosen = base_bits(sets - 1) + (a->subpages ? base_bits(a->subpages - 1) : 0);
    struct widths w = {.sets = sets, .ways = tlb_ways(&shape), .compressed_ways = compressed, .frame = a->frame_bits};
    w.pairs = compressed ? sets / compressed_sets_per_base(o, sets) : 0;
    w.tag = a->page_bits > chosen ? a->page_bits - chosen : 0;
    w.virtual_difference = least(o->virtual_bits, w.tag);
    w.physical_difference = least(o->physical_bits, w.frame);
    return w;
}

static uint64_t virtual_base_bits(const void *own, const struct pw_cost_machine *machine)
{
    struct widths w = widths_of(own, &machine->array);
    return w.tag - w.virtual_difference;
}

static uint64_t physical_base_bits(const void *own, const struct pw_cost_machine *machine)
{
    struct widths w = widths_of(own, &machine->array);
    return w.frame - w.physical_difference;
}

static uint64_t counter_bits(const void *own, const struct pw_cost_machine *machine)
{
    (void)machine;
    uint32_t counter = ((const struct compressed_options *)own)->counter;
    return counter > 1 ? base_bits(counter - 1) : counter;
}

static uint64_t asid_bits(const void *own, const struct pw_cost_machine *machine)
{
    (void)own;
    return machine->asid_bits;
}

static uint64_t pair_bits(const void *own, const struct pw_cost_machine *machine)
{
    return virtual_base_bits(own, machine) + physical_base_bits(own, machine) + counter_bits(own, machine);
}

static uint64_t entry_bits(const void *own, const struct pw_cost_machine *machine)
{
    struct widths w = widths_of(own, &machine->array);
    return w.tag + (uint64_t)machine->array.subpages * (STATE_BITS + w.frame);
}

static uint64_t compressed_entry_bits(const void *own, const struct pw_cost_machine *machine)
{
    struct widths w = widths_of(own, &machine->array);
    uint64_t each = (uint64_t)machine->array.subpages * (STATE_BITS + w.physical_difference);
    return ((const struct compressed_options *)own)->ratio * (w.virtual_difference + each);
}

/* All base pairs, what compressed entries lack, and the register where no way is uncompressed. */
static uint64_t storage_bits(const void *own, const struct pw_cost_machine *machine)
{
    struct widths w = widths_of(own, &machine->array);
    uint64_t is = compressed_entry_bits(own, machine), was = entry_bits(own, machine);
    uint64_t bits = w.pairs * pair_bits(own, machine);
    bits += is > was ? (is - was) * w.sets * w.compressed_ways : 0;
    return bits + (w.compressed_ways == w.ways ? was : 0);
}

const struct pw_policy_cost pw_tlb_compressed_cost[] = {
    {"virtual_base", "Of a base pair: the bits of its page numbers.", PW_COST_PART, 0, virtual_base_bits},
    {"physical_base", "Of a base pair: the bits of its frame numbers.", PW_COST_PART, 0, physical_base_bits},
    {"counter", "Of a base pair: its counter.", PW_COST_PART, 0, counter_bits},
    {"pair", "These three together.", PW_COST_PART, 0, pair_bits},
    {"address_space", "Of a base pair: its address space number, which is in no sum.", PW_COST_PART, 0, asid_bits},
    {"entry", "An uncompressed entry: state, page number above the set's, frame number.", PW_COST_PART, 0, entry_bits},
    {"compressed_entry", "The translations of a compressed entry.", PW_COST_PART, 0, compressed_entry_bits},
    {"storage",
     "All base pairs, what compressed entries lack of their width, and a register if all ways are compressed.",
     PW_COST_TLB, 0, storage_bits},
    {0}};
