/* Leases on runs, for processes that want the same ones: locks that die with their holders.
 *
 * Each run is one byte of a file beside the store, chosen by a hash of the run's inputs, and its holder locks that byte
 * through an open file description, so the kernel lets go of it however the holder ends. Leases save work and guard
 * nothing: two processes that do the same run add the same result. So where a file system knows no locks every lease is
 * granted, and the file may be removed at any time. It is empty. A link in its place is not followed, since it could
 * lead anywhere, and anything but an empty file is not removed. */
#ifndef PW_EXP_LEASE_H
#define PW_EXP_LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct pw_lease {
    int fd; /* holds it, in every process that has inherited it; -1: none is needed */
};

/* False when another process has the run. */
bool pw_lease_take(const char *store_path, uint64_t run_hash, struct pw_lease *out);
/* This process lets go. A child that inherited the lease still holds it. */
void pw_lease_drop(struct pw_lease *lease);
/* Removes the file. */
void pw_lease_tidy(const char *store_path);

#endif
