/* A folder with a result store, and runs to put into it. */
#ifndef PW_TEST_STORE_FIXTURE_H
#define PW_TEST_STORE_FIXTURE_H

#include "exp/store/store.h"
#include "result_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STORE_OPTIONS                                                                                                  \
    "clock_mhz=1020\nl2.bytes=2MB\nl1_tlb.base_entries=128\nwalk.model=memory\nuvm.enabled=on\nl2_tlb.enabled=off\n"   \
    "threshold=0.25\napps.sms=20+10\ntiny=1e-05\nline=128B\nlabel=a=b\nempty=\n"

struct store_folder {
    char path[64], store[96], other[96];
};

static inline struct store_folder *store_folder_create(const char *name)
{
    struct store_folder *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    snprintf(f->path, sizeof f->path, "%s.XXXXXX", name);
    if (!mkdtemp(f->path)) {
        free(f);
        return NULL;
    }
    snprintf(f->store, sizeof f->store, "%s/a.db", f->path);
    snprintf(f->other, sizeof f->other, "%s/b", f->path);
    return f;
}

static inline void store_folder_destroy(struct store_folder *f)
{
    DIR *d = opendir(f->path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", f->path, e->d_name);
        if (unlink(path) != 0)
            (void)rmdir(path); /* and for "." and ".." neither does anything */
    }
    if (d)
        closedir(d);
    (void)rmdir(f->path);
    free(f);
}

/* A whole file, with a length; empty when it cannot be read. */
static inline struct pw_text store_bytes(const char *path)
{
    struct pw_text t = {0};
    char buffer[4096];
    FILE *file = fopen(path, "rb");
    pw_text_add(&t, "");
    for (size_t n; file && (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        pw_text_append(&t, buffer, n);
    if (file)
        fclose(file);
    return t;
}

static inline bool store_put(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = fwrite(bytes, 1, length, file) == length;
    return fclose(file) == 0 && written;
}

static inline bool store_same_bytes(const char *path, const struct pw_text *before)
{
    struct pw_text now = store_bytes(path);
    bool same = now.length == before->length && memcmp(now.bytes, before->bytes, now.length) == 0;
    pw_text_free(&now);
    return same;
}

/* The fixture's result under a seed. */
static inline enum pw_status store_add_seed(struct pw_store *s, uint64_t seed, int64_t *out_run, struct pw_error *err)
{
    struct result_fixture f;
    result_fixture_init(&f);
    f.result.seed = seed;
    f.metrics[1].integer = seed;
    return pw_store_add(s, &(struct pw_run_inputs){"0.1.0+abc", STORE_OPTIONS, "HS:side=64", seed}, &f.result, out_run,
                        err);
}

#endif
