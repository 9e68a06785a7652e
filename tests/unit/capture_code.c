/* Machine code: branches of both forms, scoreboards, ways between two instructions, and images that are broken. */
#include "capture/code.h"
#include "machine_code.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A loop over instructions 2 to 5 with a load on scoreboard 2 at 3 and its use at 4; 1 skips the loop. */
static const struct instruction loop[] = {
    {OTHER, ALWAYS, 0, 0, 0}, {BRANCH, 0, 7, 0, 0},     {OTHER, ALWAYS, 0, 0, 0x21}, {OTHER, ALWAYS, 0, 2 + 1, 0},
    {OTHER, ALWAYS, 0, 0, 4}, {BRANCH, 8 | 0, 2, 0, 0}, {OTHER, ALWAYS, 0, 0, 0},    {EXIT_CODE, ALWAYS, 0, 0, 0},
};
enum { LOOP = sizeof loop / sizeof loop[0] };

static struct pw_code_function decode(const struct instruction *code, uint32_t count, int split)
{
    static uint8_t bytes[64 * 16];
    static struct pw_code_instruction instructions[64];
    encode(bytes, code, count, split);
    pw_code_decode(bytes, count + 1, instructions);
    return (struct pw_code_function){.instructions = instructions, .count = count + 1};
}

static void branches_of_both_forms_are_read(void **state)
{
    (void)state;
    for (int split = 0; split < 2; split++) {
        struct pw_code_function f = decode(loop, LOOP, split);
        for (uint32_t i = 0; i < LOOP; i++) {
            assert_int_equal(f.instructions[i].branches, i == 1 || i == 5);
            assert_int_equal(f.instructions[i].goes_on, i != 7);
            assert_int_equal(f.instructions[i].waits_for, loop[i].waits_for);
            assert_int_equal(f.instructions[i].scoreboard, i == 3 ? 2 : PW_CODE_NO_SCOREBOARD);
        }
        assert_int_equal(f.instructions[1].target, 7);
        assert_int_equal(f.instructions[5].target, 2);
    }
}

/* nvcc 13.0's loop of c[i] = a[i] + b[i] for sm_90: LDG, LDG, IADD3 x3, IMAD.WIDE x2, FADD, STG, IMAD.WIDE, @P0 BRA. */
static void compiled_code_is_read(void **state)
{
    (void)state;
    static const uint64_t words[] = {0x0000000406027981, 0x0000a8000c1e1900, 0x00000004080b7981, 0x0002a2000c1e1900,
                                     0xffffffff0a0a7810, 0x000fe40007ffe0ff, 0x0000000300037210, 0x000fe40007ffe0ff,
                                     0x000000ff0a00720c, 0x000fe20003f05270, 0x0000000400067825, 0x001fc800078e0206,
                                     0x0000000400087825, 0x002fc800078e0208, 0x0000000b020b7221, 0x004fca0000000000,
                                     0x0000000b04007986, 0x0001e4000c101904, 0x0000000400047825, 0x001fe200078e0204,
                                     0xfffffffc00d40947, 0x000fec000383ffff, 0xfffffffc00fc7947, 0x000fc0000383ffff};
    struct pw_code_instruction code[12];
    pw_code_decode((const uint8_t *)words, 12, code);
    assert_int_equal(code[0].scoreboard, 2);
    assert_int_equal(code[1].scoreboard, 2);
    assert_int_equal(code[7].waits_for, 4);
    static const uint8_t stalls[] = {4, 1, 2, 2, 1, 4, 4, 5, 2, 1, 6};
    for (uint32_t i = 0; i < 11; i++)
        assert_int_equal(code[i].stall, stalls[i]);
    assert_int_equal(code[8].operand_scoreboard, 0); /* of the store */
    assert_int_equal(code[2].operand_scoreboard, PW_CODE_NO_SCOREBOARD);
    assert_true(code[10].branches && code[10].goes_on);
    assert_int_equal(code[10].target, 0);
    assert_false(code[11].goes_on || code[11].branches);
    struct pw_code_function f = {.instructions = code, .count = 12};
    uint32_t scratch[24];
    struct pw_code_run runs[8];
    assert_int_equal(pw_code_way(&f, 8, 0, scratch, runs, 8, NULL), 1); /* from the store around to the first load */
    assert_int_equal(runs[0].instructions, 2);
    assert_int_equal(runs[0].waits_for, 1); /* for the store to have read its registers */
}

