/* Files of other tools as wholes: kernels with blocks in any order, lists with copies, compressed ones, what identifies
 * them, how far reading has come, and NVBit's accesses of warps that are mixed. */
#include "import_fixture.h"

#include <lzma.h>
#include <sys/stat.h>

#define EXIT "0ff0 ffffffff 0 EXIT 0 0 0 \n"

/* A kernel like `c[i] = a[i] + b[i]` in a loop, ten instructions a turn, six beside; its blocks come backwards. */
static char *add_vectors(unsigned ctas, unsigned warps, unsigned turns)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    fprintf(to,
            "-kernel name = _Z3addPf\n-grid dim = (%u,1,1)\n-block dim = (%u,1,1)\n-shmem = 128\n-nregs = 24\n"
            "-nvbit version = 1.5.5\n-accelsim tracer version = 5\n\n#traces format = PC mask\n",
            ctas, 32 * warps);
    for (unsigned cta = ctas; cta-- > 0;) {
        fprintf(to, "\n#BEGIN_TB\n\nthread block = %u,0,0\n", cta);
        for (unsigned warp = 0; warp < warps; warp++) {
            fprintf(to, "\nwarp = %u\ninsts = %u\n", warp, 6 + 10 * turns);
            for (unsigned i = 0; i < 5; i++)
                fprintf(to, "00%x0 ffffffff 1 R0 IMAD 2 R0 R3 0 0 \n", i);
            for (unsigned turn = 0; turn < turns; turn++) {
                unsigned at = ((turn * ctas + cta) * warps + warp) * 128;
                fputs("0050 ffffffff 1 R2 IMAD.WIDE 2 R0 R9 0 0 \n0060 ffffffff 1 R4 IMAD.WIDE 2 R0 R9 0 0 \n", to);
                fprintf(to, "0070 ffffffff 1 R6 LDG.E.SYS 1 R2 4 1 0x%x 4 0 \n", 0x10000000 + at);
                fprintf(to, "0080 ffffffff 1 R7 LDG.E.SYS 1 R4 4 1 0x%x 4 0 \n", 0x20000000 + at);
                fputs("0090 ffffffff 1 R10 IMAD.WIDE 2 R0 R9 0 0 \n00a0 ffffffff 1 R8 FADD 2 R6 R7 0 0 \n", to);
                fprintf(to, "00b0 ffffffff 0 STG.E.SYS 2 R10 R8 4 1 0x%x 4 0 \n", 0x30000000 + at);
                fputs("00c0 ffffffff 1 R0 IADD3 2 R0 R12 0 0 \n00d0 ffffffff 0 ISETP.GE.AND 1 R0 0 0 \n"
                      "00e0 ffffffff 0 BRA 0 0 0 \n",
                      to);
            }
            fputs(EXIT, to);
        }
        fputs("\n#END_TB\n", to);
    }
    fclose(to);
    return text;
}

/* With the instruction counts of the loop: as the built-in program `vecadd` has them (src/workload/micro/vecadd.c). */
static void a_kernel_becomes_what_the_built_in_program_does(void **state)
{
    (void)state;
    char *text = add_vectors(3, 2, 2);
    text[strlen(text) - 1] = '\0'; /* the last newline may be missing */
    struct pw_trace *t = import_text("kernel-1.traceg", text);
    free(text);
    assert_int_equal(instructions_of(t, 0), 3 * 2 * (6 + 10 * 2));
    for (unsigned cta = 0; cta < 3; cta++)
        for (unsigned warp = 0; warp < 2; warp++) {
            char expected[512];
            unsigned first = (cta * 2 + warp) * 128, second = first + 3 * 2 * 128;
            snprintf(expected, sizeof expected,
                     "c7 l4:ffffffff:1%07x+4 l4:ffffffff:2%07x+4 c1 c1<0 s4:ffffffff:3%07x+4 "
                     "c5 l4:ffffffff:1%07x+4 l4:ffffffff:2%07x+4 c1 c1<0 s4:ffffffff:3%07x+4 c3 x",
                     first, first, first, second, second, second);
            expect_ops(t, 0, cta, warp, expected);
        }
    const struct pw_trace_origin *origin = pw_trace_get_origin(t);
    assert_string_equal(origin->recorder, "Accel-Sim tracer 5 (NVBit 1.5.5)");
    assert_string_equal(origin->program, "kernel-1.traceg");
    assert_int_equal(origin->cta_sample, 1);
    size_t count;
    const struct pw_trace_event *e = pw_trace_events(t, &count);
    e += count - 1;
    assert_int_equal(e->kind, PW_TRACE_LAUNCH);
    assert_string_equal(e->name, "_Z3addPf");
    assert_int_equal(e->grid.x, 3);
    assert_int_equal(e->block.x, 64);
    assert_int_equal(e->shared_bytes, 128);
    assert_int_equal(e->registers, 24);
    pw_trace_close(t);
}

