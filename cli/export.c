/* pagewalk export: the runs of a result store, for programs that read CSV or JSON.
 *
 * A store may be larger than memory, so pieces go to the file as they come. A file that is replaced appears when the
 * last one is written; standard output, a pipe and a device get them at once, so there a failure in the middle shows
 * only in the exit code. */
#include "command.h"

#include "exp/format/output.h"
#include "exp/store/store.h"
#include "sim/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct arguments {
    const char *db, *csv, *json;
    struct pw_store_filter filter;
};

static const struct pw_cli_flag flags[] = {
    {0, "db", PW_CLI_TEXT, offsetof(struct arguments, db), "FILE", "the result store (default pagewalk.db)"},
    {0, "csv", PW_CLI_TEXT, offsetof(struct arguments, csv), "FILE|-",
     "write CSV, one value per row (default: to standard output)"},
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write JSON, an array with an object per run"},
    {'m', "machine", PW_CLI_TEXT, offsetof(struct arguments, filter.machine), "NAME", "only runs of this machine"},
    {'d', "design", PW_CLI_TEXT, offsetof(struct arguments, filter.design), "NAME", "only runs of this design"},
    {'w', "workload", PW_CLI_TEXT, offsetof(struct arguments, filter.workload), "TEXT",
     "only runs of this workload, with its parameters (and, if it ends in @N+…, with these SMs)"},
    {.name = NULL},
};

struct target {
    const char *path;
    int fd;
    const volatile bool *interrupted;
};

static enum pw_status write_piece(void *context, const char *bytes, size_t length, struct pw_error *err)
{
    const struct target *t = context;
    while (length) {
        ssize_t written = *t->interrupted ? 0 : write(t->fd, bytes, length);
        if (*t->interrupted) {
            *err = (struct pw_error){.status = PW_INTERRUPTED};
            return PW_INTERRUPTED;
        }
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return t->fd == STDOUT_FILENO
                       ? pw_output_failed("standard output", errno, err)
                       : pw_fail(err, PW_FAILED, "%s: cannot be written: %s", t->path, strerror(errno));
        bytes += written;
        length -= (size_t)written;
    }
    return PW_OK;
}

typedef enum pw_status exporter(struct pw_store *s, const struct pw_store_filter *filter, pw_store_write *write,
                                void *context, struct pw_error *err);

static bool is_dash(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static enum pw_status export_straight(struct pw_store *s, const struct pw_store_filter *filter, exporter *to,
                                      struct target *t, struct pw_error *err)
{
    bool standard = is_dash(t->path);
    t->fd = standard ? STDOUT_FILENO : open(t->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (t->fd < 0)
        return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", t->path, strerror(errno));
    enum pw_status status = to(s, filter, write_piece, t, err);
    if (!standard && close(t->fd) != 0 && status == PW_OK)
        status = pw_fail(err, PW_FAILED, "%s: cannot be written: %s", t->path, strerror(errno));
    return status;
}

static enum pw_status export_file(struct pw_store *s, const struct pw_store_filter *filter, exporter *to,
                                  struct target *t, struct pw_error *err)
{
    struct pw_new_file file;
    enum pw_status status = pw_new_file_open(&file, t->path, err);
    if (status != PW_OK)
        return status;
    t->fd = file.fd;
    status = to(s, filter, write_piece, t, err);
    if (status != PW_OK) {
        pw_new_file_drop(&file);
        return status;
    }
    return pw_new_file_finish(&file, err);
}

static int export_to(struct pw_store *s, const struct pw_store_filter *filter, exporter *to, const char *path,
                     const volatile bool *interrupted)
{
    struct stat info;
    struct pw_error err = {0};
    struct target t = {.path = path, .interrupted = interrupted};
    bool straight = is_dash(path) || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
    enum pw_status status = (straight ? export_straight : export_file)(s, filter, to, &t, &err);
    return status == PW_OK ? PW_OK : pw_cli_report(&err);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat info_a, info_b;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &info_a) == 0 && stat(b, &info_b) == 0 && S_ISREG(info_a.st_mode) &&
           info_a.st_dev == info_b.st_dev && info_a.st_ino == info_b.st_ino;
}

static int check_arguments(const struct arguments *a, int rest, char **operands)
{
    struct pw_error err = {0};
    const char *outputs[] = {a->csv, a->json};
    if (rest > 0)
        return pw_cli_fail(PW_USER_ERROR, "export takes no \"%s\"; the store is given with --db", operands[0]);
    if (is_dash(a->json) && is_dash(a->csv))
        return pw_cli_fail(PW_USER_ERROR, "--json and --csv cannot both go to standard output; name a file for one");
    if (a->json && a->csv && is_same_file(a->json, a->csv))
        return pw_cli_fail(PW_USER_ERROR, "--json and --csv name the same file \"%s\"", a->json);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        if (!outputs[i])
            continue;
        if (!is_dash(outputs[i]) && is_same_file(outputs[i], a->db))
            return pw_cli_fail(PW_USER_ERROR, "%s: is the result store itself; name another file", outputs[i]);
        if (pw_output_check(outputs[i], &err) != PW_OK)
            return pw_cli_report(&err);
    }
    return PW_OK;
}

/* Files come first: when standard output is a closed pipe they are there all the same. */
static int export_all(const struct arguments *a, struct pw_store *s)
{
    int status = PW_OK;
    const volatile bool *interrupted = pw_cli_catch_interrupts();
    const char *csv = a->csv || a->json ? a->csv : "-";
    for (int to_stdout = 0; to_stdout < 2; to_stdout++) {
        if (status == PW_OK && a->json && is_dash(a->json) == to_stdout)
            status = export_to(s, &a->filter, pw_store_export_json, a->json, interrupted);
        if (status == PW_OK && csv && is_dash(csv) == to_stdout)
            status = export_to(s, &a->filter, pw_store_export_csv, csv, interrupted);
    }
    return status;
}

static int run(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {.db = "pagewalk.db"};
    struct pw_store *store;
    struct pw_error err = {0};
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &status))
        return status;
    status = check_arguments(&a, rest, argv);
    if (status != PW_OK)
        return status;
    if (pw_store_open(a.db, PW_STORE_READ, &store, &err) != PW_OK)
        return pw_cli_report(&err);
    status = export_all(&a, store);
    pw_store_close(store);
    return status;
}

const struct pw_cli_command pw_cli_export_command = {
    .name = "export",
    .usage = "[--db FILE] [--csv FILE|-] [--json FILE|-] [flags]",
    .summary = "write the runs of a result store as CSV or JSON",
    .details =
        "CSV has the columns run, app, component, metric, unit, value, machine, design, workload, seed; JSON has\n"
        "one object per run, as `pagewalk run --json` writes it. docs/store.md says more, and how to ask the store\n"
        "itself with SQL. Filters compare whole names; what matches nothing gives a header or an empty array.\n\n"
        "Example: pagewalk export --design gpu-mmu --csv gpu-mmu.csv",
    .flags = flags,
    .run = run,
};