/* Some 240 instructions back, on sm_90, has the high part that a branch to itself had before. */
static void a_long_way_back_is_no_branch_to_itself(void **state)
{
    (void)state;
    enum { COUNT = 300, FROM = 290 };
    static uint64_t words[2 * COUNT];
    static struct pw_code_instruction code[COUNT];
    for (int i = 0; i < COUNT; i++)
        words[2 * i] = OTHER | ALWAYS << 12;
    words[2 * FROM] = 0xfffffff000388947;
    words[2 * (COUNT - 1)] = 0xfffffffc00fc7947;
    pw_code_decode((const uint8_t *)words, COUNT, code);
    assert_true(code[FROM].branches && code[FROM].goes_on);
    assert_int_equal(code[FROM].target, FROM + 1 - 242);
    assert_false(code[COUNT - 1].goes_on || code[COUNT - 1].branches);
}

/* Before a shuffle nvcc puts UMOV, IADD3 and BRA.DIV to code for lanes that are apart; the way leads on. */
static void lanes_together_go_on_behind_a_branch_for_those_apart(void **state)
{
    (void)state;
    static const uint64_t words[] = {0xffffffff00067882, 0x000fe20000000000, 0x0000000110167836, 0x000fe20000000000,
                                     0x0000000606047947, 0x000fea000b800000, 0x00001f16130d7589, 0x0002a800000e0000,
                                     0xfffffffc00fc7947, 0x000fc0000383ffff};
    struct pw_code_instruction code[5];
    pw_code_decode((const uint8_t *)words, 5, code);
    assert_true(code[2].goes_on);
    assert_false(code[4].goes_on);
    struct pw_code_function f = {.instructions = code, .count = 5};
    uint32_t scratch[10];
    struct pw_code_run runs[4];
    assert_int_equal(pw_code_way(&f, PW_CODE_ENTRY, 3, scratch, runs, 4, NULL), 1);
    assert_int_equal(runs[0].instructions, 3);
}

static uint32_t length(const struct pw_code_function *f, uint32_t from, uint32_t to)
{
    uint32_t scratch[128], sum = 0;
    struct pw_code_run runs[64];
    int count = pw_code_way(f, from, to, scratch, runs, 64, NULL);
    if (count < 0)
        return UINT32_MAX;
    for (int i = 0; i < count; i++)
        sum += runs[i].instructions;
    return sum;
}

static void ways_are_the_shortest(void **state)
{
    (void)state;
    struct pw_code_function f = decode(loop, LOOP, 1);
    assert_int_equal(length(&f, PW_CODE_ENTRY, 0), 0);
    assert_int_equal(length(&f, PW_CODE_ENTRY, 3), 3);
    assert_int_equal(length(&f, 3, 3), 3); /* once around: 4, 5, 2 */
    assert_int_equal(length(&f, 4, 3), 2);
    assert_int_equal(length(&f, 0, 7), 1); /* past the loop */
    assert_int_equal(length(&f, 3, 7), 3);
    assert_int_equal(length(&f, 7, 3), UINT32_MAX); /* nothing follows an exit */
    assert_int_equal(length(&f, 6, 2), UINT32_MAX);
    assert_int_equal(length(&f, 0, LOOP + 1), UINT32_MAX);
}

static void runs_begin_where_something_is_waited_for(void **state)
{
    (void)state;
    struct pw_code_function f = decode(loop, LOOP, 1);
    uint32_t scratch[128];
    struct pw_code_run runs[64];
    assert_int_equal(pw_code_way(&f, 3, 3, scratch, runs, 64, NULL), 2); /* 4 and 5, then 2 */
    assert_int_equal(runs[0].instructions, 2);
    assert_int_equal(runs[0].waits_for, 4);
    assert_int_equal(runs[1].instructions, 1);
    assert_int_equal(runs[1].waits_for, 0x21);
    assert_int_equal(pw_code_way(&f, 3, 3, scratch, runs, 1, NULL), 1); /* no room: counted all the same */
    assert_int_equal(runs[0].instructions, 3);
}

/* An image with one kernel, its attributes and its shared memory. */
struct image {
    Elf64_Ehdr header;
    Elf64_Shdr sections[6];
    char names[96];
    uint32_t info[6];
    uint8_t text[16 * (LOOP + 1)];
};