/* What Accel-Sim publishes: sorting keeps the line that says what raw lines looked like. */
static void version_3_describes_the_raw_format(void **state)
{
    (void)state;
    struct pw_trace *t = import_text(
        "kernel-1.traceg",
        "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-nvbit version = 1.5\n"
        "-accelsim tracer version = 3\n\n#traces format = threadblock_x threadblock_y threadblock_z warpid_tb PC mask "
        "dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n\n\n"
        "#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 2\n"
        "0060 ffffffff 1 R6 LDG.E.SYS 1 R2 4 1 0x10000000 4 \n0070 ffffffff 0 EXIT 0 0 \n\n#END_TB\n");
    expect_ops(t, 0, 0, 0, "l4:ffffffff:10000000+4 x");
    pw_trace_close(t);
}

static void blocks_are_numbered_x_first(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    fputs(KERNEL_HEAD("(3,2,4)", "(8,4,1)"), to);
    for (unsigned cta = 24; cta-- > 0;) { /* each does something else; the first does nothing */
        fprintf(to, "#BEGIN_TB\nthread block = %u,%u,%u\nwarp = 0\ninsts = %u\n", cta % 3, cta / 3 % 2, cta / 6,
                cta ? cta + 1 : 0);
        for (unsigned i = 0; i < cta; i++)
            fputs("0010 ffffffff 1 R20 IADD3 1 R21 0 0 \n", to);
        fputs(cta ? EXIT "#END_TB\n" : "#END_TB\n", to);
    }
    fclose(to);
    struct pw_trace *t = import_text("kernel.traceg", text);
    free(text);
    expect_ops(t, 0, 0, 0, "");
    for (uint32_t cta = 1; cta < 24; cta++) {
        char expected[16];
        snprintf(expected, sizeof expected, "c%u x", cta);
        expect_ops(t, 0, cta, 0, expected);
    }
    pw_trace_close(t);
}

static void a_warp_waits_for_its_own_loads_alone(void **state)
{
    (void)state;
    struct pw_trace *t = import_text("kernel.traceg", KERNEL_HEAD("(1,1,1)", "(64,1,1)") //
                                     "#BEGIN_TB\nthread block = 0,0,0\nwarp = 1\ninsts = 2\n"
                                     "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10000 4 0 \n" EXIT
                                     "warp = 0\ninsts = 2\n0020 ffffffff 1 R20 FADD 1 R4 0 0 \n" EXIT "#END_TB\n");
    expect_ops(t, 0, 0, 1, "l4:ffffffff:10000+4 x");
    expect_ops(t, 0, 0, 0, "c1 x");
    pw_trace_close(t);
}

static void a_long_name_is_cut_and_a_terminal_does_not_obey_it(void **state)
{
    (void)state;
    char name[400], text[2048];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    name[3] = '\033';
    snprintf(text, sizeof text, "-kernel name = %s\n%s", name,
             "-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-accelsim tracer version = 5\n#BEGIN_TB\nthread block = "
             "0,0,0\nwarp = 0\ninsts = 0\n#END_TB\n");
    struct pw_trace *t = import_text("kernel.traceg", text);
    size_t count;
    const struct pw_trace_event *e = pw_trace_events(t, &count);
    assert_int_equal(strlen(e[0].name), 255);
    assert_memory_equal(e[0].name, "nnn?nnn", 7);
    pw_trace_close(t);
}

static void expect_event(const struct pw_trace_event *e, unsigned kind, uint64_t address, uint64_t bytes)
{
    assert_int_equal(e->kind, kind);
    assert_int_equal(e->address, address);
    assert_int_equal(e->bytes, bytes);
}

