/* Room for one more item in an array that doubles.
 *
 * Where a list's length is not known beforehand, its owner keeps the array, how many items are in it and for how many
 * there is room, and asks here before it adds one. The array doubles when it is full, so that n items cost O(n) however
 * they come; what lies behind the last item is not set. */
#ifndef PW_SIM_GROW_H
#define PW_SIM_GROW_H

#include <stddef.h>
#include <stdlib.h>

enum { PW_FIRST_CAPACITY = 16 };

/* The array of `count` items of `size` bytes each, or where it was moved to, with room for one more. NULL when memory
 * is out: the array and its capacity are then as they were. An array may begin as NULL with capacity 0. */
static inline void *pw_grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t larger = PW_FIRST_CAPACITY, bytes;
    if (*capacity && __builtin_mul_overflow(*capacity, 2, &larger))
        return NULL;
    if (__builtin_mul_overflow(larger, size, &bytes))
        return NULL;
    void *grown = realloc(items, bytes);
    if (grown)
        *capacity = larger;
    return grown;
}

#endif
