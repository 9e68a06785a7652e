/* Instructions of Accel-Sim's traces, and the operations that they become: every kind of access in every way of writing
 * addresses, where a load is first used, barriers, copies and exits. */
#include "import_fixture.h"

#include "sim/random.h"

#define HEAD KERNEL_HEAD("(1,1,1)", "(32,1,1)")
#define EXIT "0ff0 ffffffff 0 EXIT 0 0 0 \n"
#define ADD "0010 ffffffff 1 R20 IADD3 1 R21 0 0 \n"
/* Loads and an instruction that takes some register. */
#define LOAD(register, name) "0100 ffffffff 1 " register " " name " 1 R2 4 1 0x10000 4 0 \n"
#define TAKE(registers) "0200 ffffffff 1 R30 FADD " registers " 0 0 \n"
#define BAR(mask, immediate) "0400 " mask " 0 BAR.SYNC.DEFER_BLOCKING 0 0 " immediate " \n"

static void what_lies_between_accesses_is_counted(void **state)
{
    (void)state;
    static const struct line_row rows[] = {
        {EXIT, "x"},
        {ADD ADD EXIT, "c2 x"},
        {ADD "0010 00000000 1 R20 IADD3 1 R21 0 0 \n" EXIT, "c2 x"},
        {"0010 ffffffff 1 R20 LDS 1 R21 4 1 0x10 4 0 \n" EXIT, "c1 x"},
        {"0010 ffffffff 0 STS.128 2 R21 R4 16 0 0x10 \n" EXIT, "c1 x"}, /* nobody reads its addresses */
        {"0010 ffffffff 1 R20 LDL.64 1 R1 8 1 0xfffc80 0 0 \n0020 ffffffff 0 STL 2 R1 R2 4 1 0xfffc80 0 0 \n" EXIT,
         "c2 x"},
        {"0010 ffffffff 1 R20 LDSM.16.M88.4 1 R1 2 1 0x0 16 0 \n0020 ffffffff 1 R3 ATOMS.ADD 2 R1 R2 4 1 0x0 4 0 "
         "\n" EXIT,
         "c2 x"},
        {"0010 ffffffff 1 R20 LDC 0 0 0 \n0020 ffffffff 0 BRA 0 0 0 \n" EXIT, "c2 x"},
        {"0010 ffffffff 0 LDG.E 1 R2 4 1 0x10000 4 0 \n" EXIT, L4 " x"},
        {"0010 00000000 1 R4 LDG.E 1 R2 4 1 0x0 0 0 \n0010 00000000 1 R4 LDG.E 1 R2 4 2 0x0 0 \n" EXIT, "c2 x"},
        {"0010 00000000 1 R4 LDG.E 1 R2 4 0 0 \n" EXIT, "c1 x"},
    };
    EXPECT_LINES(HEAD, rows);
}

static void the_last_exit_is_the_warps(void **state)
{
    (void)state;
    static const struct line_row rows[] = {
        {"0010 0000ffff 0 EXIT 0 0 0 \n" ADD EXIT, "c2 x"},
        {"0010 0000ffff 0 EXIT 0 0 0 \n0020 ffff0000 0 EXIT 0 0 0 \n", "c1 x"},
        {"0010 0000ffff 0 EXIT 0 0 0 \n" LOAD("R4", "LDG.E") EXIT, "c1 " L4 " x"},
        {ADD, "c1 x"},
        {"", ""},
    };
    EXPECT_LINES(HEAD, rows);
}