static void copies_of_a_list_allocate_what_they_copy_to(void **state)
{
    (void)state;
    char *text = one_warp(KERNEL_HEAD("(1,1,1)", "(32,1,1)"), "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x500000 4 0 \n" EXIT);
    assert_int_equal(system("mkdir -p list"), 0);
    write_text("list/kernel-1.traceg", text);
    write_text("list/kernel-2-ctx_0x12.traceg", text);
    free(text);
    struct pw_trace *t = import_text("list/kernelslist.g", "MemcpyHtoD,0x0000000000500000,4096\r\n"
                                                           "\n"
                                                           "kernel-1.traceg\n"
                                                           "MemcpyDtoH,0x500000,12\n"
                                                           "MemcpyHtoD,0x900000,100\n"
                                                           "somebody's message\n"
                                                           "MemcpyHtoD,0x500800,4096\n"
                                                           "MemcpyHtoD,0x500040,0\n"
                                                           "kernel-2-ctx_0x12.traceg\n"
                                                           "MemcpyHtoD,0x501800,16");
    size_t count;
    const struct pw_trace_event *e = pw_trace_events(t, &count);
    assert_int_equal(count, 9);
    /* Two copies overlap, so that the first one's allocation has room for the second. */
    expect_event(&e[0], PW_TRACE_ALLOC, 0x500000, 0x1800);
    assert_int_equal(e[0].memory, PW_TRACE_DEVICE);
    assert_string_equal(e[0].name, "0x500000");
    expect_event(&e[1], PW_TRACE_COPY, 0x500000, 4096);
    assert_int_equal(e[1].flags, PW_TRACE_TO_DEVICE);
    assert_int_equal(e[2].kind, PW_TRACE_LAUNCH);
    expect_event(&e[3], PW_TRACE_ALLOC, 0x900000, 100);
    expect_event(&e[4], PW_TRACE_COPY, 0x900000, 100);
    expect_event(&e[5], PW_TRACE_COPY, 0x500800, 4096);
    assert_int_equal(e[6].kind, PW_TRACE_LAUNCH);
    expect_event(&e[7], PW_TRACE_ALLOC, 0x501800, 16); /* beside it */
    expect_event(&e[8], PW_TRACE_COPY, 0x501800, 16);
    pw_trace_close(t);
}

static void write_xz(const char *name, const char *text, unsigned streams)
{
    size_t length = strlen(text), used = 0, capacity = streams * (lzma_stream_buffer_bound(length) + 8);
    uint8_t *packed = malloc(capacity);
    assert_non_null(packed);
    for (unsigned i = 0; i < streams; i++) {
        size_t first = length * i / streams, last = length * (i + 1) / streams;
        assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, (const uint8_t *)text + first, last - first,
                                                 packed, &used, capacity),
                         LZMA_OK);
    }
    write_bytes(name, packed, used);
    free(packed);
}

static void kernels_of_a_list_may_have_a_path(void **state)
{
    char *text = add_vectors(1, 1, 1), list[256];
    mkdir("elsewhere", 0700);
    write_text("elsewhere/kernel-1.traceg", text);
    free(text);
    snprintf(list, sizeof list, "./elsewhere/kernel-1.traceg \r\n%s/elsewhere/kernel-1.traceg\nsee ./log.traceg\n",
             (const char *)*state);
    struct pw_trace *t = import_text("kernelslist.g", list);
    assert_int_equal(pw_trace_launches(t), 2);
    pw_trace_close(t);
    write_text("kernelslist.g", "/absent/kernel-1.traceg.xz\n");
    expect_refusal("kernelslist.g", ":1: /absent/kernel-1.traceg.xz: cannot open: No such file or directory");
}

