/* The default machine of a recording: by the name of the device, for several recordings, and what is said. */
#include "system/recorded_machine.h"
#include "trace_fixture.h"

#include <stdio.h>
#include <unistd.h>

static void devices_have_their_machine_or_the_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *device, *machine;
        bool nearest;
    } cases[] = {
        {"NVIDIA H200", "h200", false},
        {"NVIDIA H200 NVL", "h200", false},
        {"nvidia h200", "h200", false},
        {"NVIDIA H100 80GB HBM3", "h100", false},
        {"NVIDIA A100-SXM4-40GB", "a100", false},
        {"NVIDIA A100 80GB PCIe", "a100", false},
        {"NVIDIA GeForce RTX 4090", "rtx4090", false},
        {"Tesla V100-SXM2-16GB", "volta", false},
        {"Quadro GV100", "volta", false},
        {"NVIDIA GeForce GTX 1080 Ti", "pascal", false},
        {"GeForce GTX 480", "fermi", false},
        {"NVIDIA GH200 480GB", "h100", true},
        {"NVIDIA H20", "h100", true},
        {"NVIDIA A30", "a100", true},
        {"NVIDIA A10", "rtx4090", true},
        {"NVIDIA L40S", "rtx4090", true},
        {"Tesla T4", "rtx4090", true},
        {"NVIDIA GeForce RTX 4080", "rtx4090", true},
        {"NVIDIA GeForce RTX 5090", "rtx4090", true},
        {"NVIDIA GeForce RTX 3090", "rtx4090", true},
        {"NVIDIA RTX 6000 Ada Generation", "rtx4090", true},
        {"NVIDIA RTX A6000", "rtx4090", true},
        {"NVIDIA GeForce GTX 1080", "pascal", true},
        {"Tesla P100-PCIE-16GB", "pascal", true},
        {"Quadro P6000", "pascal", true},
        {"GeForce GTX 580", "fermi", true},
        {"NVIDIA TITAN V", "volta", true},
        {"NVIDIA B200", "h200", true},
        {"AMD Instinct MI300X", "h200", true},
        {"XH200", "h200", true},
        {"NVIDIA H2000", "h200", true},
        {"?", "h200", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pw_catalog_file *machine;
        struct pw_error err;
        bool nearest;
        assert_ok(pw_recorded_find(cases[i].device, &machine, &nearest, &err), &err);
        assert_non_null(machine);
        if (strcmp(machine->name, cases[i].machine) != 0 || nearest != cases[i].nearest)
            fail_msg("%s: %s%s", cases[i].device, machine->name, nearest ? ", the nearest" : "");
    }
}

enum { FILES = 4 };

static char paths[FILES][64], texts[FILES][80];

/* Traces of these devices, as workloads in texts[]. */
static void record(const char *const *devices)
{
    for (unsigned i = 0; i < FILES && devices[i]; i++) {
        struct pw_trace_writer *w;
        struct pw_error err;
        snprintf(paths[i], sizeof paths[i], "/tmp/pagewalk-recorded-%d-%u.pwt", (int)getpid(), i);
        snprintf(texts[i], sizeof texts[i], "trace:%s", paths[i]);
        assert_ok(pw_trace_writer_open(paths[i], &w, &err), &err);
        pw_trace_writer_set_origin(w, &(struct pw_trace_origin){"test", "test", devices[i], 1, 1});
        assert_ok(pw_trace_writer_finish(w, NULL, &err), &err);
    }
}

static int remove_files(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FILES; i++)
        if (*paths[i])
            unlink(paths[i]);
    return 0;
}

struct said {
    unsigned lines;
    char last[2048];
};

static void note(void *context, const char *message)
{
    struct said *said = context;
    said->lines++;
    snprintf(said->last, sizeof said->last, "%s", message);
}

/* What is chosen, and what is said of it: a line that has `words`, or with NULL nothing. */
static void expect(const char *const *workloads, const char *const *machines, const char *machine, const char *words)
{
    size_t workload_count = 0, machine_count = 0;
    struct said said = {0};
    struct pw_recorded_choice choice;
    struct pw_error err;
    while (workloads[workload_count])
        workload_count++;
    while (machines[machine_count])
        machine_count++;
    assert_ok(pw_recorded_choose(workloads, workload_count, machines, machine_count, note, &said, &choice, &err), &err);
    if (!machine) {
        assert_null(choice.machine);
        assert_null(choice.design);
    } else {
        assert_string_equal(choice.machine, machine);
        assert_string_equal(choice.design, "gpu-mmu-2m");
    }
    assert_int_equal(said.lines, words != NULL);
    if (words && !strstr(said.last, words))
        fail_msg("\"%s\" has no \"%s\"", said.last, words);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NONE ((const char *const[]){NULL})

static void a_recording_chooses_and_says_what_is_to_be_known(void **state)
{
    (void)state;
    char both[256], mixed[256], skipped[256], own[80];
    record(LIST("NVIDIA H200", "", "NVIDIA A10", "emulated sm_90"));
    snprintf(both, sizeof both, "%s,%s", texts[2], texts[0]);
    snprintf(mixed, sizeof mixed, "vecadd,%s@15+15", texts[0]);
    snprintf(skipped, sizeof skipped, "%s:skip=1:count=2", texts[0]);
    snprintf(own, sizeof own, "%s.yaml", paths[0]);
    FILE *file = fopen(own, "w");
    assert_non_null(file);
    fputs("base: h200\nl2_tlb: {latency: 20}\n", file);
    fclose(file);
    expect(LIST(texts[0]), NONE, "h200", NULL);
    expect(LIST(skipped), NONE, "h200", NULL);
    expect(LIST(mixed), NONE, "h200", NULL);
    expect(LIST(texts[1]), NONE, NULL, NULL);
    expect(LIST(texts[3]), NONE, NULL, NULL);
    expect(LIST("vecadd"), NONE, NULL, NULL);
    expect(LIST("trace:/nowhere.pwt"), NONE, NULL, NULL);
    expect(LIST("nothing"), NONE, NULL, NULL);
    expect(LIST(texts[2]), NONE, "rtx4090",
           "was recorded on NVIDIA A10, which no machine models; it runs on rtx4090, the nearest");
    expect(LIST(texts[0]), LIST("h200"), "h200", NULL);
    expect(LIST(texts[0]), LIST("h200+/dev/null"), "h200", NULL);
    expect(LIST(texts[0]), LIST(own), "h200", NULL);
    expect(LIST(texts[0]), LIST("h100"), "h200", "it runs on h100"); /* which is built on h200, but another card */
    expect(LIST(texts[0]), LIST("mosaic", "h200"), "h200", NULL);
    expect(LIST(texts[0]), LIST("volta"), "h200",
           "was recorded on NVIDIA H200, which is machine h200; it runs on volta");
    expect(LIST(texts[2]), LIST("volta"), "rtx4090", NULL);
    expect(LIST(texts[0]), LIST("vlta"), "h200", NULL); /* the run's to say */
    expect(LIST("vecadd", texts[1], texts[0], texts[2]), NONE, "h200", "was recorded on NVIDIA A10; all run on h200");
    expect(LIST(both), LIST("volta"), "rtx4090", NULL);
    unlink(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_have_their_machine_or_the_nearest),
        cmocka_unit_test(a_recording_chooses_and_says_what_is_to_be_known),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
