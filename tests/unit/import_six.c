/* Version 6 of Accel-Sim's tracer: lines with registers of all kinds, values and clusters, tensor copies, and the same
 * kernel as text of version 5, of version 6 and as .tracez, which is one program. */
#include "import_fixture.h"
#include "trace/trace_internal.h"
#include "tracez_fixture.h"

#define EXIT "0ff0 ffffffff 0 EXIT 0 0 0 0 NoVal\n"
#define VALUES_32                                                                                                      \
    "32 0x0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9 0xa 0xb 0xc 0xd 0xe 0xf 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e " \
    "1f "

static void lines_of_version_6_are_read(void **state)
{
    (void)state;
    static const struct line_row rows[] = {
        {"0010 ffffffff 1 R4 LDG.E 2 R2 UR4 4 1 0x10000 4 0 0 NoVal\n" EXIT, L4 " x"},
        {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 0\n0ff0 ffffffff 0 EXIT 0 0 0\n", L4 " x"},
        {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 NoVal\n" EXIT, L4 " x"},
        {"0010 ffffffff 1 R4 LDG.E 2 R2 UR4 4 1 0x10000 4 0 0 Val 1 0x7 " VALUES_32 "1 0\n" EXIT, L4 " x"},
        {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 18446744073709551615 0 NoVal\n" EXIT, L4 " x"},
        {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 -1 0 NoVal\n" EXIT, L4 " x"},
        /* a uniform register or a predicate of the same number is no register that a load fills */
        {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 0 NoVal\n0020 ffffffff 1 UP4 UISETP.GE.AND 3 UR4 P4 UP4 0 0 0 "
         "NoVal\n"
         "0030 ffffffff 1 P4 ISETP.NE 2 UR4 R4 0 0 0 NoVal\n" EXIT,
         L4 " c1 c1<0 x"},
        /* which operand has two registers is counted without them */
        {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 0 NoVal\n0020 ffffffff 0 STG.E.64 3 UR8 R8 R3 8 1 0x20000 8 0 "
         "0 "
         "NoVal\n" EXIT,
         L4 " s8:ffffffff:20000+8<0 x"},
        {"0010 ffffffff 1 R24 HGMMA.64x64x16.F32 3 R24 UR4 R24 1 0 0 0 NoVal\n"
         "0020 ffffffff 0 WARPGROUP.DEPBAR.LE 0 0 0 0 NoVal\n" EXIT,
         "c2 x"},
        {"0010 ffffffff 1 P0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R2 UR4 8 1 0x400 0 0 0 NoVal\n" EXIT, "c1 x"},
        /* marks of a loop that spins are no instructions */
        {"0010 ffffffff 0 REPLAY_START 0 0 0 0 NoVal\n0020 ffffffff 1 R4 IADD3 0 0 0 0 NoVal\n0010 ffffffff 0 "
         "REPLAY_END\n"
         "0030 ffffffff 1 R4 IADD3 0 0 0 0 NoVal\n" EXIT,
         "c2 x"},
        {"0010 ffffffff 0 LDGSTS.E 2 R8 R2 4 1 0x10000000 4 0 0 NoVal\n0020 ffffffff 0 LDGDEPBAR 0 0 0 0 NoVal\n"
         "0030 ffffffff 0 DEPBAR.LE 0 0 0 0 NoVal\n" EXIT,
         "l4:ffffffff:10000000+4 c1 c1<0 x"},
    };
    EXPECT_LINES(SIX_HEAD("(1,1,1)", "(32,1,1)"), rows);
}

/* The number is the immediate and the threads the second one, or they are a register's value and the immediate. */
static void a_barrier_is_the_blocks_by_number_and_threads(void **state)
{
    (void)state;
    static const struct line_row rows[] = {
        {"0400 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0 0 NoVal\n" EXIT, "b x"},
        {"0400 ffffffff 0 BAR.SYNC 0 0 0 64 NoVal\n" EXIT, "b x"},
        {"0400 ffffffff 0 BAR.SYNC 0 0 0 32 NoVal\n" EXIT, "c1 x"},
        {"0400 ffffffff 0 BAR.SYNC 0 0 1 64 NoVal\n" EXIT, "c1 x"},
        {"0400 ffffffff 0 BAR.SYNC 0 0 2 0 NoVal\n" EXIT, "c1 x"},
        {"0400 ffffffff 1 R5 BAR.SYNC 0 0 64 0 Val 1 0x0\n" EXIT, "b x"},
        {"0400 ffffffff 1 R5 BAR.SYNC 0 0 64 0 Val 1 0x3\n" EXIT, "c1 x"},
        {"0400 ffffffff 1 R5 BAR.SYNC 0 0 32 0 Val 1 0x0\n" EXIT, "c1 x"},
        {"0400 ffffffff 0 BAR.ARV 0 0 0 64 NoVal\n" EXIT, "c1 x"},
        {"0400 00000000 0 BAR.SYNC 0 0 0 0 NoVal\n" EXIT, "c1 x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "%s#BEGIN_TB\nthread block = 0,0,0\ncluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n"
                 "warp = 0\ninsts = 2\n%swarp = 1\ninsts = 0\n#END_TB\n",
                 SIX_HEAD("(1,1,1)", "(40,1,1)"), rows[i].lines);
        struct pw_trace *t = import_text("kernel.traceg", text);
        expect_ops(t, 0, 0, 0, rows[i].ops);
        pw_trace_close(t);
    }
}

#define TENSOR(name, fields) "0500 ffffffff 0 " name " 3 UR8 UR4 UR16 4 " fields " 0 0 NoVal\n"

static void a_tensor_copy_accesses_the_bytes_that_it_lists(void **state)
{
    (void)state;
    static const struct line_row rows[] = {
        /* one row of 1 KiB, two rows of 512 bytes side by side, and two rows apart */
        {TENSOR("UTMALDG.2D", "0x400 0 1024 0 3 1 0x10000") EXIT, "l16:ffffffff:10000+16 l16:ffffffff:10200+16 x"},
        {TENSOR("UTMALDG.2D", "0x400 0 1024 0 3 2 0x10000 0x10200") EXIT,
         "l16:ffffffff:10000+16 l16:ffffffff:10200+16 x"},
        {TENSOR("UTMALDG.2D", "0x400 1 0xf 512 0 4 0x10000 2 4096") EXIT,
         "l16:ffffffff:10000,10010,10020,10030,10040,10050,10060,10070,10080,10090,100a0,100b0,100c0,100d0,100e0,100f0,"
         "11000,11010,11020,11030,11040,11050,11060,11070,11080,11090,110a0,110b0,110c0,110d0,110e0,110f0 x"},
        /* elements one by one */
        {TENSOR("UTMALDG.1D", "0x400 0 32 0 4 0x10000 8 4 4 4 4 4 4 4") EXIT, "l16:3:10000+16 x"},
        {TENSOR("UTMALDG.1D", "0x400 0 12 0 4 0x10004 3 4 4") EXIT, "l4:7:10004+4 x"},
        {TENSOR("UTMALDG.1D", "0x400 0 6 0 4 0x10001 2 100") EXIT, "l1:3f:10001,10002,10003,10065,10066,10067 x"},
        {TENSOR("UTMALDG.1D", "0x400 0 32 0 3 2 0x10000 0x20008") EXIT, "l16:1:10000+0 l8:3:20008+8 x"},
        /* direction and kind */
        {TENSOR("UTMASTG.3D", "0x0 0 16 0 3 1 0x10000") EXIT, "s16:1:10000+0 x"},
        {TENSOR("UTMAREDG.2D.ADD", "0x0 0 16 0 3 1 0x10000") EXIT, "a16:1:10000+0 x"},
        {TENSOR("UBLKRED.G.S.ADD.F32.RN", "0x0 0 16 0 3 1 0x10000") EXIT, "a16:1:10000+0 x"},
        {TENSOR("UTMAPF.L2.2D", "0x0 0 16 0 3 1 0x10000") EXIT, "l16:1:10000+0 x"},
        {TENSOR("UBLKPF.L2", "0x0 0 16 0 3 1 0x10000") EXIT, "l16:1:10000+0 x"},
        {TENSOR("UBLKCP.S.G", "0x400 0 16 0 3 1 0x10000") EXIT, "l16:1:10000+0 x"},
        {TENSOR("UBLKCP.G.S", "0x400 0 16 0 3 1 0x10000") EXIT, "s16:1:10000+0 x"},
        {TENSOR("UBLKCP.S.S", "0x400 0 16 0 3 1 0x10000") EXIT, "c1 x"},
        /* nothing to copy, and what lies out of bounds */
        {TENSOR("UTMALDG.2D", "0x400 0 1024 1024 4 0x0 0") EXIT, "c1 x"},
        {TENSOR("UTMALDG.2D", "0x400 0 48 16 3 2 0x10000 0x20000") EXIT, "l16:3:10000+65536 x"},
        {"0500 00000000 0 UTMALDG.2D 3 UR8 UR4 UR16 4 0x400 0 16 0 3 1 0xffffffffffffffff 0 0 NoVal\n" EXIT, "c1 x"},
        /* the first access of it is where a register that is taken is waited for; nothing waits for the copy */
        {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 0 NoVal\n0500 ffffffff 0 UTMALDG.2D 1 R4 4 0x400 0 16 0 3 1 "
         "0x20000 0 0 NoVal\n0020 ffffffff 1 R9 IADD3 1 R8 0 0 0 NoVal\n" EXIT,
         L4 " l16:1:20000+0<0 c1 x"},
        {"0010 ffffffff 0 UTMACMDFLUSH 0 0 0 0 NoVal\n0020 ffffffff 0 UTMACCTL.PF 1 UR4 0 0 0 NoVal\n" EXIT, "c2 x"},
    };
    EXPECT_LINES(SIX_HEAD("(1,1,1)", "(32,1,1)"), rows);
    static const struct line_row before[] = {
        {"0500 ffffffff 0 UTMALDG.2D 0 0 0 \n0ff0 ffffffff 0 EXIT 0 0 0 \n", "c1 x"}};
    EXPECT_LINES(KERNEL_HEAD("(1,1,1)", "(32,1,1)"), before);
    static const struct line_row small[] = {{"0500 00000007 0 UTMALDG.2D 0 4 0x400 0 80 0 3 1 0x10000 0 0 NoVal\n"
                                             "0ff0 00000007 0 EXIT 0 0 0 0 NoVal\n",
                                             "l16:7:10000+16 l16:3:10030+16 x"}};
    EXPECT_LINES(SIX_HEAD("(1,1,1)", "(3,1,1)"), small);
}

static void a_mistake_is_said_with_its_line(void **state)
{
    (void)state;
#define ACCESS(rest) "0010 ffffffff 1 R4 LDG.E 2 R2 UR4 4 1 0x10000 4 " rest "\n"
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"0010 ffffffff 1 X4 IADD3 0 0 0 0 NoVal\n", "the destination registers are not a count and R0 to R255"},
        {"0010 ffffffff 1 UX4 IADD3 0 0 0 0 NoVal\n", "the destination registers are not a count and R0 to R255"},
        {"0010 ffffffff 1 UR256 IADD3 0 0 0 0 NoVal\n", "the destination registers are not a count and R0 to R255"},
        {"0010 ffffffff 0 IADD3 1 U4 0 0 0 NoVal\n", "the source registers are not a count and R0 to R255"},
        {ACCESS("0 0 Values"), "what follows the immediates is neither `Val` nor `NoVal`"},
        {ACCESS("0 0 Val 1 0x7"), "the values of a register are not 1 or 32 hexadecimal numbers"},
        {ACCESS("0 0 Val 2 0x7 0x8 1 0 1 0"), "the values of a register are not 1 or 32 hexadecimal numbers"},
        {ACCESS("0 0 Val 1 0x7 1 0x7 1 0x7 1"), "there are more values than registers"},
        {ACCESS("0 0 NoVal 1"), "there are more values than registers"},
        {ACCESS("0 000000000000000000000"), "the second immediate is not a decimal number"},
        {ACCESS("x"), "what follows the addresses is not one immediate; are there more than active lanes?"},
        {TENSOR("UTMALDG.2D", ""), "the copy does not have width, mbarrier, multicast, bytes, mode and count"},
        {TENSOR("UTMALDG.2D", "0x400 2 16 0 3 1 0x10000"),
         "the copy does not have width, mbarrier, multicast, bytes, mode and count"},
        {TENSOR("UTMALDG.2D", "0x400 0 16 0 2 1 0x10000"), "the mode of a copy's addresses is not 3 or 4"},
        {TENSOR("UTMALDG.2D", "0x400 0 1048577 0 3 1 0x10000"), "a copy has at most 1 MiB"},
        {TENSOR("UTMALDG.2D", "0x400 0 18446744073709551615 0 3 1 0x10000"),
         "the copy does not have width, mbarrier, multicast, bytes, mode and count"},
        {TENSOR("UTMALDG.2D", "0x400 0 16 0 3 9999999999999999999 0x10000"),
         "an address of the copy is not a hexadecimal number of 57 bits, or there are less of them than it says"},
        {TENSOR("UTMALDG.2D", "0x400 0 16 0 3 1 0x1fffffffffffff8"),
         "an address of the copy is not a hexadecimal number of 57 bits, or there are less of them than it says"},
        {TENSOR("UTMALDG.2D", "0x400 0 32 0 4 0x10 2 -17"),
         "an address of the copy is not a hexadecimal number of 57 bits, or there are less of them than it says"},
        {TENSOR("UTMALDG.2D", "0x400 0 16 0 3 1 0x10000 0x20000"),
         "what follows the addresses is not one immediate; are there more than active lanes?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char message[256], *text = one_warp(SIX_HEAD("(1,1,1)", "(32,1,1)"), rows[i].line);
        snprintf(message, sizeof message, ":24: %s", rows[i].message);
        write_text("kernel.traceg", text);
        expect_refusal("kernel.traceg", message);
        free(text);
    }
    static const struct {
        const char *line, *message;
    } clusters[] = {
        {"#BEGIN_TB\ncluster id = 0,0,0\n", ":18: `cluster` without a `thread block` before it"},
        {"#BEGIN_TB\nthread block = 0,0,0\ncluster id = 0,0\n",
         ":19: this is not `cluster id`, `cluster cta` or `cluster rank`"},
        {"#BEGIN_TB\nthread block = 0,0,0\ncluster rank = -1\n",
         ":19: this is not `cluster id`, `cluster cta` or `cluster rank`"},
        {"#BEGIN_TB\nthread block = 0,0,0\ncluster = 1\n",
         ":19: this is not `cluster id`, `cluster cta` or `cluster rank`"},
    };
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", SIX_HEAD("(1,1,1)", "(32,1,1)"), clusters[i].line);
        write_text("kernel.traceg", text);
        expect_refusal("kernel.traceg", clusters[i].message);
    }
}

/* A kernel with a bit of everything, in version 5 or 6; its blocks come in another order than their numbers. */
static char *make_kernel(bool six, unsigned ctas, unsigned turns)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    const char *end = six ? "0 NoVal" : "";
    fputs(six ? SIX_HEAD("(7,1,1)", "(72,1,1)") : KERNEL_HEAD("(7,1,1)", "(72,1,1)"), to);
    for (unsigned i = 0; i < ctas; i++) {
        unsigned cta = i * 3 % ctas;
        fprintf(to, "\n#BEGIN_TB\n\nthread block = %u,0,0\n", cta);
        if (six)
            fprintf(to, "cluster id = %u,0,0\ncluster cta = %u,0,0\ncluster rank = %u\n", cta / 2, cta % 2, cta % 2);
        for (unsigned warp = 0; warp < 3; warp++) {
            const char *mask = warp == 2 ? "000000ff" : "ffffffff";
            fprintf(to, "\nwarp = %u\ninsts = %u\n", warp, warp == 1 ? 0 : 4 * turns + 2);
            for (unsigned turn = 0; warp != 1 && turn < turns; turn++) {
                unsigned at = 0x10000000 + ((turn * ctas + cta) * 3 + warp) * 128;
                fprintf(to, "0010 %s 1 R6 LDG.E %s 4 1 0x%x 4 0 %s\n", mask, six ? "2 R2 UR4" : "1 R2", at, end);
                fprintf(to, "0020 %s 1 R8 IADD3 %s 0 0 %s\n", mask, six ? "3 R9 UR6 R9" : "2 R9 R9", end);
                fprintf(to, "0030 %s 0 STG.E.64 2 R10 R6 8 2 0x%x 8 8 8 8 8 8 8%s 0 %s\n", mask, at + 0x10000000,
                        warp ? "" : " 16 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8", end);
                fprintf(to, "0040 %s 0 BAR.SYNC 0 0 0 %s\n", mask, end);
            }
            if (warp != 1)
                fprintf(to, "0050 %s 1 R0 IADD3 0 0 0 %s\n0060 %s 0 EXIT 0 0 0 %s\n", mask, end, mask, end);
        }
        fputs("\n#END_TB\n", to);
    }
    fclose(to);
    return text;
}

static void expect_same(struct pw_trace *a, struct pw_trace *b)
{
    for (uint32_t cta = 0; cta < 7; cta++)
        for (uint32_t warp = 0; warp < 3; warp++) {
            char *ops = ops_of(a, 0, cta, warp);
            expect_ops(b, 0, cta, warp, ops);
            free(ops);
        }
    assert_int_equal(a->index.launches[0].checksum, b->index.launches[0].checksum);
    assert_int_equal(a->index.launches[0].table.offset, b->index.launches[0].table.offset);
}

static void write_tracez(const char *name, const char *text, uint32_t chunk, bool dictionary)
{
    struct tracez_bytes made = tracez_of(text, chunk, dictionary);
    write_bytes(name, made.bytes, made.size);
    free(made.bytes);
}

/* Operations, and with them the bytes of blocks and tables. */
static void one_kernel_in_three_forms_is_one_program(void **state)
{
    (void)state;
    char *five = make_kernel(false, 7, 20), *six = make_kernel(true, 7, 20);
    struct pw_trace *expected = import_text("kernel-5.traceg", five), *t = import_text("kernel-6.traceg", six);
    assert_string_equal(pw_trace_get_origin(t)->recorder, "Accel-Sim tracer 6 (NVBit 1.7.5)");
    expect_same(expected, t);
    pw_trace_close(t);
    static const struct {
        uint32_t chunk;
        bool dictionary;
    } ways[] = {{2048, true}, {1, false}, {7, true}, {82, false}, {81, true}, {1000, false}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        write_tracez("kernel-6.tracez", six, ways[i].chunk, ways[i].dictionary);
        t = open_trace("kernel-6.tracez");
        assert_string_equal(pw_trace_get_origin(t)->recorder, "Accel-Sim tracer 6 (NVBit 1.7.5)");
        assert_string_equal(pw_trace_get_origin(t)->program, "kernel-6.tracez");
        expect_same(expected, t);
        pw_trace_close(t);
    }
    write_text("kernelslist.g", "MemcpyHtoD,0x10000000,4096\nkernel-6.tracez\nkernel-6.traceg\n");
    t = open_trace("kernelslist.g");
    assert_int_equal(pw_trace_launches(t), 2);
    pw_trace_close(t);
    uint64_t digest, other;
    struct pw_error err;
    assert_int_equal(pw_trace_digest_file("kernelslist.g", &digest, &err), PW_OK);
    write_tracez("kernel-6.tracez", six, 999, false);
    assert_int_equal(pw_trace_digest_file("kernelslist.g", &other, &err), PW_OK);
    assert_int_not_equal(digest, other);
    pw_trace_close(expected);
    free(five);
    free(six);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_version_6_are_read),
        cmocka_unit_test(a_barrier_is_the_blocks_by_number_and_threads),
        cmocka_unit_test(a_tensor_copy_accesses_the_bytes_that_it_lists),
        cmocka_unit_test(a_mistake_is_said_with_its_line),
        cmocka_unit_test(one_kernel_in_three_forms_is_one_program),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
