/* aes: AES-256 encryption of Hetero-Mark as MGPUSim has it, block by block (ECB), one thread a block of 16 bytes.
 *
 * Kept: one launch in CTAs of 64 threads, in place; the three arrays and their order: the text, the 15 round keys, the
 * S-box of 256 bytes; that round keys and S-box are read from global memory; 14 rounds of 16 lookups in the S-box, at
 * addresses that are the data, and one load of a round key. As compiled for GCN3, a thread loads and stores its block
 * with one access of 16 bytes, and loads a round key, the same for all threads, with one of 16 bytes. The first round
 * key is in flight with the block. The 16 lookups of a round, byte 0 to 15, are in flight together; first needed is
 * byte 0, then 5, 10 and 15, which become the first column. Then the round key is loaded, and used nine instructions
 * later.
 *
 * Simplified: the first round key goes through the L1 TLB and cache, where GCN3 loads it through a scalar cache.
 * A wavefront of 64 threads is two warps here. Instruction counts are those of MGPUSim's GCN3 code, waits left out,
 * with its scalar loads of arguments counted as arithmetic.
 *
 * Cut: size=gmmu-bypass has 7 rounds, for 14 take 169 million events at 64 MB. `rounds` below 14 ends with the final
 * round, which does not mix columns, and the round key that is next.
 *
 * On several GPUs MGPUSim distributes the text (driver.Distribute) and each GPU encrypts a consecutive part; every GPU
 * has round keys and an S-box of its own. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

#include <string.h>

enum { THREADS = 64, BLOCK = 16, ROUNDS = 14, KEY_WORDS = 8 };

struct parameters {
    uint64_t bytes;
    uint32_t rounds;
};

struct arguments {
    struct pw_array text, keys, sbox;
    uint32_t rounds;
};

/* Byte i of the blocks of a warp's threads. */
typedef uint8_t blocks[BLOCK][PW_WARP_LANES];

/* Times x in the field of 256 elements: modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, 4.2). */
static uint8_t doubled(uint8_t a)
{
    return (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
}

static uint8_t rotated(uint8_t a, unsigned bits)
{
    return (uint8_t)(a << bits | a >> (8 - bits));
}

/* The inverse in the field and an affine map (FIPS 197, 5.1.1). 3 generates the field's units, so that a runs through
 * all of them and b through their inverses. */
static void make_sbox(uint8_t sbox[256])
{
    uint8_t a = 1, b = 1;
    do {
        a = (uint8_t)(a ^ doubled(a));
        for (unsigned shift = 1; shift < 8; shift *= 2)
            b = (uint8_t)(b ^ b << shift);
        if (b & 0x80)
            b ^= 0x09;
        sbox[a] = (uint8_t)(b ^ rotated(b, 1) ^ rotated(b, 2) ^ rotated(b, 3) ^ rotated(b, 4) ^ 0x63);
    } while (a != 1);
    sbox[0] = 0x63;
}

static uint32_t substituted(uint32_t word, const uint8_t sbox[256])
{
    return (uint32_t)sbox[word >> 24] << 24 | (uint32_t)sbox[word >> 16 & 255] << 16 |
           (uint32_t)sbox[word >> 8 & 255] << 8 | sbox[word & 255];
}

/* The round keys of the key 0, 1, …, 31, MGPUSim's (FIPS 197, 5.2). */
static void expand_key(uint32_t words[4 * (ROUNDS + 1)], const uint8_t sbox[256])
{
    uint8_t constant = 1;
    for (uint32_t i = 0; i < KEY_WORDS; i++)
        words[i] = 0x00010203 + i * 0x04040404;
    for (uint32_t i = KEY_WORDS; i < 4 * (ROUNDS + 1); i++) {
        uint32_t word = words[i - 1];
        if (i % KEY_WORDS == 0) {
            word = substituted(word << 8 | word >> 24, sbox) ^ (uint32_t)constant << 24;
            constant = doubled(constant);
        } else if (i % KEY_WORDS == 4)
            word = substituted(word, sbox);
        words[i] = words[i - KEY_WORDS] ^ word;
    }
}

static void add_round_key(const uint32_t *words, uint32_t round, blocks state)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            state[i][lane] ^= (uint8_t)(words[4 * round + i / 4] >> (24 - i % 4 * 8));
}

