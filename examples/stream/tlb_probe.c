/* What a TLB makes of a list of addresses: reads one address per line (0x… or decimal; "w" before it: a store) and
 * prints, for each design, where translations were found and how long they took.
 *
 *     seq 0 4096 1048576 | tlb_probe volta gpu-mmu mosaic
 *
 * Addresses are those of one warp, one lane each, as fast as the machine takes them. */
#include <pagewalk/stream.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct list {
    uint64_t *addresses;
    bool *writes;
    size_t count, capacity;
};

static bool add(struct list *l, uint64_t address, bool write)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 1024;
        uint64_t *addresses = realloc(l->addresses, capacity * sizeof *addresses);
        l->addresses = addresses ? addresses : l->addresses;
        bool *writes = realloc(l->writes, capacity * sizeof *writes);
        l->writes = writes ? writes : l->writes;
        if (!addresses || !writes)
            return false;
        l->capacity = capacity;
    }
    l->addresses[l->count] = address;
    l->writes[l->count++] = write;
    return true;
}

static bool read_list(FILE *in, struct list *l)
{
    char line[128];
    for (size_t number = 1; fgets(line, sizeof line, in); number++) {
        char *at = line, *end;
        bool write = *at == 'w';
        at += write;
        uint64_t address = strtoull(at, &end, 0);
        if (end == at || (*end != '\n' && (*end || !feof(in)))) {
            fprintf(stderr, "tlb_probe: line %zu is not an address\n", number);
            return false;
        }
        if (!add(l, address, write))
            return false;
    }
    return true;
}

struct sums {
    uint64_t levels[PW_STREAM_LEVEL_COUNT], count, cycles;
};

static void take(struct pw_stream *s, struct sums *sums)
{
    struct pw_stream_completion done;
    while (pw_stream_next(s, &done)) {
        sums->levels[done.level]++;
        sums->count++;
        sums->cycles += done.translated - done.issued;
    }
}

/* Pushes all addresses, waiting while there is no room. */
static enum pw_status push_all(struct pw_stream *s, const struct list *l, struct sums *sums, struct pw_error *err)
{
    const struct pw_stream_place place = {0};
    for (size_t i = 0; i < l->count;) {
        enum pw_stream_kind kind = l->writes[i] ? PW_STREAM_TRANSLATE_WRITE : PW_STREAM_TRANSLATE;
        enum pw_status status = pw_stream_access(s, place, kind, l->addresses[i], 1, i, err);
        i += status == PW_OK;
        if (status == PW_BUSY)
            status = pw_stream_wait(s, UINT64_MAX, err);
        if (status != PW_OK)
            return status;
        take(s, sums);
    }
    enum pw_status status = pw_stream_drain(s, err);
    take(s, sums);
    return status;
}

static enum pw_status probe(const char *machine, const char *design, const struct list *l, struct pw_error *err)
{
    struct pw_stream *s;
    struct sums sums = {0};
    enum pw_status status =
        pw_stream_open(&(struct pw_stream_spec){.machine = machine, .design = design, .map_on_touch = true}, &s, err);
    if (status != PW_OK)
        return status;
    status = push_all(s, l, &sums, err);
    uint64_t cycles = pw_stream_now(s);
    if (status == PW_OK)
        status = pw_stream_finish(s, NULL, err); /* checks that all counters agree */
    pw_stream_close(s);
    if (status != PW_OK)
        return status;
    printf("%-12s", design);
    for (int level = 0; level < PW_STREAM_LEVEL_COUNT; level++)
        printf(" %10" PRIu64, sums.levels[level]);
    printf(" %12.1f %10" PRIu64 "\n", sums.count ? (double)sums.cycles / (double)sums.count : 0, cycles);
    return PW_OK;
}

int main(int argc, char **argv)
{
    struct list l = {0};
    struct pw_error err;
    enum pw_status status = PW_OK;
    if (argc < 3) {
        fprintf(stderr, "usage: tlb_probe MACHINE DESIGN... < ADDRESSES\n");
        return PW_USER_ERROR;
    }
    if (!read_list(stdin, &l))
        status = PW_USER_ERROR;
    else
        printf("%-12s %10s %10s %10s %10s %12s %10s\n", "design", "L1 TLB", "L2 TLB", "walk", "far fault",
               "mean cycles", "cycles");
    for (int i = 2; i < argc && status == PW_OK; i++) {
        status = probe(argv[1], argv[i], &l, &err);
        if (status != PW_OK)
            fprintf(stderr, "tlb_probe: %s\n", err.message);
    }
    free(l.addresses);
    free(l.writes);
    return (int)status;
}