static struct image make_image(void)
{
    struct image m = {.info = {8 << 16 | 0x2f << 8 | 4, 8, 11, 8 << 16 | 0x2f << 8 | 4, 9, 26}};
    memcpy(m.names, "\0.text.k\0.nv.info\0.nv.shared.k\0.nv.shared.reserved.0\0.text.l", 61);
    memcpy(m.header.e_ident, ELFMAG, SELFMAG);
    m.header.e_ident[EI_CLASS] = ELFCLASS64;
    m.header.e_shoff = offsetof(struct image, sections);
    m.header.e_shentsize = sizeof(Elf64_Shdr);
    m.header.e_shnum = 6;
    m.header.e_shstrndx = 1;
    m.sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, names), .sh_size = 96};
    m.sections[2] = (Elf64_Shdr){.sh_name = 1,
                                 .sh_type = SHT_PROGBITS,
                                 .sh_offset = offsetof(struct image, text),
                                 .sh_size = sizeof m.text,
                                 .sh_info = 9};
    m.sections[3] =
        (Elf64_Shdr){.sh_name = 9, .sh_type = 0x70000000, .sh_offset = offsetof(struct image, info), .sh_size = 24};
    m.sections[4] = (Elf64_Shdr){.sh_name = 18, .sh_type = SHT_NOBITS, .sh_size = 1024 + 520};
    m.sections[5] = (Elf64_Shdr){.sh_name = 31, .sh_type = SHT_NOBITS};
    encode(m.text, loop, LOOP, 1);
    return m;
}

static void a_kernel_has_code_registers_and_shared_memory(void **state)
{
    (void)state;
    struct image m = make_image();
    struct pw_code code;
    struct pw_error err;
    assert_int_equal(pw_code_read(&m, sizeof m, NULL, NULL, &code, &err), PW_OK);
    assert_int_equal(code.count, 1);
    const struct pw_code_function *k = pw_code_find(&code, "k");
    assert_non_null(k);
    assert_null(pw_code_find(&code, "l"));
    assert_int_equal(k->count, LOOP + 1);
    assert_int_equal(k->registers, 26);
    assert_int_equal(k->shared_bytes, 520);
    assert_int_equal(k->instructions[5].target, 2);
    pw_code_free(&code);
    m.sections[5].sh_name = 0; /* before sm_90 */
    m.sections[2].sh_info = 40 << 24 | 7;
    assert_int_equal(pw_code_read(&m, sizeof m, NULL, NULL, &code, &err), PW_OK);
    assert_int_equal(code.functions[0].registers, 40);
    assert_int_equal(code.functions[0].shared_bytes, 1024 + 520);
    pw_code_free(&code);
}

static bool none(const void *context, const char *name)
{
    assert_string_equal(name, "k");
    return context != NULL;
}

static void kernels_that_are_not_wanted_are_left_out(void **state)
{
    (void)state;
    struct image m = make_image();
    struct pw_code code;
    struct pw_error err;
    assert_int_equal(pw_code_read(&m, sizeof m, none, NULL, &code, &err), PW_OK);
    assert_int_equal(code.count, 0);
    pw_code_free(&code);
    bool found = true;
    assert_int_equal(pw_code_scan(&m, sizeof m, none, NULL, &found, &err), PW_OK);
    assert_false(found);
    assert_int_equal(pw_code_scan(&m, sizeof m, none, &m, &found, &err), PW_OK);
    assert_true(found);
    assert_int_equal(pw_code_scan("no ELF", 6, none, NULL, &found, &err), PW_USER_ERROR);
}

/* As ptxas 13 encodes them for sm_90. Prefetches, fences and copies from global memory, which the API reports, are
 * none. */