static void sub_bytes(struct pw_warp *w, const struct arguments *g, uint32_t mask, blocks state)
{
    /* Instructions before the load of a byte: addresses of five at a time. */
    static const uint8_t addressing[BLOCK] = {[0] = 16, [5] = 14, [10] = 13, [15] = 3};
    const uint8_t *sbox = g->sbox.data;
    uint64_t index[PW_WARP_LANES] = {0};
    for (uint32_t i = 0; i < BLOCK; i++) {
        PW_FOR_LANES(lane, mask)
        index[lane] = state[i][lane];
        pw_compute(w, addressing[i]);
        pw_load_lanes(w, mask, &g->sbox, index);
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            state[i][lane] = sbox[state[i][lane]];
    }
    pw_compute(w, 2);
}

/* Row r of the block, bytes r, r + 4, …, turns left by r. */
static void shift_rows(blocks state)
{
    blocks from;
    memcpy(from, state, sizeof from);
    for (uint32_t i = 0; i < BLOCK; i++)
        memcpy(state[i], from[(i + i % 4 * 4) % BLOCK], sizeof state[i]);
}

static void mix_columns(blocks state)
{
    for (uint32_t column = 0; column < BLOCK; column += 4)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
            uint8_t a[4], all = 0;
            for (uint32_t r = 0; r < 4; r++)
                all ^= a[r] = state[column + r][lane];
            for (uint32_t r = 0; r < 4; r++)
                state[column + r][lane] = (uint8_t)(a[r] ^ all ^ doubled(a[r] ^ a[(r + 1) % 4]));
        }
}

static void load_round_key(struct pw_warp *w, const struct arguments *g, uint32_t mask, uint32_t round)
{
    pw_load_strided(w, mask, &g->keys, round, 0);
}

static void encrypt_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const uint32_t *keys = g->keys.data;
    uint64_t first = (uint64_t)w->cta_index * THREADS + pw_first_thread(w);
    uint8_t(*text)[BLOCK] = g->text.data;
    uint32_t mask = pw_lanes_below(w, first, g->text.count);
    blocks state = {{0}};
    if (!mask)
        return;
    pw_compute(w, 4);
    load_round_key(w, g, mask, 0);
    pw_compute(w, 9);
    pw_load_run(w, mask, &g->text, (int64_t)first);
    pw_use_all_but(w, 1);
    pw_compute(w, 21);
    pw_use(w);
    pw_compute(w, 22);
    PW_FOR_LANES(lane, mask)
    for (uint32_t i = 0; i < BLOCK; i++)
        state[i][lane] = text[first + lane][i];
    add_round_key(keys, 0, state);

    for (uint32_t round = 1; round < g->rounds; round++) {
        sub_bytes(w, g, mask, state);
        shift_rows(state);
        for (uint32_t byte = 0; byte < BLOCK; byte += 5) {
            pw_use_all_but(w, (uint8_t)(BLOCK - 1 - byte));
            pw_compute(w, byte < BLOCK - 1 ? 4 : 78 - 12);
        }
        mix_columns(state);
        load_round_key(w, g, mask, round);
        pw_compute(w, 9);
        pw_use(w);
        pw_compute(w, 61);
        add_round_key(keys, round, state);
    }
    sub_bytes(w, g, mask, state);
    shift_rows(state);
    pw_compute(w, 4);
    load_round_key(w, g, mask, g->rounds);
    pw_use(w);
    pw_compute(w, 32);
    add_round_key(keys, g->rounds, state);
    pw_store_run(w, mask, &g->text, (int64_t)first);
    PW_FOR_LANES(lane, mask)
    for (uint32_t i = 0; i < BLOCK; i++)
        text[first + lane][i] = state[i][lane];
}

