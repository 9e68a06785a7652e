/* The binary tree over the 64 KiB leaves of a block (UVM, Sec. 3.3): a node of height h holds 2^h leaves, the root all
 * of the block. The tree is never stored: the valid size of a node is a count over the block's masks.
 *
 * Nodes of one height are visited from left to right by
 *     for (unsigned first = 0; first < tree_pages; first += size)
 * with `size` = PW_LEAF_PAGES << h; the last one of a tree that is no power of two is cut off at its end. */
#ifndef PW_PAGE_PAGE_TREE_H
#define PW_PAGE_PAGE_TREE_H

#include "page/page_mask.h"

/* The pages of the smallest full tree, 2^i leaves, that holds so many. */
static inline unsigned pw_tree_round(unsigned pages)
{
    unsigned size = PW_LEAF_PAGES;
    while (size < pages)
        size *= 2;
    return size;
}

static inline unsigned pw_tree_outer(unsigned first, unsigned size, unsigned tree_pages)
{
    return first + size < tree_pages ? first + size : tree_pages;
}

#endif
