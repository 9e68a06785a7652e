/* Mistakes in other tools' files, each reported in one line with its place: a table of small mistakes, files that are
 * no files, and small ones that stand for large ones. */
#include "import_fixture.h"

#include <lzma.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define HEAD KERNEL_HEAD("(2,1,1)", "(64,1,1)")
#define BEGIN "#BEGIN_TB\nthread block = 0,0,0\n"
#define WARP(number, count) "warp = " number "\ninsts = " count "\n"
#define EXIT "0ff0 ffffffff 0 EXIT 0 0 0\n"
#define MINIMAL "-kernel name = k\n-accelsim tracer version = 5\n"
/* Line 3 is the line in question. */
#define KEY(line) MINIMAL line "\n"
/* Line 9 is. */
#define LINE(line)                                                                                                     \
    MINIMAL "-grid dim = (1,1,1)\n-block dim = (20,1,1)\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n" line  \
            "\n#END_TB\n"
#define LDG(mask, addresses) LINE("0010 " mask " 1 R4 LDG.E 1 R2 4 " addresses)
#define NVBIT(rest) "MEMTRACE: CTX 0x00007f8a0040a000 - " rest "\n"
#define ZEROES_31                                                                                                      \
    "0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 " \
    "0x0 0x0 0x0 "
#define NOT_OF_LAUNCH ": this warp is not of its launch's grid and block"
#define NO_ADDRESSES ": an access has 32 hexadecimal addresses, one for each lane"

