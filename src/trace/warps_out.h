/* The operations of CTAs under way, coded as they come, until their CTA ends or becomes long.
 *
 * A warp has its coder and the segments that are not yet in a block. A CTA's pieces leave here as rows of segments in
 * order of warp and program (trace/blocks_out.h). A CTA that stays goes on with its coders; one that leaves to make
 * room begins with new ones when it comes again. */
#ifndef PW_TRACE_WARPS_OUT_H
#define PW_TRACE_WARPS_OUT_H

#include "sim/key_map.h"
#include "trace/blocks_out.h"
#include "trace/op_coder.h"

struct pw_warp_out;
struct pw_cta_out;

struct pw_warps_out {
    struct pw_key_map ctas;
    struct pw_cta_out *last;  /* the one asked for last */
    struct pw_warp_out *free; /* to be used again */
    uint32_t free_count;
    size_t bytes, most; /* of all CTAs under way */
    size_t piece_bytes; /* a CTA of this launch that has more is put into a block of its own */
    size_t most_piece;  /* the same, of any launch */
};

enum pw_status pw_warps_out_init(struct pw_warps_out *w, struct pw_error *err);
void pw_warps_out_release(struct pw_warps_out *w);

/* Before a launch of CTAs of so many warps. */
void pw_warps_out_begin(struct pw_warps_out *w, uint32_t warps);

/* Codes an operation. */
enum pw_status pw_warps_out_add(struct pw_warps_out *w, struct pw_blocks_out *blocks, uint32_t cta, uint32_t warp,
                                const struct pw_op *op, const uint64_t *words, struct pw_error *err);

/* Hands over all of a CTA, if it is under way, or of all of them. */
enum pw_status pw_warps_out_end(struct pw_warps_out *w, struct pw_blocks_out *blocks, uint32_t cta,
                                struct pw_error *err);
enum pw_status pw_warps_out_end_all(struct pw_warps_out *w, struct pw_blocks_out *blocks, struct pw_error *err);

#endif