static void names_say_what_is_accessed(void **state)
{
    (void)state;
    static const struct {
        const char *result, *name, *sources, *op;
    } rows[] = {
        {"1 R4", "LDG", "1 R2", "l4"},
        {"1 R4", "LDG.E.SYS", "1 R2", "l4"},
        {"1 R4", "LDG.E.U8.CONSTANT", "1 R2", "l1"},
        {"1 R4", "LDG.E.S8", "1 R2", "l1"},
        {"1 R4", "LDG.E.U16", "1 R2", "l2"},
        {"1 R4", "LDG.E.S16.SYS", "1 R2", "l2"},
        {"1 R4", "LDG.E.64", "1 R2", "l8"},
        {"1 R4", "LDG.E.LTC128B.128.CONSTANT", "1 R2", "l16"},
        {"1 R4", "LD.E.64", "1 R2", "l8"},
        {"0", "STG.E.U8", "2 R2 R5", "s1"},
        {"0", "STG.E.128", "2 R2 R8", "s16"},
        {"0", "ST.E", "2 R2 R5", "s4"},
        {"1 R4", "ATOMG.E.ADD.STRONG.GPU", "2 R2 R5", "r4"},
        {"1 R4", "ATOM.E.CAS.64", "3 R2 R6 R8", "r8"},
        {"1 R255", "ATOMG.E.ADD.F64.RN", "2 R2 R6", "a8"},
        {"0", "ATOM.E.ADD", "2 R2 R5", "a4"},
        {"0", "RED.E.ADD.F32.FTZ.RN", "2 R2 R5", "a4"},
        {"0", "REDG.E.MAX.64", "2 R2 R6", "a8"},
        {"1 R4", "LDG.E.128.CONSTANT.STRONG.SYSTEM.WITH.A.LONG.NAME", "1 R2", "l16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char lines[256], ops[64];
        snprintf(lines, sizeof lines, "0010 ffffffff %s %s %s 4 1 0x10000 16 0 \n" EXIT, rows[i].result, rows[i].name,
                 rows[i].sources);
        snprintf(ops, sizeof ops, "%s:ffffffff:10000+16 x", rows[i].op);
        const struct line_row row = {lines, ops};
        expect_line_rows(HEAD, &row, 1);
    }
}

static void addresses_are_the_same_however_they_are_written(void **state)
{
    (void)state;
    static const struct line_row rows[] = {
        /* base and stride; the base is that of lane 0, which need not be active */
        {"0010 0000000f 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 \n", "l4:f:10000+4 x"},
        {"0010 0000000f 1 R4 LDG.E 1 R2 4 1 0x10000 -4 0 \n", "l4:f:10000-4 x"},
        {"0010 000000f0 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 \n", "l4:f0:fff0+4 x"},
        {"0010 80000000 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 \n", "l4:80000000:10000+0 x"},
        {"0010 00000003 1 R4 LDG.E 1 R2 4 1 0x10000 5000000000 0 \n", "l4:3:10000+5000000000 x"},
        /* one for each active lane */
        {"0010 0000000f 1 R4 LDG.E 1 R2 4 0 0x10000 0x10004 0x10008 0x000000000001000c 0 \n", "l4:f:10000+4 x"},
        {"0010 000000f0 1 R4 LDG.E 1 R2 4 0 0x10000 0x10004 0x10008 0x1000c 0 \n", "l4:f0:fff0+4 x"},
        {"0010 0000000f 1 R4 LDG.E 1 R2 4 0 0x10000 0x10004 0x10008 0x1000d 0 \n", "l4:f:10000,10004,10008,1000d x"},
        {"0010 80000000 1 R4 LDG.E 1 R2 4 0 0x10000 0 \n", "l4:80000000:10000+0 x"},
        {"0010 00000007 1 R4 LDG.E 1 R2 4 0 0xABCDEF 0x10008 0x10007 0 \n", "l4:7:abcdef,10008,10007 x"},
        /* differences between active lanes; a constant stride over lanes with gaps is one too */
        {"0010 00000055 1 R4 LDG.E 1 R2 4 2 0x10000 8 8 8 0 \n", "l4:55:10000+4 x"},
        {"0010 00000035 1 R4 LDG.E 1 R2 4 2 0x10000 8 8 4 0 \n", "l4:35:10000+4 x"},
        {"0010 00000055 1 R4 LDG.E 1 R2 4 2 0x10000 8 8 9 0 \n", "l4:55:10000,10008,10010,10019 x"},
        {"0010 00000005 1 R4 LDG.E 1 R2 4 2 0x10000 7 0 \n", "l4:5:10000,10007 x"},
        {"0010 00000005 1 R4 LDG.E 1 R2 4 2 0x10000 -8 0 \n", "l4:5:10000-4 x"},
        {"0010 00000100 1 R4 LDG.E 1 R2 4 2 0x10000 0 \n", "l4:100:10000+0 x"},
        {"0010 00000003 1 R4 LDG.E 1 R2 4 2 0x10000 123456789012 0 \n", "l4:3:10000+123456789012 x"},
    };
    EXPECT_LINES(HEAD, rows);
}

static void print_access(FILE *to, uint32_t mask, const uint64_t *address, unsigned mode)
{
    uint32_t count = pw_lane_count(mask);
    fprintf(to, "0010 %08x 1 R4 LDG.E 1 R2 4 %u", mask, mode);
    for (uint32_t i = 0; i < count; i++)
        if (mode == 0)
            fprintf(to, " 0x%016llx", (unsigned long long)address[i]);
        else if (i == 0)
            fprintf(to, " 0x%llx", (unsigned long long)address[0]);
        else if (mode == 2)
            fprintf(to, " %lld", (long long)(address[i] - address[i - 1]));
        else if (i == 1)
            fprintf(to, " %lld", (long long)(address[1] - address[0]));
    fprintf(to, "%s 0 \n", mode == 1 && count == 1 ? " 0" : "");
}

/* Every lane accesses what it did. */
static void expect_lanes(const struct pw_op *op, const uint64_t *words, uint32_t mask, const uint64_t *address)
{
    assert_int_equal(op->kind, PW_OP_LOAD);
    assert_int_equal(op->count_or_mask, mask);
    for (uint32_t at = 0, left = mask; left; left &= left - 1, at++)
        assert_int_equal(op->form == PW_FORM_AFFINE ? words[0] + (uint32_t)__builtin_ctz(left) * words[1] : words[at],
                         address[at]);
}

static void random_addresses_come_back_in_every_mode(void **state)
{
    (void)state;
    enum { ACCESSES = 3000 };
    static struct {
        uint32_t mask;
        bool run, constant;
        uint64_t address[32];
    } model[ACCESSES];
    struct pw_random r;
    pw_random_init(&r, 21, "modes");
    char *text;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    fprintf(to, "%s\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %d\n", HEAD, 2 * ACCESSES);
    for (size_t i = 0; i < ACCESSES; i++) {
        uint32_t mask = (uint32_t)pw_random_next(&r);
        if (pw_random_below(&r, 2))
            mask = PW_ALL_LANES >> pw_random_below(&r, 32) << pw_random_below(&r, 32);
        model[i].mask = mask ? mask : 1;
        uint32_t run = model[i].mask >> __builtin_ctz(model[i].mask);
        model[i].run = !(run & (run + 1));
        model[i].constant = pw_random_below(&r, 2);
        int64_t stride = (int64_t)pw_random_below(&r, 1 << 20) - (1 << 19);
        uint64_t base = 0x7f0000000000 + pw_random_below(&r, 1ULL << 36);
        uint32_t lanes[32], count = 0;
        for (uint32_t left = model[i].mask; left; left &= left - 1)
            lanes[count++] = (uint32_t)__builtin_ctz(left);
        for (uint32_t k = 0; k < count; k++)
            model[i].address[k] = model[i].constant ? base + lanes[k] * (uint64_t)stride
                                                    : base + pw_random_below(&r, 1ULL << pw_random_below(&r, 33));
        print_access(to, model[i].mask, model[i].address, 0);
        print_access(to, model[i].mask, model[i].address, model[i].run && model[i].constant ? 1 : 2);
    }
    fprintf(to, "#END_TB\n");
    fclose(to);
    struct pw_trace *t = import_text("kernel.traceg", text);
    struct pw_trace_launch *l;
    struct pw_error err;
    assert_int_equal(pw_trace_launch_open(t, 0, &l, &err), PW_OK);
    struct pw_trace_cursor c;
    pw_trace_cursor_start(&c, l, 0, 0);
    for (size_t i = 0; i < ACCESSES; i++) {
        struct pw_op op[2];
        uint64_t words[2][PW_WARP_LANES];
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(pw_trace_cursor_next(&c, &op[k], words[k], &err), PW_TRACE_STEP_OP);
            expect_lanes(&op[k], words[k], model[i].mask, model[i].address);
        }
        assert_int_equal(op[0].form, op[1].form);
        if (model[i].constant)
            assert_int_equal(op[0].form, PW_FORM_AFFINE);
        assert_memory_equal(words[0], words[1], 8 * (pw_op_words(op[0]) - 1));
    }
    pw_trace_launch_close(l);
    pw_trace_close(t);
    free(text);
}