static const struct {
    const char *text, *message;
} rows[] = {
    /* the head */
    {"-kernel name = k\n-grid dim = (1,1,1)\n#BEGIN_TB\n",
     ":3: the lines before this one do not say `-accelsim tracer version = 6`"},
    {KEY("-accelsim tracer version = 7") "#",
     ":4: was written by version 7 of Accel-Sim's tracer; versions 3 to 6 are understood"},
    {KEY("-accelsim tracer version = 2"),
     ":3: was written by version 2 of Accel-Sim's tracer; versions 3 to 6 are understood"},
    {KEY("-accelsim tracer version = five"), ":3: the value of `accelsim tracer version` is not understood"},
    {HEAD "0 0 0 1 0000 ffffffff 1 R1 MOV 0 0 \n",
     ":17: is not sorted by thread block; run Accel-Sim's post-traces-processing"},
    {KEY("words"), ":3: this is neither `-key = value` nor the beginning of a thread block"},
    {KEY("-grid dim = (1,1)"), ":3: the value of `grid dim` is not understood"},
    {KEY("-grid dim = (-1,1,1)"), ":3: the value of `grid dim` is not understood"},
    {KEY("-grid dim = (4294967296,1,1)"), ":3: the value of `grid dim` is not understood"},
    {KEY("-grid dim = (99999999999999999999,1,1)"), ":3: the value of `grid dim` is not understood"},
    {KEY("-grid dim = (1,1,1) or so"), ":3: the value of `grid dim` is not understood"},
    {KEY("-grid dim = (0,1,1)"), ":3: the lines before this one have no `-grid dim` of 1 to 268435456 thread blocks"},
    {KEY("-grid dim = (65536,65536,1)"),
     ":3: the lines before this one have no `-grid dim` of 1 to 268435456 thread blocks"},
    {KEY("-grid dim = (4294967295,4294967295,4294967295)"),
     ":3: the lines before this one have no `-grid dim` of 1 to 268435456 thread blocks"},
    {KEY("-grid dim = (1,1,1)\n-block dim = (1025,1,1)"),
     ":4: the lines before this one have no `-block dim` of 1 to 1024 threads"},
    {KEY("-grid dim = (1,1,1)\n-block dim = (1024,1024,4096)"),
     ":4: the lines before this one have no `-block dim` of 1 to 1024 threads"},
    {KEY("-shmem base_addr = 0x12345678123456781"), ":3: the value of `shmem base_addr` is not understood"},
    {KEY("-enable lineinfo = 2"), ":3: the value of `enable lineinfo` is not understood"},
    {KEY("-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-pagewalk pace = 1000001"),
     ":5: the lines before this one have a pace of more than 1000000"},
    /* blocks and warps; the first line behind the head is 17 */
    {HEAD, ":16: the file ends after 0 of the grid's 2 thread blocks"},
    {HEAD "thread block = 0,0,0\n", ":17: `thread block` without a #BEGIN_TB of its own"},
    {HEAD BEGIN "thread block = 1,0,0\n", ":19: `thread block` without a #BEGIN_TB of its own"},
    {HEAD "#BEGIN_TB\nthread block = 2,0,0\n", ":18: this is not a thread block of the grid of (2,1,1)"},
    {HEAD "#BEGIN_TB\nthread block = 0,0\n", ":18: this is not a thread block of the grid of (2,1,1)"},
    {HEAD "#BEGIN_TB\nthread block = -1,0,0\n", ":18: this is not a thread block of the grid of (2,1,1)"},
    {HEAD BEGIN "#BEGIN_TB\n", ":19: #BEGIN_TB before the #END_TB of the block before"},
    {HEAD "#END_TB\n", ":17: #END_TB without a thread block before it"},
    {HEAD "warp = 0\n", ":17: `warp` without a `thread block` before it"},
    {HEAD BEGIN "warp = 2\n", ":19: this is not one of a block's 2 warps"},
    {HEAD BEGIN "warp = \n", ":19: this is not one of a block's 2 warps"},
    {HEAD BEGIN WARP("0", "0") "warp = 0\n", ":21: warp 0 comes twice in its block"},
    {HEAD BEGIN WARP("0", "0") "insts = 0\n", ":21: `insts` without a `warp` before it"},
    {HEAD BEGIN WARP("0", "0") "#END_TB\n", ":21: the block has 1 of its 2 warps"},
    {HEAD BEGIN WARP("0", "4294967296"), ":20: `insts` is not a number of 32 bits"},
    {HEAD BEGIN WARP("0", "-1"), ":20: `insts` is not a number of 32 bits"},
    {HEAD BEGIN WARP("0", "2") EXIT "warp = 1\n",
     ":22: this is not an instruction, but `insts = 2` says that 1 more follow"},
    {HEAD BEGIN WARP("0", "2") EXIT "#END_TB\n",
     ":22: this is not an instruction, but `insts = 2` says that 1 more follow"},
    {HEAD BEGIN WARP("0", "4294967295") EXIT,
     ":21: the file ends where 4294967294 of a warp's 4294967295 instructions should follow"},
    {HEAD BEGIN WARP("0", "1") EXIT EXIT, ":22: this is not understood here; are there more lines than `insts` says?"},
    {HEAD "words\n", ":17: this is not understood here"},
    {HEAD BEGIN WARP("0", "0") WARP("1", "0"), ":22: the file ends before the #END_TB of a thread block"},
    {HEAD BEGIN WARP("0", "0") WARP("1", "0") "#END_TB\n" BEGIN, ":25: thread block 0,0,0 comes twice"},
    {HEAD BEGIN WARP("0", "0") WARP("1", "0") "#END_TB\n", ":23: the file ends after 1 of the grid's 2 thread blocks"},
    /* instructions */
    {LINE("xyz"), ":9: the PC is not a hexadecimal number"},
    {LINE("0010"), ":9: the mask is not a hexadecimal number of 32 bits"},
    {LINE("0010 100000000 0 EXIT 0 0 0"), ":9: the mask is not a hexadecimal number of 32 bits"},
    {LINE("0010 00100000 0 EXIT 0 0 0"), ":9: the mask has lanes that the block has no threads for"},
    {MINIMAL "-grid dim = (1,1,1)\n-block dim = (40,1,1)\n#BEGIN_TB\nthread block = 0,0,0\n" WARP("0", "1")
         EXIT WARP("1", "1") EXIT,
     ":12: the mask has lanes that the block has no threads for"},
    {LINE("0010 000fffff 1 EXIT 0 0 0"), ":9: the destination registers are not a count and R0 to R255"},
    {LINE("0010 000fffff 1 R256 EXIT 0 0 0"), ":9: the destination registers are not a count and R0 to R255"},
    {LINE("0010 000fffff 1 R EXIT 0 0 0"), ":9: the destination registers are not a count and R0 to R255"},
    {LINE("0010 000fffff 17 R1 EXIT 0 0 0"), ":9: the destination registers are not a count and R0 to R255"},
    {LINE("0010 000fffff -1 EXIT 0 0 0"), ":9: the destination registers are not a count and R0 to R255"},
    {LINE("0010 000fffff 0"), ":9: the instruction has no name"},
    {LINE("0010 000fffff 0 FADD"), ":9: the source registers are not a count and R0 to R255"},
    {LINE("0010 000fffff 0 FADD 1 UR4 0 0"), ":9: the source registers are not a count and R0 to R255"},
    {LDG("000fffff", ""), ":9: the mode of the addresses is not 0, 1 or 2"},
    {LDG("000fffff", "3 0x1000 4 0"), ":9: the mode of the addresses is not 0, 1 or 2"},
    {LINE("0010 000fffff 1 R4 LDG.E 1 R2 0 0"), ":9: an access has no width and addresses"},
    {LINE("0010 000fffff 1 R4 LDG.E.256 1 R2 32 1 0x1000 4 0"), ":9: a lane accesses at most 16 bytes"},
    {LDG("00000003", "0 0x1000"), ":9: there is not one hexadecimal address for each active lane"},
    {LDG("00000003", "0 0x1000 4096z 0"), ":9: there is not one hexadecimal address for each active lane"},
    {LDG("00000003", "0 0x00007f4000001000 0x00007f400000100g 0"),
     ":9: there is not one hexadecimal address for each active lane"},
    {LDG("00000003", "0 0x00007f4000001000 0x00007f40000010/0 0"),
     ":9: there is not one hexadecimal address for each active lane"},
    {LDG("00000003", "0 0x00007f4000001000 0X00007f40000010040 0"),
     ":9: there is not one hexadecimal address for each active lane"},
    {LDG("00000003", "0 0x1000 0x10000000000000001 0"),
     ":9: there is not one hexadecimal address for each active lane"},
    {LDG("00000003", "0 0x1000 0x1004 0x1008 0"),
     ":9: what follows the addresses is not one immediate; are there more than active lanes?"},
    {LDG("00000003", "0 0x1000 0x0200000000000000 0"), ":9: an address has more than 57 bits"},
    {LDG("00000003", "1 0x1000 0"), "."}, /* an older version's, without an immediate: below */
    {LDG("00000005", "1 0x1000 4 0"), ":9: base and stride are given for active lanes that are not one run"},
    {LDG("00000003", "1 0x1000 4 0 0"),
     ":9: what follows the addresses is not one immediate; are there more than active lanes?"},
    {LDG("00000003", "1 0x1000 4x 0"), ":9: base and stride are not a hexadecimal address and a decimal number"},
    {LDG("00000003", "1 0x1000 9223372036854775807 0"), ":9: an address has more than 57 bits"},
    {LDG("00000003", "1 0x1000 -4097 0"), ":9: an address has more than 57 bits"},
    {LDG("00000003", "1 0xffffffffffffffff 1 0"), ":9: an address has more than 57 bits"},
    {LDG("00000007", "2 0x1000 4 0"), "."},
    {LDG("00000007", "2 0x1000 4"), ":9: there is not one difference for each active lane after the first"},
    {LDG("00000007", "2 1000h 4 4 0"), ":9: the base is not a hexadecimal address"},
    {LDG("00000007", "2 0x1000 4 99999999999999999999 0"),
     ":9: there is not one difference for each active lane after the first"},
    {LDG("00000007", "2 0x1000 -5000 5000 0"), ":9: an address has more than 57 bits"},
    {LINE("0010 000fffff 0 BAR.SYNC 0 4 1 0x1000 0 0"), ":9: a barrier or wait has addresses"},
    {LINE("0010 000fffff 0 BAR.SYNC 0 0 zero"),
     ":9: what follows the addresses is not one immediate; are there more than active lanes?"},
    /* lists */
    {"MemcpyHtoD,0x1000\n", ":1: this is not `MemcpyHtoD,0xADDRESS,BYTES`"},
    {"MemcpyHtoD,0x1000,-4\n", ":1: this is not `MemcpyHtoD,0xADDRESS,BYTES`"},
    {"MemcpyHtoD,0x1000,4,4\n", ":1: this is not `MemcpyHtoD,0xADDRESS,BYTES`"},
    {"\nMemcpyHtoD,0x1ffffffffffffff,2\n", ":2: the range has addresses of more than 57 bits"},
    {"MemcpyHtoD,0x1000,18446744073709551615\n", ":1: this is not `MemcpyHtoD,0xADDRESS,BYTES`"},
    {"MemcpyHtoD,0x1000,4\nkernel-9.traceg\n", ":2: kernel-9.traceg: cannot open: No such file or directory"},
    {"pagewalk alloc 4 0x1000 16 a\nkernel-1\n",
     ":1: this is not `pagewalk KIND FLAGS 0xADDRESS BYTES NAME` as `trace export` writes it"},
    {"pagewalk alloc 0 0x1000 144115188075855873 a\n",
     ":1: this is not `pagewalk KIND FLAGS 0xADDRESS BYTES NAME` as `trace export` writes it"},
    {"pagewalk copy 3 0x1000 16\n",
     ":1: this is not `pagewalk KIND FLAGS 0xADDRESS BYTES NAME` as `trace export` writes it"},
    {"pagewalk advise 256 0x1000 16\n",
     ":1: this is not `pagewalk KIND FLAGS 0xADDRESS BYTES NAME` as `trace export` writes it"},
    {"pagewalk launch 0 0x1000 16\n",
     ":1: this is not `pagewalk KIND FLAGS 0xADDRESS BYTES NAME` as `trace export` writes it"},
    {"pagewalk sample many\n",
     ":1: this is not `pagewalk KIND FLAGS 0xADDRESS BYTES NAME` as `trace export` writes it"},
    {"kernel-1.tracez\n", ":1: kernel-1.tracez: cannot open: No such file or directory"},
    {"MemcpyHtoD,0x1000,4\nkernel\033[2J\n", ":2: the name of a kernel's file is not printable text"},
    {"MemcpyHtoD,0x1000,4\nkernel-1.traceg/../file\n",
     ":2: kernel-1.traceg/../file: cannot open: No such file or directory"},
    /* NVBit's lines */
    {NVBIT("grid_launch_id x"), ":1: this is not `grid_launch_id N - CTA X,Y,Z - warp N - …` with a warp below 64"},
    {NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 64 - LDG.E - 0x0"),
     ":1: this is not `grid_launch_id N - CTA X,Y,Z - warp N - …` with a warp below 64"},
    {NVBIT("grid_launch_id 0 - CTA 0,0 - warp 0 - LDG.E - 0x0"),
     ":1: this is not `grid_launch_id N - CTA X,Y,Z - warp N - …` with a warp below 64"},
    {NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 0 - "), ":1: the access has no instruction and addresses"},
    {NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E"), ":1: the access has no instruction and addresses"},
    {NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31), ":1" NO_ADDRESSES},
    {NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x0 0x0"), ":1" NO_ADDRESSES},
    {NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31 "word"), ":1" NO_ADDRESSES},
    {NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x200000000000000"),
     ":1: an address has more than 57 bits"},
    {NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E.256 - " ZEROES_31 "0x10000000"),
     ":1: a lane accesses at most 16 bytes"},
    {NVBIT("grid_launch_id 0 - CTA 0,65536,0 - warp 0 - LDG.E - " ZEROES_31 "0x0"),
     ":1: no grid has a thread block 0,65536,0"},
    {NVBIT("grid_launch_id 0 - CTA 4294967295,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x0"),
     ": launch 0 has not 1 to 268435456 thread blocks of 1 to 1024 threads"},
    {NVBIT("grid_launch_id 4 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x0")
         NVBIT("grid_launch_id 3 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x0"),
     ":2: launch 3 comes after a later one; kernels that ran at the same time are not understood"},
    {NVBIT("LAUNCH - Kernel name k - grid launch id 3") NVBIT("LAUNCH - Kernel name k - grid launch id 4")
         NVBIT("grid_launch_id 4 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x0")
             NVBIT("grid_launch_id 3 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x0"),
     ":4: launch 3 comes after a later one; kernels that ran at the same time are not understood"},
    {NVBIT("LAUNCH - Kernel pc 0x0 - Kernel name k"), ":1: this launch has no `Kernel name` and `grid launch id`"},
    {NVBIT("LAUNCH - Kernel name k - grid launch id k"), ":1: the `grid launch id` is not a number"},
    {NVBIT("LAUNCH - Kernel name k - grid launch id 0 - grid size 1,1"),
     ":1: `grid size`, `block size`, `nregs` and `shmem` of this launch are not understood"},
    {NVBIT("LAUNCH - Kernel name k - grid launch id 0 - grid size 1,1,1 - block size 32,32,2 - nregs 1 - shmem 0"),
     ": launch 0 has not 1 to 268435456 thread blocks of 1 to 1024 threads"},
    {NVBIT("LAUNCH - Kernel name k - grid launch id 0 - grid size 1,1,1 - block size 32,1,1 - nregs 1 - shmem 0")
         NVBIT("grid_launch_id 0 - CTA 1,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x0"),
     ":2" NOT_OF_LAUNCH},
    {NVBIT("LAUNCH - Kernel name k - grid launch id 0 - grid size 1,1,1 - block size 32,1,1 - nregs 1 - shmem 0")
         NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x0")
             NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 1 - LDG.E - " ZEROES_31 "0x0"),
     ":3" NOT_OF_LAUNCH},
    {NVBIT("LAUNCH - Kernel name k - grid launch id 0 - grid size 1,1,1 - block size 31,1,1 - nregs 1 - shmem 0")
         NVBIT("grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - " ZEROES_31 "0x10000000"),
     ":2: there are addresses of lanes that the block has no threads for"},
    /* nothing of these */
    {"",
     ": is no trace: neither pagewalk's own, nor Accel-Sim's kernelslist.g, .traceg or .tracez, nor NVBit's mem_trace"},
    {"words\n",
     ": is no trace: neither pagewalk's own, nor Accel-Sim's kernelslist.g, .traceg or .tracez, nor NVBit's mem_trace"},
    {"                kernel-1\nlog.trace\n",
     ": is no trace: neither pagewalk's own, nor Accel-Sim's kernelslist.g, .traceg or .tracez, nor NVBit's mem_trace"},
    {"\x1f\x8b\b", ": is compressed with gzip; decompress it, or use xz"},
    {"\x28\xb5\x2f\xfd words", ": is compressed with zstd; decompress it, or use xz"},
};

static void every_mistake_is_said_in_one_line_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_text("file", rows[i].text);
        if (strcmp(rows[i].message, ".")) {
            expect_refusal("file", rows[i].message);
            continue;
        }
        struct pw_trace *t = open_trace("file"); /* no mistake */
        pw_trace_close(t);
    }
}

