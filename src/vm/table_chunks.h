/* The memory of a page table's nodes. They are carved from chunks of frames that the frame policy gives; of several
 * GPUs each has a copy of every chunk, wherever its own policy puts it (vm/page_table.h). */
#ifndef PW_VM_TABLE_CHUNKS_H
#define PW_VM_TABLE_CHUNKS_H

#include "vm/page_table.h"

/* Gives a node its place. No memory for it is a user error. */
enum pw_status pw_table_place_node(struct pw_page_table *t, struct pw_table_arena *arena, pw_paddr *out,
                                   struct pw_error *err);
/* Of a chunk from which nodes of this arena are carved. */
enum pw_page_order pw_table_chunk_order(const struct pw_table_arena *arena);
/* Gives all frames back. */
void pw_table_release_chunks(struct pw_page_table *t);

#endif