static void a_load_is_waited_for_where_it_is_first_used(void **state)
{
    (void)state;
    static const struct line_row rows[] = {
        {LOAD("R4", "LDG.E") ADD TAKE("1 R4") ADD EXIT, L4 " c1 c2<0 x"},
        {LOAD("R4", "LDG.E") TAKE("1 R4") TAKE("1 R4") EXIT, L4 " c2<0 x"},
        {LOAD("R4", "LDG.E") TAKE("1 R5") EXIT, L4 " c1 x"},
        /* all but the younger ones */
        {LOAD("R4", "LDG.E") LOAD("R5", "LDG.E") TAKE("1 R4") TAKE("1 R5") EXIT, L4 " " L4 " c1<1 c1<0 x"},
        {LOAD("R4", "LDG.E") LOAD("R5", "LDG.E") TAKE("1 R5") TAKE("1 R4") EXIT, L4 " " L4 " c2<0 x"},
        {LOAD("R4", "LDG.E") LOAD("R5", "LDG.E") LOAD("R6", "LDG.E") TAKE("2 R4 R5") EXIT, L4 " " L4 " " L4 " c1<1 x"},
        {LOAD("R4", "LDG.E") LOAD("R5", "LDG.E") TAKE("4 R8 R9 R10 R4") EXIT, L4 " " L4 " c1<1 x"},
        /* an access that takes it, or fills it again */
        {LOAD("R2", "LDG.E") LOAD("R4", "LDG.E") EXIT, L4 " " L4 "<0 x"},
        {LOAD("R3", "LDG.E") LOAD("R4", "LDG.E") EXIT, L4 " " L4 "<0 x"}, /* the address's upper half */
        {LOAD("R4", "LDG.E") LOAD("R4", "LDG.E") TAKE("1 R4") EXIT, L4 " " L4 "<0 c1<0 x"},
        {LOAD("R4", "LDG.E") "0300 ffffffff 1 R4 MOV 1 R9 0 0 \n" TAKE("1 R4") EXIT, L4 " c2<0 x"},
        {LOAD("R4", "LDG.E") "0300 ffffffff 0 STG.E 2 R8 R4 4 1 0x10000 4 0 \n" EXIT, L4 " s4:ffffffff:10000+4<0 x"},
        {LOAD("R11", "LDG.E") "0300 ffffffff 0 STG.E.128 2 R6 R8 16 1 0x10000 16 0 \n" EXIT,
         L4 " s16:ffffffff:10000+16<0 x"},
        {LOAD("R12", "LDG.E") "0300 ffffffff 0 STG.E.128 2 R6 R8 16 1 0x10000 16 0 \n" EXIT,
         L4 " s16:ffffffff:10000+16 x"},
        {LOAD("R4", "LDG.E") "0300 ffffffff 0 STS 2 R8 R4 4 1 0x0 4 0 \n" EXIT, L4 " c1<0 x"},
        /* as many registers as the name says */
        {LOAD("R4", "LDG.E.64") TAKE("1 R5") EXIT, "l8:ffffffff:10000+4 c1<0 x"},
        {LOAD("R4", "LDG.E.64") TAKE("1 R6") EXIT, "l8:ffffffff:10000+4 c1 x"},
        {LOAD("R4", "LDG.E.128") TAKE("1 R7") EXIT, "l16:ffffffff:10000+4 c1<0 x"},
        {LOAD("R4", "LDG.E.128") TAKE("1 R8") EXIT, "l16:ffffffff:10000+4 c1 x"},
        {LOAD("R4", "LDG.E.U8") TAKE("1 R5") EXIT, "l1:ffffffff:10000+4 c1 x"},
        {LOAD("R5", "LDG.E") "0300 ffffffff 1 R20 DADD 2 R4 R8 0 0 \n" EXIT, L4 " c1<0 x"},
        {LOAD("R5", "LDG.E") "0300 ffffffff 1 R20 IMAD.WIDE 3 R8 R9 R4 0 0 \n" EXIT, L4 " c1<0 x"},
        {LOAD("R5", "LDG.E") "0300 ffffffff 1 R4 IMAD.WIDE 2 R8 R9 0 0 \n" EXIT, L4 " c1<0 x"},
        {LOAD("R7", "LDG.E") "0300 ffffffff 1 R20 HMMA.16816.F32 3 R4 R8 R12 0 0 \n" EXIT, L4 " c1<0 x"},
        {LOAD("R7", "LDG.E") "0300 ffffffff 1 R20 HMMA.1688.F32 3 R4 R8 R12 0 0 \n" EXIT, L4 " c1 x"},
        /* RZ is nothing to wait for */
        {LOAD("R255", "LDG.E") TAKE("1 R255") EXIT, L4 " c1 x"},
        {LOAD("R254", "LDG.E.64") TAKE("2 R255 R0") EXIT, "l8:ffffffff:10000+4 c1 x"},
        /* an atomic that returns is a load, one that does not is none, and a store is none */
        {"0300 ffffffff 1 R4 ATOMG.E.ADD 2 R8 R9 4 1 0x10000 4 0 \n" TAKE("1 R4") EXIT, "r4:ffffffff:10000+4 c1<0 x"},
        {LOAD("R4", "LDG.E") "0300 ffffffff 0 RED.E.ADD 2 R8 R9 4 1 0x10000 4 0 \n" TAKE("1 R4") EXIT,
         L4 " a4:ffffffff:10000+4 c1<0 x"},
        {LOAD("R4", "LDG.E") "0300 ffffffff 0 STG.E 2 R8 R9 4 1 0x10000 4 0 \n" TAKE("1 R4") EXIT,
         L4 " s4:ffffffff:10000+4 c1<0 x"},
        /* one that no lane does fills nothing, and waits nevertheless */
        {"0300 00000000 1 R4 LDG.E 1 R2 4 1 0x0 0 0 \n" TAKE("1 R4") EXIT, "c2 x"},
        {LOAD("R4", "LDG.E") "0300 00000000 1 R20 FADD 1 R4 0 0 \n" EXIT, L4 " c1<0 x"},
        {LOAD("R4", "LDG.E") "0300 ffffffff 0 BAR.SYNC 1 R4 0 0 \n" EXIT, L4 " b<0 x"},
    };
    EXPECT_LINES(HEAD, rows);
}

