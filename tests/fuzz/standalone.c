/* Runs the fuzz target without libFuzzer: seeded mutations of a small corpus, the same on every host.
 *
 * Usage: standalone ITERATIONS [SEED [FILE…]], where FILEs take the place of the corpus below, or standalone FILE to
 * repeat one input (a file that libFuzzer left behind).
 * Without coverage to guide it this finds less than libFuzzer, but it runs in every test run and under valgrind. */
#include "fuzz.h"
#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 4096, MUTATIONS = 8 };

static const char *const own_corpus[] = {
    "clock_mhz: 1132\nlabel: words\nl1_tlb:\n  entries: 128\n  latency: 45us\n  size: 512KB\n",
    "l1_tlb: {entries: 2k, latency: 10, threshold: 0.25, schedule: fcfs, enabled: off}\n",
    "l1_tlb.entries: 64\nl1_tlb.size: 1.5MB\nl1_tlb.latency: 0.5us\n",
    "l1_tlb.entries=64\nl1_tlb.size=3GB\nl1_tlb.latency=54.5us\nclock_mhz=1\nlabel=a=b\n",
    "l1_tlb.threshold=1e-3\nl1_tlb.schedule=address-space\nl1_tlb.enabled=yes\nl1_tlb.latency=1ms\n",
    "%YAML 1.1\n---\nlabel: \"a\\tb\\u00fc\"\n...\n",
    "label: >\n  folded\n  text\nclock_mhz: !!int \"7\"\n",
    "a: &x {b: 1}\nc: *x\nd: [1, 2]\n? complex\n: value\n",
    "{a: {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}}",
    "base: b\nl1_tlb.entries: 64\n@base: c\nlabel: x\n@summary: The last.\nassumed: All.\nl1_tlb.size: 1MB\n",
    "base: b\n@base: c\n@base: a\nclock_mhz: 7\n",
    "base: c\nl1_tlb.entries: 2\n@base: c\nl1_tlb.latency: 7\n@aliases: x y\nl1_tlb.entries: 4\n",
    "base: ./none.yaml\n@base: bb\n@base: \"a\\nb\"\n",
};

static const char *const words[] = {
    "l1_tlb",     ".",  ": ", "\n",  "\n  ", "=",    "{",    "}",    "entries",
    "latency",    "KB", "us", "ms",  "ns",   "TiB",  "-1",   "1e99", "nan",
    "4294967296", "0",  "&a", "*a",  "!!",   "[",    "]",    "\"",   "'",
    "\\0",        "#",  "|",  "---", "\xff", "\xc3", "\x01", "\t",   "18446744073709551616"};

enum { OWN_CORPUS = sizeof(own_corpus) / sizeof(*own_corpus), WORDS = sizeof(words) / sizeof(*words) };

struct corpus {
    const char *const *texts;
    size_t count;
};

struct input {
    char bytes[CAPACITY];
    size_t size;
};

static void insert(struct input *in, size_t at, const char *bytes, size_t size)
{
    if (in->size + size > CAPACITY)
        return;
    memmove(in->bytes + at + size, in->bytes + at, in->size - at);
    memcpy(in->bytes + at, bytes, size);
    in->size += size;
}

static void mutate(struct input *in, const struct corpus *corpus, struct pw_random *r)
{
    size_t at = pw_random_below(r, in->size + 1), left = in->size - at;
    const char *other = words[pw_random_below(r, WORDS)];
    size_t length = left ? pw_random_below(r, left < 32 ? left : 32) + 1 : 0;
    char copy[32];
    switch (pw_random_below(r, 6)) {
    case 0: /* another byte */
        if (left)
            in->bytes[at] = (char)pw_random_next(r);
        break;
    case 1: /* one bit */
        if (left)
            in->bytes[at] = (char)(in->bytes[at] ^ 1 << pw_random_below(r, 8));
        break;
    case 2: /* a word that means something */
        insert(in, at, other, strlen(other));
        break;
    case 3: /* a piece less */
        memmove(in->bytes + at, in->bytes + at + length, left - length);
        in->size -= length;
        break;
    case 4: /* a piece twice, elsewhere */
        memcpy(copy, in->bytes + at, length);
        insert(in, pw_random_below(r, in->size + 1), copy, length);
        break;
    case 5: /* a piece of another file */
        other = corpus->texts[pw_random_below(r, corpus->count)];
        length = strlen(other);
        at = pw_random_below(r, length);
        insert(in, pw_random_below(r, in->size + 1), other + at, pw_random_below(r, length - at) + 1);
        break;
    }
}

static size_t load(const char *path, uint8_t *bytes, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    size_t size = fread(bytes, 1, capacity, file);
    fclose(file);
    return size;
}

static int repeat(const char *path)
{
    static uint8_t bytes[2 << 20];
    return LLVMFuzzerTestOneInput(bytes, load(path, bytes, sizeof(bytes)));
}

static char *load_text(const char *path)
{
    uint8_t bytes[CAPACITY];
    char *text = strndup((const char *)bytes, load(path, bytes, sizeof(bytes)));
    if (!text)
        abort();
    return text;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s ITERATIONS [SEED [FILE...]] | FILE\n", argv[0]);
        return 2;
    }
    char *end;
    unsigned long iterations = strtoul(argv[1], &end, 10);
    if (*end)
        return repeat(argv[1]);
    struct corpus corpus = {own_corpus, OWN_CORPUS};
    if (argc > 3) {
        for (int i = 3; i < argc; i++)
            argv[i] = load_text(argv[i]);
        corpus = (struct corpus){(const char *const *)argv + 3, (size_t)argc - 3};
    }
    struct pw_random r;
    pw_random_init(&r, argc > 2 ? strtoul(argv[2], NULL, 10) : 1, "fuzz");
    for (unsigned long i = 0; i < iterations; i++) {
        struct input in;
        const char *seed = corpus.texts[i % corpus.count];
        in.size = strlen(seed);
        memcpy(in.bytes, seed, in.size);
        for (uint64_t n = i < corpus.count ? 0 : pw_random_below(&r, MUTATIONS) + 1; n > 0; n--)
            mutate(&in, &corpus, &r);
        LLVMFuzzerTestOneInput((const uint8_t *)in.bytes, in.size);
    }
    printf("%lu inputs\n", iterations);
    return 0;
}
