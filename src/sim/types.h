/* The words every module speaks: time, addresses, pages and frames.
 *
 * Addresses and page numbers are one-member structs, so that handing a virtual page to something that wants a
 * frame does not compile. Numbers of pages and frames are always in units of 4 KiB, whatever the page size of the
 * mapping: a 2 MiB page is 512 consecutive page numbers mapped to 512 consecutive frames. */
#ifndef PW_SIM_TYPES_H
#define PW_SIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time in cycles of the GPU core clock. */
typedef uint64_t pw_cycle;
#define PW_NEVER UINT64_MAX

/* The address space (application) a request belongs to. */
typedef uint8_t pw_asid;
#define PW_MAX_APPS 64

/* Levels of a page table: 1 is the root, the last holds the entries of 4 KiB pages. */
enum { PW_TABLE_LEVELS = 4 };

typedef struct pw_vaddr {
    uint64_t v;
} pw_vaddr;

typedef struct pw_paddr {
    uint64_t v;
} pw_paddr;

/* Virtual page number: virtual address / 4 KiB. */
typedef struct pw_vpn {
    uint64_t v;
} pw_vpn;

/* Physical frame number: physical address / 4 KiB. Physical addresses are those of 2^32 lines, so it has 27 bits. */
typedef struct pw_pfn {
    uint32_t v;
} pw_pfn;

/* What a page may be used for. Page tables and TLBs keep what it may not be used for in the upper bits of the word that
 * holds its frame, where a frame number has none: a page that may be read and written has just its frame there. Words
 * of consecutive pages with the same permissions are consecutive as their frames are. */
enum { PW_MAY_READ = 1, PW_MAY_WRITE = 2, PW_MAY_ALL = PW_MAY_READ | PW_MAY_WRITE, PW_DENIED_SHIFT = 30 };

static inline pw_pfn pw_frame_word(pw_pfn frame, unsigned denied)
{
    return (pw_pfn){frame.v | denied << PW_DENIED_SHIFT};
}

static inline uint8_t pw_denied_of(pw_pfn word)
{
    return (uint8_t)(word.v >> PW_DENIED_SHIFT);
}

static inline pw_pfn pw_frame_of(pw_pfn word)
{
    return (pw_pfn){word.v & ((1U << PW_DENIED_SHIFT) - 1)};
}

enum { PW_PAGE_SHIFT = 12, PW_PAGE_BYTES = 1 << PW_PAGE_SHIFT, PW_LINE_SHIFT = 7, PW_LINE_BYTES = 1 << PW_LINE_SHIFT };

/* Page sizes are named by the number of 4 KiB pages they hold, as a power of two. */
enum pw_page_order { PW_PAGE_4K = 0, PW_PAGE_64K = 4, PW_PAGE_2M = 9 };

static inline pw_vpn pw_vpn_of(pw_vaddr a)
{
    return (pw_vpn){a.v >> PW_PAGE_SHIFT};
}

static inline pw_paddr pw_paddr_in(pw_pfn frame, pw_vaddr a)
{
    return (pw_paddr){((uint64_t)frame.v << PW_PAGE_SHIFT) | (a.v & (PW_PAGE_BYTES - 1))};
}

#endif