/* Lines that were read before are known again. */
static void lines_that_begin_alike_are_told_apart(void **state)
{
    (void)state;
#define LONG "0600 ffffffff 1 R30 HMMA.16816.F32.WITH.A.NAME.THAT.DOES.NOT.END.SOON 3 "
    static const struct line_row rows[] = {
        {TAKE("1 R44") LOAD("R4", "LDG.E") TAKE("1 R44") TAKE("1 R4") TAKE("1 R44") EXIT, "c1 " L4 " c1 c2<0 x"},
        {"0030 ffffffff 0 BRA 0\n" LOAD("R4", "LDG.E") "0030 ffffffff 0 BRA 0\n0030 ffffffff 0 BRA 01 R4 0\n" EXIT,
         "c1 " L4 " c1 c1<0 x"},
        {LOAD("R4", "LDG.E") LONG "R20 R30 R40 0 0\n" LONG "R20 R30 R4 0 0\n" EXIT, L4 " c1 c1<0 x"},
        {"0010 0000000f 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 \n0010 0000000f 1 R4 LDG.E 1 R2 4 1 0x20000 4 0 \n"
         "0010 0000000f 1 R4 LDG.E.64 1 R2 4 1 0x20000 4 0 \n0010 00000007 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 \n" EXIT,
         "l4:f:10000+4 l4:f:20000+4<0 l8:f:20000+4<0 l4:7:10000+4<0 x"},
        {BAR("ffffffff", "0") BAR("ffffffff", "1") BAR("ffffffff", "0") EXIT, "b c1 b x"},
    };
    EXPECT_LINES(HEAD, rows);
}