static void copies_that_are_not_recorded_are_found(void **state)
{
    (void)state;
    static const struct {
        uint64_t low, high;
        bool unseen;
    } instructions[] = {{0x0000000c060075b4, 0x0003d80008008000, true},   /* UTMALDG */
                        {0x00000008060073b5, 0x0003e40008008000, true},   /* UTMASTG */
                        {0x00000008060073b6, 0x0003f40008008000, true},   /* UTMAREDG */
                        {0x000000080c0073ba, 0x0003e40008000404, true},   /* UBLKCP from shared memory */
                        {0x000000080c0073bb, 0x0003d80008000404, true},   /* UBLKRED */
                        {0x0000000c080073ba, 0x0003d8000800020a, false},  /* UBLKCP to shared memory */
                        {0x00000004060075b8, 0x0003e40008008000, false},  /* UTMAPF */
                        {0x00000000080073bc, 0x0003e20008000004, false},  /* UBLKPF */
                        {0x00000000000079b7, 0x0001e20000000000, false},  /* UTMACMDFLUSH */
                        {0x00000000060079b9, 0x0003e40008040000, false}}; /* UTMACCTL */
    struct pw_code code;
    struct pw_error err;
    struct image m = make_image();
    assert_int_equal(pw_code_read(&m, sizeof m, NULL, NULL, &code, &err), PW_OK);
    assert_false(code.functions[0].unseen_copies);
    pw_code_free(&code);
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        memcpy(m.text + 16, &instructions[i].low, 8);
        memcpy(m.text + 24, &instructions[i].high, 8);
        assert_int_equal(pw_code_read(&m, sizeof m, NULL, NULL, &code, &err), PW_OK);
        assert_int_equal(code.functions[0].unseen_copies, instructions[i].unseen);
        pw_code_free(&code);
    }
}

/* Libraries have modules with more sections than the header can number. */
static void the_first_section_may_say_how_many_there_are(void **state)
{
    (void)state;
    struct image m = make_image();
    struct pw_code code;
    struct pw_error err;
    m.header.e_shnum = 0;
    m.header.e_shstrndx = SHN_XINDEX;
    m.sections[0].sh_size = 6;
    m.sections[0].sh_link = 1;
    assert_int_equal(pw_code_read(&m, sizeof m, NULL, NULL, &code, &err), PW_OK);
    assert_int_equal(code.count, 1);
    pw_code_free(&code);
    m.sections[0].sh_size = UINT64_MAX / 64 + 2;
    assert_int_equal(pw_code_read(&m, sizeof m, NULL, NULL, &code, &err), PW_USER_ERROR);
    m.sections[0].sh_size = 6;
    m.sections[0].sh_link = 6;
    assert_int_equal(pw_code_read(&m, sizeof m, NULL, NULL, &code, &err), PW_USER_ERROR);
}

/* Whatever byte is wrong, and wherever the image ends: nothing is read that is not there (run under ASan). */
static void broken_images_do_no_harm(void **state)
{
    (void)state;
    struct image whole = make_image();
    struct pw_code code;
    struct pw_error err;
    for (size_t size = 0; size < sizeof whole; size += 3) {
        void *part = malloc(size ? size : 1);
        memcpy(part, &whole, size);
        if (!pw_code_read(part, size, NULL, NULL, &code, &err))
            pw_code_free(&code);
        free(part);
    }
    for (size_t at = 0; at < offsetof(struct image, info) * 8; at++) {
        struct image *m = malloc(sizeof *m);
        *m = whole;
        ((uint8_t *)m)[at / 8] ^= (uint8_t)(1U << at % 8);
        if (!pw_code_read(m, sizeof *m, NULL, NULL, &code, &err))
            pw_code_free(&code);
        free(m);
    }
    assert_int_equal(pw_code_read("no ELF", 6, NULL, NULL, &code, &err), PW_USER_ERROR);
    whole.header.e_shoff = sizeof whole;
    assert_int_equal(pw_code_read(&whole, sizeof whole, NULL, NULL, &code, &err), PW_USER_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_of_both_forms_are_read),
        cmocka_unit_test(compiled_code_is_read),
        cmocka_unit_test(a_long_way_back_is_no_branch_to_itself),
        cmocka_unit_test(lanes_together_go_on_behind_a_branch_for_those_apart),
        cmocka_unit_test(ways_are_the_shortest),
        cmocka_unit_test(runs_begin_where_something_is_waited_for),
        cmocka_unit_test(a_kernel_has_code_registers_and_shared_memory),
        cmocka_unit_test(kernels_that_are_not_wanted_are_left_out),
        cmocka_unit_test(copies_that_are_not_recorded_are_found),
        cmocka_unit_test(the_first_section_may_say_how_many_there_are),
        cmocka_unit_test(broken_images_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
