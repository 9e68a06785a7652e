/* Damaged result stores: nothing may crash or hang, and reading never changes the file.
 *
 * Seeded damage to a good store: bytes and bits anywhere or in the header, zeroed and exchanged pages, a cut end.
 * Whatever is still accepted is loaded and exported to the end, since damage may show only there. A broken promise ends
 * in abort(), as does a file that takes longer than any could.
 *
 * Usage: fuzz_store ITERATIONS [SEED] */
#include "sim/random.h"
#include "store_fixture.h"

#include <signal.h>
#include <unistd.h>

enum { PAGE = 4096, RUNS = 3, SECONDS_AT_MOST = 20 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void build(const char *path)
{
    struct pw_store *s;
    struct pw_error err;
    int64_t run;
    require(pw_store_open(path, PW_STORE_CREATE, &s, &err) == PW_OK);
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        require(store_add_seed(s, seed, &run, &err) == PW_OK);
    pw_store_close(s);
}

static void damage_once(struct pw_text *t, struct pw_random *r)
{
    size_t pages = t->length / PAGE, at = pw_random_below(r, t->length);
    char *a = t->bytes + pw_random_below(r, pages ? pages : 1) * PAGE;
    char *b = t->bytes + pw_random_below(r, pages ? pages : 1) * PAGE;
    char page[PAGE];
    switch (pw_random_below(r, 16)) {
    case 0: /* the header of the file */
        t->bytes[pw_random_below(r, t->length < 100 ? t->length : 100)] = (char)pw_random_next(r);
        break;
    case 1: /* a page that never reached the disk */
        if (pages)
            memset(a, 0, PAGE);
        break;
    case 2: /* pages in each other's place */
        if (pages) {
            memcpy(page, a, PAGE);
            memmove(a, b, PAGE);
            memcpy(b, page, PAGE);
        }
        break;
    case 3: /* a cut end */
        t->length = at + 1;
        break;
    case 4: /* the start of a page: its kind, its count of cells and where they are */
    case 5:
    case 6:
        if (pages)
            a[pw_random_below(r, 32)] = (char)pw_random_next(r);
        break;
    case 7:
    case 8:
    case 9:
        t->bytes[at] = (char)pw_random_next(r);
        break;
    default:
        t->bytes[at] = (char)(t->bytes[at] ^ 1 << pw_random_below(r, 8));
        break;
    }
}

static void check_status(enum pw_status status, const struct pw_error *err, const char *path)
{
    if (status == PW_OK)
        return;
    require(status == PW_USER_ERROR && err->status == status);
    require(!strncmp(err->message, path, strlen(path)) && !strpbrk(err->message, "\n\r\x1b"));
}

static enum pw_status swallow(void *context, const char *bytes, size_t length, struct pw_error *err)
{
    (void)err;
    require(memchr(bytes, '\0', length) == NULL);
    *(size_t *)context += length;
    return PW_OK;
}

static bool read_all(const char *path)
{
    struct pw_store *s;
    struct pw_error err = {0};
    enum pw_status status = pw_store_open(path, PW_STORE_READ, &s, &err);
    check_status(status, &err, path);
    if (status != PW_OK)
        return false;
    for (int64_t run = 1; run <= RUNS; run++) {
        struct pw_stored_run *stored;
        status = pw_store_load(s, run, &stored, &err);
        if (status != PW_FAILED) /* the run's number itself may have been hit */
            check_status(status, &err, path);
        pw_stored_run_free(stored);
    }
    size_t length = 0;
    int64_t found;
    double seconds;
    struct pw_run_inputs inputs = {"0.1.0+abc", STORE_OPTIONS, "HS:side=64", 1};
    check_status(pw_store_export_csv(s, NULL, swallow, &length, &err), &err, path);
    check_status(pw_store_export_json(s, NULL, swallow, &length, &err), &err, path);
    check_status(pw_store_find(s, &inputs, &found, &err), &err, path);
    check_status(pw_store_seconds(s, inputs.workload, &seconds, &err), &err, path);
    pw_store_close(s);
    return true;
}

/* Opening for writing changes nothing by itself: what is refused is not repaired, what is accepted needs no repair. */
static void open_to_write(const char *path)
{
    struct pw_store *s;
    struct pw_error err = {0};
    enum pw_status status = pw_store_open(path, PW_STORE_CREATE, &s, &err);
    check_status(status, &err, path);
    pw_store_close(s);
}

static unsigned files_in(const char *folder)
{
    unsigned count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

int main(int argc, char **argv)
{
    unsigned long iterations = argc > 1 ? strtoul(argv[1], NULL, 10) : 300, accepted = 0;
    struct pw_random r;
    struct store_folder *folder = store_folder_create("fuzz_store");
    require(folder);
    pw_random_init(&r, argc > 2 ? strtoul(argv[2], NULL, 10) : 1, "fuzz store");
    build(folder->store);
    require(read_all(folder->store));
    struct pw_text good = store_bytes(folder->store);
    for (unsigned long i = 0; i < iterations; i++) {
        struct pw_text bad = {0};
        pw_text_append(&bad, good.bytes, good.length);
        for (uint64_t n = pw_random_below(&r, 3) + 1; n > 0; n--)
            damage_once(&bad, &r);
        require(store_put(folder->store, bad.bytes, bad.length));
        alarm(SECONDS_AT_MOST); /* its signal ends the program */
        accepted += read_all(folder->store);
        require(store_same_bytes(folder->store, &bad));
        open_to_write(folder->store);
        require(store_same_bytes(folder->store, &bad));
        alarm(0);
        require(files_in(folder->path) == 1);
        pw_text_free(&bad);
    }
    pw_text_free(&good);
    store_folder_destroy(folder);
    printf("%lu damaged stores, of which %lu could still be read\n", iterations, accepted);
    return 0;
}