static void more_than_254_younger_loads_are_254(void **state)
{
    (void)state;
    char *lines, *expected;
    size_t bytes;
    FILE *to = open_memstream(&lines, &bytes);
    fputs(LOAD("R4", "LDG.E"), to);
    for (int i = 0; i < 300; i++)
        fputs("0100 ffffffff 1 R255 LDG.E 1 R2 4 1 0x10000 4 0 \n", to);
    fputs(TAKE("1 R4"), to);
    fclose(to);
    to = open_memstream(&expected, &bytes);
    for (int i = 0; i < 301; i++)
        fputs(L4 " ", to);
    fputs("c1<254 x", to);
    fclose(to);
    const struct line_row row = {lines, expected};
    expect_line_rows(HEAD, &row, 1);
    free(lines);
    free(expected);
}

static void a_barrier_takes_all_lanes_of_a_warp(void **state)
{
    (void)state;
    static const struct line_row rows[] = {
        {ADD BAR("ffffffff", "0") ADD EXIT, "c1 b c1 x"},
        {"0400 ffffffff 1 R3 BAR.RED.POPC 0 0 0 \n" EXIT, "b x"},
        {"0400 ffffffff 0 BAR.SYNC 0 0 \n" EXIT, "b x"}, /* before version 5 there is no immediate */
        {"0400 ffffffff 0 BAR.ARV 0 0 0 \n" EXIT, "c1 x"},
        {BAR("ffffffff", "1") BAR("ffffffff", "64") EXIT, "c2 x"},
        {BAR("00000000", "0") EXIT, "c1 x"},
        /* one part after the other */
        {BAR("0000ffff", "0") ADD BAR("ffff0000", "0") EXIT, "c2 b x"},
        {BAR("0000ffff", "0") BAR("0000ffff", "0") BAR("ffff0000", "0") BAR("ffffffff", "0") EXIT, "c2 b b x"},
        /* lanes that come once more have left the barrier before, so the others have not come to this one */
        {BAR("0000ffff", "0") BAR("000000ff", "0") BAR("ffff0000", "0") BAR("0000ff00", "0") EXIT, "c3 b x"},
        /* those that have left are not waited for */
        {"0010 0000ffff 0 EXIT 0 0 0 \n" BAR("ffff0000", "0") "0ff0 ffff0000 0 EXIT 0 0 0 \n", "c1 b x"},
    };
    EXPECT_LINES(HEAD, rows);
    static const struct line_row half[] = {{BAR("0000ffff", "0") "0ff0 0000ffff 0 EXIT 0 0 0 \n", "b x"}};
    EXPECT_LINES(KERNEL_HEAD("(1,1,1)", "(16,1,1)"), half);
    static const struct line_row pascal[] = {{BAR("0000ffff", "0") BAR("ffff0000", "0") EXIT, "b b x"}};
    EXPECT_LINES("-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-binary version = 61\n-accelsim tracer version = 5\n"
                 "-kernel name = k\n",
                 pascal);
}