/* The usual form for processors: four lookups of substituted, shifted and mixed words for each column. */
static void sequential(const struct arguments *g, uint32_t rounds, const uint8_t in[BLOCK], uint8_t out[BLOCK])
{
    const uint32_t *keys = g->keys.data;
    const uint8_t *sbox = g->sbox.data;
    uint32_t state[4], next[4];
    for (uint32_t c = 0; c < 4; c++)
        state[c] = keys[c] ^ ((uint32_t)in[4 * c] << 24 | (uint32_t)in[4 * c + 1] << 16 | (uint32_t)in[4 * c + 2] << 8 |
                              in[4 * c + 3]);
    for (uint32_t round = 1; round <= rounds; round++) {
        for (uint32_t c = 0; c < 4; c++) {
            next[c] = keys[4 * round + c];
            for (uint32_t r = 0; r < 4; r++) {
                uint8_t s = sbox[state[(c + r) % 4] >> (24 - 8 * r) & 255], two = doubled(s);
                uint32_t last = (uint32_t)s << 24,
                         mixed = (uint32_t)two << 24 | (uint32_t)s << 16 | (uint32_t)s << 8 | (uint32_t)(two ^ s);
                uint32_t word = round == rounds ? last : mixed;
                next[c] ^= r ? word >> 8 * r | word << (32 - 8 * r) : word;
            }
        }
        memcpy(state, next, sizeof state);
    }
    for (uint32_t i = 0; i < BLOCK; i++)
        out[i] = (uint8_t)(state[i / 4] >> (24 - i % 4 * 8));
}

/* Random bytes. */
static void plaintext(uint64_t seed, uint64_t block, uint8_t out[BLOCK])
{
    for (uint64_t i = 0; i < BLOCK; i++)
        out[i] = (uint8_t)(pw_hash(seed, 2 * block + i / 8) >> i % 8 * 8);
}

/* The example of FIPS 197, C.3, which has the same key, and every block of the text. */
static void verify(struct pw_host *h, const struct arguments *g, uint64_t seed)
{
    static const uint8_t example[BLOCK] = {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
                                           0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89};
    const uint8_t(*text)[BLOCK] = g->text.data;
    uint8_t in[BLOCK], out[BLOCK];
    uint64_t wrong = g->text.count;
    for (uint32_t i = 0; i < BLOCK; i++)
        in[i] = (uint8_t)(0x11 * i);
    sequential(g, ROUNDS, in, out);
    pw_host_expect(h, !memcmp(out, example, BLOCK), "the standard's example comes out wrong");
    for (uint64_t block = g->text.count; block-- > 0;) {
        plaintext(seed, block, in);
        sequential(g, g->rounds, in, out);
        if (memcmp(text[block], out, BLOCK) != 0)
            wrong = block;
    }
    pw_host_expect(h, wrong == g->text.count, "block %llu differs from the sequential encryption",
                   (unsigned long long)wrong);
}

static void aes_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t count = pw_host_scaled(h, p->bytes, BLOCK) / BLOCK;
    if (count > INT32_MAX / BLOCK)
        pw_host_fail(h, "at most 2 GB of text (the kernel's index has 32 bits)");
    struct arguments g = {.text = pw_alloc(h, "input", count, BLOCK),
                          .keys = pw_alloc(h, "expanded_key", ROUNDS + 1, BLOCK),
                          .sbox = pw_alloc(h, "s", 256, 1),
                          .rounds = p->rounds};
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t block = 0; block < count; block++)
        plaintext(seed, block, (uint8_t *)g.text.data + block * BLOCK);
    make_sbox(g.sbox.data);
    expand_key(g.keys.data, g.sbox.data);

    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "Encrypt",
                                     .grid = {(uint32_t)((count + THREADS - 1) / THREADS), 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .registers = 40,
                                     .kernel = encrypt_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g, seed);
    pw_free(h, &g.text);
    pw_free(h, &g.keys);
    pw_free(h, &g.sbox);
}

static const struct pw_option rows[] = {
    {"bytes", PW_OPTION_BYTES, offsetof(struct parameters, bytes), BLOCK, 0, "64MB", "bytes", NULL,
     "of the text; what is left beyond blocks of 16 is not encrypted", false},
    {"rounds", PW_OPTION_COUNT, offsetof(struct parameters, rounds), 1, ROUNDS, "14", "rounds", NULL,
     "rounds (14 in AES-256), of which each has 16 lookups", false},
    {0},
};

static const struct pw_preset presets[] = {{"gmmu-bypass", "bytes=64MB:rounds=7"}, {0}};

const struct pw_workload pw_workload_aes = {
    .name = "aes",
    .suite = "Hetero-Mark",
    .papers = "gmmu-bypass",
    .summary = "AES-256 encryption of a text in place, with the S-box in global memory",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = aes_main,
};
