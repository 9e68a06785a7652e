/* pagewalk touch: page touches one at a time, without time, as CSV. Rows are written as they come, in pieces of about
 * 64 KB, so that a file of any size can be replayed; a file with a mistake in it gives no row. */
#include "command.h"

#include "exp/format/output.h"
#include "exp/touch/touch.h"
#include "notices.h"
#include "sim/new_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 16 };

struct arguments {
    const char *machine, *design, *memory, *csv;
    struct pw_cli_list sets;
    uint64_t seed;
    bool strict;
};

static const struct pw_cli_flag flags[] = {
    {'m', "machine", PW_CLI_TEXT, offsetof(struct arguments, machine), "NAME|FILE.yaml",
     "whose device memory there is (default h200)"},
    {'d', "design", PW_CLI_TEXT, offsetof(struct arguments, design), "NAME|FILE.yaml[+…]",
     "what comes and what leaves (default uvm-nvidia)"},
    {0, "memory", PW_CLI_TEXT, offsetof(struct arguments, memory), "SIZE",
     "device memory for managed data (default all of the machine's)"},
    {0, "set", PW_CLI_LIST, offsetof(struct arguments, sets), "KEY=VALUE", "set one option; may be repeated"},
    {0, "strict", PW_CLI_SWITCH, offsetof(struct arguments, strict), NULL, PW_CLI_STRICT_HELP},
    {0, "seed", PW_CLI_NUMBER, offsetof(struct arguments, seed), "N", "seed of all random numbers (default 1)"},
    {0, "csv", PW_CLI_TEXT, offsetof(struct arguments, csv), "FILE|-",
     "write the rows there (default standard output)"},
    {.name = NULL},
};

struct output {
    struct pw_text text;
    int fd;
    int cause; /* errno of the write that failed, 0 when none has */
    const volatile bool *interrupted;
};

static void flush(struct output *o)
{
    for (size_t done = 0; !o->cause && !*o->interrupted && done < o->text.length;) {
        ssize_t written = write(o->fd, o->text.bytes + done, o->text.length - done);
        if (written < 0 && errno != EINTR)
            o->cause = errno;
        done += written > 0 ? (size_t)written : 0;
    }
    o->text.length = 0;
}

static bool add_row(void *context, const struct pw_touch *t)
{
    struct output *o = context;
    pw_text_print(&o->text, "%llu,", (unsigned long long)t->step);
    pw_text_csv_field(&o->text, t->name);
    pw_text_print(&o->text, ",%llu,%s,%s,%u,%u\n", (unsigned long long)t->page, t->write ? "write" : "read",
                  t->fault ? "fault" : "hit", t->pages_in, t->pages_out);
    if (o->text.length >= PIECE_BYTES)
        flush(o);
    return !o->cause && !*o->interrupted;
}

static enum pw_status write_rows(const struct pw_touch_spec *spec, const char *where, int fd, struct pw_error *err)
{
    struct output o = {.fd = fd, .interrupted = spec->interrupted};
    pw_text_add(&o.text, "step,name,page,op,result,pages_in,pages_out\n");
    enum pw_status status = pw_touch_replay(spec, add_row, &o, err);
    if (status == PW_OK)
        flush(&o);
    if (status == PW_OK && *o.interrupted)
        status = pw_fail(err, PW_INTERRUPTED, "interrupted");
    if (o.cause)
        status = pw_output_failed(where, o.cause, err);
    if (status == PW_OK)
        status = pw_text_finish(&o.text, err);
    pw_text_free(&o.text);
    return status;
}

static int replay(const struct arguments *a, const char *file)
{
    const struct pw_touch_spec spec = {.file = file,
                                       .machine = a->machine,
                                       .design = a->design,
                                       .sets = a->sets.items,
                                       .set_count = a->sets.count,
                                       .memory = a->memory,
                                       .seed = a->seed,
                                       .interrupted = pw_cli_catch_interrupts()};
    struct pw_error err = {0};
    struct pw_new_file target;
    enum pw_status status;
    if (!a->csv || strcmp(a->csv, "-") == 0) {
        status = write_rows(&spec, "standard output", STDOUT_FILENO, &err);
        return status == PW_OK ? PW_OK : pw_cli_report(&err);
    }
    if (pw_output_check(a->csv, &err) != PW_OK || pw_new_file_open(&target, a->csv, &err) != PW_OK)
        return pw_cli_report(&err);
    status = write_rows(&spec, a->csv, target.fd, &err);
    if (status == PW_OK)
        status = pw_new_file_finish(&target, &err);
    else
        pw_new_file_drop(&target);
    return status == PW_OK ? PW_OK : pw_cli_report(&err);
}

static int check_and_replay(const struct arguments *a, const char *file)
{
    const struct pw_touch_spec spec = {.machine = a->machine,
                                       .design = a->design,
                                       .sets = a->sets.items,
                                       .set_count = a->sets.count,
                                       .memory = a->memory};
    struct pw_cli_notices notices = {0};
    struct pw_error err = {0};
    if (pw_touch_notices(&spec, pw_cli_notices_visit, &notices, &err) != PW_OK)
        return pw_cli_report(&err);
    int code = pw_cli_notices_finish(&notices, NULL, 0, a->strict);
    return code == PW_OK ? replay(a, file) : code;
}

static int touch(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {.seed = 1};
    int rest, status;
    a.sets.items = calloc((size_t)argc + 1, sizeof *a.sets.items);
    if (!a.sets.items)
        return pw_cli_fail(PW_FAILED, "out of memory");
    if (pw_cli_parse(self, argc, argv, &a, &rest, &status))
        status = rest == 1
                     ? check_and_replay(&a, argv[0])
                     : pw_cli_fail(PW_USER_ERROR, "touch takes one FILE of page touches, or - for standard input");
    free(a.sets.items);
    return status;
}

const struct pw_cli_command pw_cli_touch_command = {
    .name = "touch",
    .usage = "FILE [-d DESIGN] [--memory SIZE] [flags]",
    .summary = "replay page touches one at a time: which of them fault, what comes and goes",
    .details =
        "Lines of FILE are `alloc NAME BYTES`, `read NAME PAGE`, `write NAME PAGE` and `free NAME`; pages are of\n"
        "4 KB, from the start of the allocation; # begins a comment. Each touch gives a row of CSV:\n"
        "step,name,page,op,result,pages_in,pages_out.\n\n"
        "Example: pagewalk touch examples/touches/tree.touch -d uvm-nvidia --memory 4MB",
    .flags = flags,
    .run = touch,
};