#define COPY(mask, address) "0500 " mask " 0 LDGSTS.E.128 2 R40 R42 16 1 " address " 16 0 \n"
#define BOTH COPY("ffffffff", "0x400") COPY("ffffffff", "0x10000000")
#define L16 "l16:ffffffff:10000000+16"
#define COMMIT "0510 ffffffff 0 LDGDEPBAR 0 0 0 \n"
#define DEPBAR(groups) "0520 ffffffff 0 DEPBAR.LE 0 0 " groups " \n"

static void copies_to_shared_memory_are_loads(void **state)
{
    (void)state;
    static const struct line_row rows[] = {
        {BOTH EXIT, L16 " x"},
        {ADD BOTH BOTH EXIT, "c1 " L16 " " L16 " x"},
        {COPY("ffffffff", "0x400") EXIT, "c1 x"},
        {COPY("ffffffff", "0x10000000") EXIT, "l16:ffffffff:10000000+16 x"},
        {COPY("ffffffff", "0x7f3ff0000400") COPY("ffffffff", "0x10000000") EXIT, "l16:ffffffff:10000000+16 x"},
        {COPY("ffffffff", "0x400") COPY("0000ffff", "0x10000000") EXIT, "c1 l16:ffff:10000000+16 x"},
        {COPY("ffffffff", "0x400") ADD COPY("ffffffff", "0x10000000") EXIT, "c2 l16:ffffffff:10000000+16 x"},
        {COPY("00000000", "0x0") COPY("00000000", "0x0") EXIT, "c1 x"},
        {BOTH COMMIT BOTH COMMIT DEPBAR("1") ADD DEPBAR("0") EXIT, L16 " c1 " L16 " c1 c2<1 c1<0 x"},
        {BOTH COMMIT DEPBAR("1") DEPBAR("0") EXIT, L16 " c2 c1<0 x"},
        {COPY("ffffffff", "0x400") "0510 ffffffff 0 LDGSTS.E.128 2 R40 R42 16 1 0x10000000 16 0 \n" EXIT,
         "c1 " L16 " x"},
        {BOTH DEPBAR("0") EXIT, L16 " c1 x"}, /* no group was ended: a wait for something else */
        {LOAD("R4", "LDG.E") BOTH COMMIT LOAD("R5", "LDG.E") DEPBAR("0") TAKE("1 R4") TAKE("1 R5") EXIT,
         L4 " " L16 " c1 " L4 " c2<1 c1<0 x"},
    };
    EXPECT_LINES(HEAD, rows);
}