static void compressed_text_is_text(void **state)
{
    (void)state;
    char *text = add_vectors(200, 8, 10); /* more than one buffer */
    assert_true(strlen(text) > 3 << 20);
    struct pw_trace *plain = import_text("plain.traceg", text);
    for (unsigned streams = 1; streams <= 3; streams += 2) {
        write_xz("packed.traceg.xz", text, streams);
        struct pw_trace *packed = open_trace("packed.traceg.xz");
        assert_int_equal(instructions_of(packed, 0), 200 * 8 * (6 + 10 * 10));
        assert_int_equal(instructions_of(packed, 0), instructions_of(plain, 0));
        for (uint32_t cta = 0; cta < 200; cta += 33) {
            char *expected = ops_of(plain, 0, cta, 7);
            expect_ops(packed, 0, cta, 7, expected);
            free(expected);
        }
        pw_trace_close(packed);
    }
    pw_trace_close(plain);
    write_text("kernel-7.traceg", text);
    free(text);
    write_xz("list.xz", "kernel-7.traceg\n", 1);
    struct pw_trace *t = open_trace("list.xz");
    assert_int_equal(pw_trace_launches(t), 1);
    pw_trace_close(t);
}

static uint64_t digest(const char *name)
{
    uint64_t value;
    struct pw_error err;
    if (pw_trace_digest_file(name, &value, &err))
        fail_msg("%s", err.message);
    return value;
}