static void zero_bytes_are_no_text(void **state)
{
    (void)state;
    static const char head[] = "-kernel name = k\n-accelsim tracer version = 6\n-grid dim = (1,1,1)\n"
                               "-block dim = (32,1,1)\n#BEGIN_TB\nthread block = 0,0,0\n\0\n";
    write_bytes("file", head, sizeof head - 1);
    expect_refusal("file", ":7: begins with a zero byte; a .tracez must be as the tracer has written it");
    static const struct {
        const char *text, *message; /* of which underscores become zero bytes */
    } lines[] = {{LINE("0010 000fffff 0 FA_DD 0 0 0"), "packed:9: the instruction has no name"},
                 {LDG("00000001", "0 0x________00001000 0"),
                  "packed:9: there is not one hexadecimal address for each active lane"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *text = strdup(lines[i].text);
        assert_non_null(text);
        size_t length = strlen(text);
        for (size_t c = (size_t)(strstr(text, "insts") - text); c < length; c++)
            text[c] = text[c] == '_' && text[c + 1] != 'T' ? '\0' : text[c]; /* but that of #END_TB */
        write_bytes("packed", text, length);
        struct pw_trace_writer *w;
        struct pw_error err;
        assert_int_equal(pw_trace_writer_open(NULL, &w, &err), PW_OK);
        assert_int_equal(pw_trace_import("packed", PW_TRACE_TRACEG, NULL, w, &err), PW_USER_ERROR);
        assert_string_equal(err.message, lines[i].message);
        pw_trace_writer_drop(w);
        free(text);
    }
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    expect_refusal("fifo", ": a trace must be a regular file");
    expect_refusal("/dev/zero", ": a trace must be a regular file");
    expect_refusal(".", ": a trace must be a regular file");
    expect_refusal("nothing", ": cannot open: No such file or directory");
    assert_int_equal(symlink("fifo", "kernel-fifo"), 0);
    assert_int_equal(symlink("/dev/zero", "kernel-zero"), 0);
    write_text("list", "MemcpyHtoD,0x1000,4\nkernel-fifo\n");
    expect_refusal("list", ":2: kernel-fifo: a trace must be a regular file");
    write_text("list", "MemcpyHtoD,0x1000,4\n\nkernel-zero\n");
    expect_refusal("list", ":3: kernel-zero: a trace must be a regular file");
    write_text("kernel-list.trace", "kernel-list.trace\n");
    expect_refusal("kernel-list.trace", ":1: this is neither `-key = value` nor the beginning of a thread block");
}

/* `count` times these bytes, compressed. */
static size_t pack(const char *name, const char *bytes, size_t count, size_t times)
{
    lzma_stream s = LZMA_STREAM_INIT;
    size_t capacity = 32 << 20;
    uint8_t *packed = malloc(capacity);
    assert_non_null(packed);
    assert_int_equal(lzma_easy_encoder(&s, 0, LZMA_CHECK_CRC32), LZMA_OK);
    s.next_out = packed;
    s.avail_out = capacity;
    for (size_t i = 0; i < times; i++) {
        s.next_in = (const uint8_t *)bytes;
        s.avail_in = count;
        assert_int_equal(lzma_code(&s, LZMA_RUN), LZMA_OK);
    }
    assert_int_equal(lzma_code(&s, LZMA_FINISH), LZMA_STREAM_END);
    size_t size = capacity - s.avail_out;
    write_bytes(name, packed, size);
    lzma_end(&s);
    free(packed);
    return size;
}

static void a_small_file_cannot_ask_for_much(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    char *megabyte = calloc(1, MIB);
    assert_non_null(megabyte);
    memset(megabyte, 'x', MIB);
    assert_true(pack("bomb.xz", megabyte, MIB, 200) < 1 << 20);
    expect_refusal("bomb.xz", ":1: a line is longer than 1048576 bytes");
    memset(megabyte, '\n', MIB);
    memcpy(megabyte, "-kernel name = k\n", strlen("-kernel name = k\n"));
    pack("bomb.xz", megabyte, MIB, 400);
    expect_refusal("bomb.xz", ":419424000: the lines before this one do not say `-accelsim tracer version = 6`");
    free(megabyte);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
#ifndef __SANITIZE_ADDRESS__
    assert_true(use.ru_maxrss < 200 << 10);
#endif
}

/* NVBit's text says how large a grid is, or one access in a thread block far away does. */
static void a_grid_that_does_nothing_is_refused_by_the_files_name(void **state)
{
    (void)state;
    write_text("far", NVBIT("grid_launch_id 0 - CTA 99999999,0,0 - warp 0 - LDG.E - 0x10000 " ZEROES_31));
    expect_refusal("far", ": launch 1 has 99999999 CTAs of 1 warps without any operation; at most 16777216 such warps "
                          "are replayed");
}

static bool count_calls(void *context, uint64_t bytes_read, uint64_t bytes_in_all)
{
    assert_true(bytes_read <= bytes_in_all);
    unsigned *left = context;
    return --*left == 0;
}

/* 80 MiB of empty lines in 13 KB: asked after every few megabytes of them, not of the file. */
static void a_small_file_of_much_text_can_be_interrupted(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    char *megabyte = malloc(MIB);
    assert_non_null(megabyte);
    memset(megabyte, '\n', MIB);
    memcpy(megabyte, "-kernel name = k\n", strlen("-kernel name = k\n"));
    assert_true(pack("bomb.xz", megabyte, MIB, 80) < MIB);
    unsigned left = 20;
    const struct pw_import_watch watch = {count_calls, &left};
    struct pw_trace *t;
    struct pw_error err = {0};
    assert_int_equal(pw_trace_open_any("bomb.xz", &watch, &t, &err), PW_INTERRUPTED);
    assert_string_equal(err.message, "bomb.xz: reading was interrupted");
    memcpy(megabyte, "MemcpyHtoD,0x1000,4\n", strlen("MemcpyHtoD,0x1000,4\n"));
    pack("bomb.xz", megabyte, MIB, 80);
    expect_refusal("bomb.xz", ":67107649: a list has at most 67108864 bytes");
    free(megabyte);
}

static void damaged_compression_is_noticed(void **state)
{
    (void)state;
    const char *text = LINE("0010 000fffff 0 EXIT 0 0 0");
    size_t size = pack("whole.xz", text, strlen(text), 1);
    struct pw_trace *t = open_trace("whole.xz");
    pw_trace_close(t);
    FILE *file = fopen("whole.xz", "rb");
    char *bytes = malloc(size + 14);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    for (size_t cut = 12; cut < size; cut += 4) {
        write_bytes("cut.xz", bytes, cut);
        expect_refusal("cut.xz", ": the compressed file ends too early");
    }
    for (size_t at = 12; at < size; at++) {
        struct pw_error err = {0};
        bytes[at] ^= 16;
        write_bytes("damaged.xz", bytes, size);
        assert_int_equal(pw_trace_open_any("damaged.xz", NULL, &t, &err), PW_USER_ERROR);
        bytes[at] ^= 16;
    }
    memcpy(bytes + size, "trailing bytes", 14);
    write_bytes("more.xz", bytes, size + 14);
    expect_refusal("more.xz", ": the compressed file is damaged");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_said_in_one_line_with_its_place),
        cmocka_unit_test(zero_bytes_are_no_text),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(a_small_file_cannot_ask_for_much),
        cmocka_unit_test(a_grid_that_does_nothing_is_refused_by_the_files_name),
        cmocka_unit_test(a_small_file_of_much_text_can_be_interrupted),
        cmocka_unit_test(damaged_compression_is_noticed),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