static void generic_addresses_are_resolved_by_the_windows(void **state)
{
    (void)state;
#define GENERIC(name, address) "0010 ffffffff 1 R4 " name " 1 R2 4 1 " address " 4 0 \n" EXIT
    static const struct line_row rows[] = {
        {GENERIC("LD.E", "0x7f3ff0000000"), "c1 x"},
        {GENERIC("LD.E", "0x7f3ff0ffff00"), "c1 x"},
        {GENERIC("LD.E", "0x7f3ff1000000"), "l4:ffffffff:7f3ff1000000+4 x"},
        {GENERIC("LD.E", "0x7f3ff2000000"), "c1 x"},
        {GENERIC("LD.E", "0x7f3ff2ffff00"), "c1 x"},
        {GENERIC("LD.E", "0x7f3ff3000000"), "l4:ffffffff:7f3ff3000000+4 x"},
        {GENERIC("LD.E", "0x7f3fefffff00"), "l4:ffffffff:7f3fefffff00+4 x"},
        {GENERIC("LD.E", "0x10000"), L4 " x"},
        {GENERIC("LDG.E", "0x7f3ff0000000"), "l4:ffffffff:7f3ff0000000+4 x"},
        {GENERIC("ATOM.E.ADD", "0x7f3ff0000000"), "c1 x"},
        {GENERIC("RED.E.ADD", "0x7f3ff0000000"), "c1 x"},
        {"0010 ffffffff 0 ST.E 2 R2 R4 4 1 0x7f3ff2000000 0 0 \n" EXIT, "c1 x"},
    };
    EXPECT_LINES(HEAD, rows);
}

static void versions_3_to_5_and_line_numbers_are_read(void **state)
{
    (void)state;
#define PLAIN_HEAD(version, more)                                                                                      \
    "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-accelsim tracer version = " version "\n" more
    static const struct line_row rows[] = {
        {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 \n0020 ffffffff 1 R4 FADD 1 R4 0 \n0030 ffffffff 0 EXIT 0 0\n",
         L4 " c1<0 x"}};
    EXPECT_LINES(PLAIN_HEAD("3", ""), rows);
    EXPECT_LINES(PLAIN_HEAD("4", "-enable lineinfo = 0\n"), rows);
    EXPECT_LINES(PLAIN_HEAD("5", "-something new = (7)\n"), rows);
    static const struct line_row numbered[] = {
        {"17 0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 \n18 0020 ffffffff 0 EXIT 0 0 0\n", L4 " x"}};
    EXPECT_LINES(PLAIN_HEAD("5", "-enable lineinfo = 1\n"), numbered);
    struct pw_trace *t = import_text(
        "kernel.traceg", PLAIN_HEAD("5", "") "#BEGIN_TB\r\nthread block = 0,0,0\r\nwarp = 0\r\ninsts = 2\r\n"
                                             "  0010\tffffffff 1  R4 LDG.E 1 R2 4 1 0x10000 4 0\r\n\r\n"
                                             "0020 ffffffff 0 EXIT 0 0 0\r\n#END_TB");
    expect_ops(t, 0, 0, 0, L4 " x");
    pw_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_between_accesses_is_counted),
        cmocka_unit_test(the_last_exit_is_the_warps),
        cmocka_unit_test(names_say_what_is_accessed),
        cmocka_unit_test(addresses_are_the_same_however_they_are_written),
        cmocka_unit_test(random_addresses_come_back_in_every_mode),
        cmocka_unit_test(a_load_is_waited_for_where_it_is_first_used),
        cmocka_unit_test(lines_that_begin_alike_are_told_apart),
        cmocka_unit_test(more_than_254_younger_loads_are_254),
        cmocka_unit_test(a_barrier_takes_all_lanes_of_a_warp),
        cmocka_unit_test(copies_to_shared_memory_are_loads),
        cmocka_unit_test(generic_addresses_are_resolved_by_the_windows),
        cmocka_unit_test(versions_3_to_5_and_line_numbers_are_read),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