static void a_digest_is_of_all_that_is_read(void **state)
{
    (void)state;
    char *text = add_vectors(2, 1, 1);
    write_text("kernel-1.traceg", text);
    write_text("kernel-2.traceg", text);
    write_text("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
    uint64_t one = digest("kernel-1.traceg"), all = digest("kernelslist.g");
    assert_int_equal(digest("kernel-2.traceg"), one); /* of what is in it */
    assert_int_not_equal(one, all);
    for (size_t at = 40; at < strlen(text); at += 97) {
        text[at] ^= 1;
        write_text("kernel-2.traceg", text);
        assert_int_not_equal(digest("kernel-2.traceg"), one);
        assert_int_not_equal(digest("kernelslist.g"), all);
        text[at] ^= 1;
    }
    write_text("kernel-2.traceg", text);
    assert_int_equal(digest("kernelslist.g"), all);
    write_text("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\nkernel-2.traceg\n");
    assert_int_not_equal(digest("kernelslist.g"), all);
    free(text);

    write_bytes("short.txt", "MEMTRACE: CTX \n", 15);
    write_bytes("long.txt", "MEMTRACE: CTX \n", 16); /* with a zero byte */
    assert_int_not_equal(digest("short.txt"), digest("long.txt"));

    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err;
    assert_int_equal(pw_trace_writer_open("own.pwt", &w, &err), PW_OK);
    assert_int_equal(pw_trace_import("kernel-1.traceg", PW_TRACE_TRACEG, NULL, w, &err), PW_OK);
    assert_int_equal(pw_trace_writer_finish(w, &t, &err), PW_OK);
    assert_int_equal(digest("own.pwt"), pw_trace_digest(t));
    pw_trace_close(t);
    t = open_trace("own.pwt");
    assert_int_equal(pw_trace_launches(t), 1);
    pw_trace_close(t);
}

struct watched {
    uint64_t calls, last, all, stop_at;
};

static bool watch_reading(void *context, uint64_t done, uint64_t all)
{
    struct watched *w = context;
    assert_true(done > w->last && done <= all);
    w->all = all;
    w->last = done;
    return ++w->calls == w->stop_at;
}

static void who_watches_is_told_and_can_stop_it(void **state)
{
    (void)state;
    char *text = add_vectors(400, 8, 20);
    uint64_t bytes = strlen(text);
    write_text("kernel-1.traceg", text);
    write_text("kernelslist.g", "kernel-1.traceg\nkernel-1.traceg\n");
    free(text);
    struct watched w = {0};
    const struct pw_import_watch watch = {watch_reading, &w};
    struct pw_error err = {0};
    struct pw_trace *t;
    assert_int_equal(pw_trace_open_any("kernelslist.g", &watch, &t, &err), PW_OK);
    pw_trace_close(t);
    assert_int_equal(w.all, 2 * (bytes + strlen("kernel-1.traceg\nkernel-1.traceg\n"))); /* the list twice too */
    assert_true(w.calls >= 2 * bytes >> 23 && w.last > bytes && w.last <= 2 * bytes + 100);
    w = (struct watched){.stop_at = 2};
    assert_int_equal(pw_trace_open_any("kernelslist.g", &watch, &t, &err), PW_INTERRUPTED);
    assert_int_equal(w.calls, 2);
}

/* 32 addresses from one on, of these lanes. */
static void print_accesses(FILE *to, unsigned launch, const char *cta, unsigned warp, const char *name, uint32_t mask,
                           uint64_t first)
{
    fprintf(to, "MEMTRACE: CTX 0x00007f8a0040a000 - grid_launch_id %u - CTA %s - warp %u - %s - ", launch, cta, warp,
            name);
    for (unsigned lane = 0; lane < 32; lane++)
        fprintf(to, "0x%016llx ", mask & 1U << lane ? (unsigned long long)first + 4 * lane : 0);
    fputs("\n", to);
}

static void warps_of_nvbits_trace_are_taken_apart(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    fputs("------------- NVBit (NVidia Binary Instrumentation Tool v1.5.5) Loaded --------------\nresult: ", to);
    print_accesses(to, 0, "0,0,0", 0, "LDG.E", PW_ALL_LANES, 0x10000000);
    print_accesses(to, 0, "1,2,0", 1, "STG.E.64", PW_ALL_LANES, 0x20000000);
    fputs("the program's own words\n", to);
    print_accesses(to, 0, "0,0,0", 1, "RED.E.ADD", 0xf0, 0x30000000);
    print_accesses(to, 0, "0,0,0", 0, "ATOMG.E.ADD", 0xf, 0x10000000);
    print_accesses(to, 0, "0,0,0", 0, "LDS", 0xf, 0x10);
    print_accesses(to, 0, "0,0,0", 0, "LDGSTS.E.128", 1, 0x400);
    print_accesses(to, 0, "0,0,0", 0, "LDGSTS.E.128", 1, 0x10000000);
    print_accesses(to, 0, "0,0,0", 0, "LDG.E", 0, 0);
    print_accesses(to, 2, "0,0,0", 40, "LDG.E", PW_ALL_LANES, 0x10000000);
    fclose(to);
    struct pw_trace *t = import_text("memtrace.txt", text);
    free(text);
    assert_int_equal(pw_trace_launches(t), 2);
    expect_ops(t, 0, 0, 0, "l4:ffffffff:10000000+4<0 r4:f:10000000+4<0 c1 l16:1:10000000+0<0 c1 x");
    expect_ops(t, 0, 0, 1, "a4:f0:30000000+4<0 x");
    expect_ops(t, 0, 1 + 2 * 2, 0, "s8:ffffffff:20000000+4<0 x"); /* the first of its block that came */
    expect_ops(t, 0, 1, 0, "");
    expect_ops(t, 1, 0, 0, "l4:ffffffff:10000000+4<0 x");
    size_t count;
    const struct pw_trace_event *e = pw_trace_events(t, &count);
    const struct pw_trace_event *last = &e[count - 1];
    assert_int_equal(last->block.x, 32);
    assert_string_equal(last->name, "kernel");
    assert_string_equal(pw_trace_get_origin(t)->recorder, "NVBit mem_trace");
    while (e->kind != PW_TRACE_LAUNCH)
        e++;
    assert_int_equal(e->grid.x, 2);
    assert_int_equal(e->grid.y, 3);
    assert_int_equal(e->block.x, 64);
    pw_trace_close(t);
}

static void a_launch_line_of_nvbit_says_grid_and_block(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    for (unsigned launch = 0; launch < 3; launch++) /* they are printed before the accesses are */
        fprintf(
            to,
            "MEMTRACE: CTX 0x00007f8a0040a000 - LAUNCH - Kernel pc 0x00007f8a0040a000 - Kernel name add - v%u(int) - "
            "grid launch id %u - grid size 4,2,1 - block size 96,1,1 - nregs 16 - shmem 32 - cuda stream id 0\n",
            launch, launch);
    print_accesses(to, 0, "3,1,0", 2, "LDG.E", PW_ALL_LANES, 0x10000000);
    print_accesses(to, 2, "3,1,0", 17, "LDG.E", PW_ALL_LANES, 0x10000000);
    print_accesses(to, 2, "3,1,0", 9, "LDG.E", PW_ALL_LANES, 0x20000000);
    fclose(to);
    struct pw_trace *t = import_text("memtrace.txt", text);
    free(text);
    assert_int_equal(pw_trace_launches(t), 3);
    expect_ops(t, 0, 7, 2, "l4:ffffffff:10000000+4<0 x");
    expect_ops(t, 0, 7, 0, "");
    expect_ops(t, 1, 7, 0, "");
    expect_ops(t, 2, 7, 0, "l4:ffffffff:10000000+4<0 x"); /* slots of the multiprocessor */
    expect_ops(t, 2, 7, 1, "l4:ffffffff:20000000+4<0 x");
    size_t count;
    const struct pw_trace_event *e = pw_trace_events(t, &count);
    assert_string_equal(e[count - 1].name, "add - v2(int)");
    assert_int_equal(e[count - 1].grid.y, 2);
    assert_int_equal(e[count - 1].block.x, 96);
    assert_int_equal(e[count - 1].registers, 16);
    assert_int_equal(e[count - 1].shared_bytes, 32);
    pw_trace_close(t);
}

/* The warp of 8 threads comes first, under a number that is none of the block's or that of a whole warp. */
static void the_smallest_warp_of_a_block_may_come_first(void **state)
{
    (void)state;
    for (unsigned slot = 0; slot < 8; slot += 7) {
        char *text = NULL;
        size_t bytes;
        FILE *to = open_memstream(&text, &bytes);
        fputs("MEMTRACE: CTX 0x0 - LAUNCH - Kernel pc 0x0 - Kernel name k - grid launch id 0 - grid size 2,1,1 - "
              "block size 20,2,1 - nregs 16 - shmem 0 - cuda stream id 0\n",
              to);
        print_accesses(to, 0, "0,0,0", slot, "LDG.E", 0xff, 0x10000000);
        print_accesses(to, 0, "0,0,0", 1, "LDG.E", PW_ALL_LANES, 0x10000020);
        fclose(to);
        struct pw_trace *t = import_text("memtrace.txt", text);
        free(text);
        expect_ops(t, 0, 0, 0, "l4:ff:10000000+4<0 x");
        expect_ops(t, 0, 0, 1, "l4:ffffffff:10000020+4<0 x");
        size_t count;
        const struct pw_trace_event *e = pw_trace_events(t, &count);
        assert_int_equal(e[count - 1].block.x, 64);
        assert_int_equal(e[count - 1].block.y, 1);
        pw_trace_close(t);
    }
}

static void what_a_file_is_is_told_by_what_is_in_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum pw_trace_format format;
    } rows[] = {
        {"MemcpyHtoD,0x1000,4\n", PW_TRACE_KERNELSLIST},
        {"\n\nmessage\nkernel-1.traceg.xz\n", PW_TRACE_KERNELSLIST},
        {"-kernel name = k\n", PW_TRACE_TRACEG},
        {"hello\nMEMTRACE: CTX 0x0 - LAUNCH - Kernel\n", PW_TRACE_NVBIT},
        {"\x89PWT\r\n\x1a\n", PW_TRACE_PWT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned packed = 0; packed < 2 && (!packed || rows[i].format != PW_TRACE_PWT); packed++) {
            enum pw_trace_format format = PW_TRACE_FORMAT_COUNT;
            struct pw_error err;
            if (packed)
                write_xz("file", rows[i].text, 1);
            else
                write_text("file", rows[i].text);
            assert_int_equal(pw_trace_sniff("file", &format, &err), PW_OK);
            assert_int_equal(format, rows[i].format);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_becomes_what_the_built_in_program_does),
        cmocka_unit_test(version_3_describes_the_raw_format),
        cmocka_unit_test(blocks_are_numbered_x_first),
        cmocka_unit_test(a_warp_waits_for_its_own_loads_alone),
        cmocka_unit_test(a_long_name_is_cut_and_a_terminal_does_not_obey_it),
        cmocka_unit_test(copies_of_a_list_allocate_what_they_copy_to),
        cmocka_unit_test(kernels_of_a_list_may_have_a_path),
        cmocka_unit_test(compressed_text_is_text),
        cmocka_unit_test(a_digest_is_of_all_that_is_read),
        cmocka_unit_test(who_watches_is_told_and_can_stop_it),
        cmocka_unit_test(warps_of_nvbits_trace_are_taken_apart),
        cmocka_unit_test(a_launch_line_of_nvbit_says_grid_and_block),
        cmocka_unit_test(the_smallest_warp_of_a_block_may_come_first),
        cmocka_unit_test(what_a_file_is_is_told_by_what_is_in_it),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
