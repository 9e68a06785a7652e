/* Physical memory as frames: which are free, who owns which.
 *
 * Runs of 1, 16 or 512 frames (4 KiB, 64 KiB, 2 MiB), aligned to their size. A frame belongs to one owner at a time.
 * Finding the lowest free run of any of the three sizes takes a few steps whatever the size of memory: bitmaps of
 * bitmaps say which 2 MiB blocks have a free frame, a free 64 KiB run, or are free altogether. Which run to take is the
 * business of a frame policy (policy/frame/frame_policy.h). */
#ifndef PW_PAGE_FRAMES_H
#define PW_PAGE_FRAMES_H

#include "sim/status.h"
#include "sim/types.h"

struct pw_frames;

/* 0 is "free"; applications are 1 + asid; page tables of an application PW_OWNER_TABLE + asid; data that was there
 * before any application PW_OWNER_FRAGMENT. */
typedef uint16_t pw_owner;
enum { PW_OWNER_FREE = 0, PW_OWNER_APP = 1, PW_OWNER_TABLE = 0x4000, PW_OWNER_FRAGMENT = 0x7fff };

/* `bytes` is rounded down to whole 2 MiB blocks; at least one is needed. */
enum pw_status pw_frames_create(uint64_t bytes, struct pw_frames **out, struct pw_error *err);
void pw_frames_destroy(struct pw_frames *f);

/* The lowest free aligned run of 2^order frames at or above `from`. False when there is none. */
bool pw_frames_find(const struct pw_frames *f, enum pw_page_order order, pw_pfn from, pw_pfn *out);
/* Takes it. */
bool pw_frames_take(struct pw_frames *f, enum pw_page_order order, pw_pfn from, pw_owner owner, pw_pfn *out);
/* Takes the lowest free run of the 2 MiB block around `block`. */
bool pw_frames_take_in(struct pw_frames *f, enum pw_page_order order, pw_pfn block, pw_owner owner, pw_pfn *out);
/* Takes exactly this run; false when part of it is taken. */
bool pw_frames_take_at(struct pw_frames *f, enum pw_page_order order, pw_pfn at, pw_owner owner);
/* Gives a run back. Every frame of it must belong to `owner`: false (and nothing changes) otherwise. */
bool pw_frames_release(struct pw_frames *f, enum pw_page_order order, pw_pfn at, pw_owner owner);

pw_owner pw_frames_owner(const struct pw_frames *f, pw_pfn frame);
uint64_t pw_frames_total(const struct pw_frames *f);
uint64_t pw_frames_free(const struct pw_frames *f);
uint64_t pw_frames_free_blocks(const struct pw_frames *f); /* 2 MiB blocks that are free altogether */
/* Recounts everything from scratch and compares: for tests and end-of-run identities. */
enum pw_status pw_frames_check(const struct pw_frames *f, struct pw_error *err);

#endif
