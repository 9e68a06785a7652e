/* The folder that Accel-Sim reads (export.h): its list of what the host and the GPU did, and the kernels.
 *
 * Accel-Sim knows copies to the device and kernels, and ignores lines that begin with neither. What else the host did
 * is on such lines, `pagewalk KIND FLAGS 0xADDRESS BYTES NAME`, so that an import of the folder (import_kernelslist.c)
 * has the allocations, advice and frees of the trace, and its replay the same pages. */
#include "trace/export.h"

#include "trace/export_kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct export
{
    struct pw_trace *trace;
    const struct pw_export_spec *spec;
    struct pw_export_progress progress;
    char *target, *temporary; /* the folder, and what it is called until it is complete */
    int folder;               /* a descriptor; -1: there is none yet */
    char *list_name;
    struct pw_export_text list;
};

static const char *const kinds[PW_TRACE_EVENT_KIND_COUNT] = {
    [PW_TRACE_ALLOC] = "alloc",       [PW_TRACE_FREE] = "free",     [PW_TRACE_COPY] = "copy",
    [PW_TRACE_PREFETCH] = "prefetch", [PW_TRACE_ADVISE] = "advise", [PW_TRACE_PROTECT] = "protect"};

const char *pw_export_event_name(enum pw_trace_event_kind kind)
{
    return kinds[kind];
}

static void write_event(struct export *x, const struct pw_trace_event *e)
{
    unsigned long long address = e->address, bytes = e->bytes;
    if (e->kind == PW_TRACE_COPY && e->flags == PW_TRACE_TO_DEVICE)
        pw_export_print(&x->list, "MemcpyHtoD,0x%016llx,%llu\n", address, bytes);
    else
        pw_export_print(&x->list, "pagewalk %s %u 0x%llx %llu %.900s\n", kinds[e->kind],
                        e->kind == PW_TRACE_ALLOC ? e->memory : e->flags, address, bytes, e->name);
}

static enum pw_status write_kernel(struct export *x, const struct pw_trace_event *e, struct pw_error *err)
{
    char file[32], *shown = NULL;
    struct pw_export_text text;
    snprintf(file, sizeof file, "kernel-%u.traceg%s", e->allocation + 1, x->spec->xz ? ".xz" : "");
    if (asprintf(&shown, "%s/%s", x->target, file) < 0)
        return pw_fail_memory(err, "a file of a trace");
    enum pw_status status = pw_export_open(&text, x->folder, file, shown, x->spec->xz, err);
    if (status == PW_OK) {
        status = pw_export_kernel(x->trace, e, &text, &x->progress, err);
        if (status == PW_OK)
            status = pw_export_close(&text, err);
        else
            pw_export_drop(&text);
    }
    free(shown);
    pw_export_print(&x->list, "%s\n", file);
    return status;
}

static bool is_chosen(const struct export *x, const struct pw_trace_event *e)
{
    return e->kind == PW_TRACE_LAUNCH && (!x->spec->launch || e->allocation + 1 == x->spec->launch);
}

static enum pw_status write_all(struct export *x, struct pw_error *err)
{
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(x->trace, &count);
    uint32_t sample = pw_trace_get_origin(x->trace)->cta_sample;
    for (size_t i = 0; i < count; i++)
        x->progress.all += is_chosen(x, &events[i]) ? events[i].warp_instructions : 0;
    enum pw_status status = pw_export_open(&x->list, x->folder, "kernelslist.g", x->list_name, false, err);
    if (status == PW_OK && sample > 1)
        pw_export_print(&x->list, "pagewalk sample %u\n", sample);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        if (events[i].kind != PW_TRACE_LAUNCH)
            write_event(x, &events[i]);
        else if (is_chosen(x, &events[i]))
            status = write_kernel(x, &events[i], err);
        if (x->spec->launch && is_chosen(x, &events[i]))
            break;
    }
    if (status == PW_OK)
        status = pw_export_close(&x->list, err);
    return status;
}

static enum pw_status name_target(struct export *x, struct pw_error *err)
{
    const char *folder = x->spec->folder;
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    char *list, *target = strndup(folder, length);
    if (!target || asprintf(&list, "%s/kernelslist.g", target) < 0) {
        free(target);
        return pw_fail_memory(err, "a folder");
    }
    x->target = target;
    x->list_name = list;
    return PW_OK;
}

/* What may be there already: nothing, or an empty folder. */
static enum pw_status check_target(const char *path, struct pw_error *err)
{
    DIR *folder = opendir(path);
    if (!folder && errno == ENOENT)
        return PW_OK;
    if (!folder)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot be written: %s", path, strerror(errno));
    bool empty = true;
    for (const struct dirent *entry; (entry = readdir(folder));)
        empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    closedir(folder);
    return empty ? PW_OK : pw_fail(err, PW_USER_ERROR, "%s: is there already; name a new folder", path);
}

static enum pw_status make_folder(struct export *x, struct pw_error *err)
{
    enum { MOST_NAMES = 100 };
    int cause = EEXIST;
    for (unsigned i = 0; i < MOST_NAMES && cause == EEXIST; i++) {
        char *name;
        if (asprintf(&name, "%s.%ld-%u.tmp", x->target, (long)getpid(), i) < 0)
            return pw_fail_memory(err, "a folder");
        cause = mkdir(name, 0777) ? errno : 0;
        if (!cause)
            x->temporary = name;
        else
            free(name);
    }
    if (!cause) {
        x->folder = open(x->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (x->folder >= 0)
            return PW_OK;
        cause = errno;
        rmdir(x->temporary);
    }
    return pw_fail(err, PW_USER_ERROR, "%s: cannot be created: %s", x->target, strerror(cause));
}

/* Removes whatever was written. */
static void remove_folder(struct export *x)
{
    DIR *folder = fdopendir(dup(x->folder));
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        unlinkat(x->folder, entry->d_name, 0); /* not . and .. */
    closedir(folder);
    rmdir(x->temporary);
}

static enum pw_status put_in_place(struct export *x, struct pw_error *err)
{
    if (fsync(x->folder) || rename(x->temporary, x->target))
        return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", x->target, strerror(errno));
    return PW_OK;
}

enum pw_status pw_trace_export(struct pw_trace *t, const struct pw_export_spec *spec, struct pw_error *err)
{
    struct export x = {.trace = t, .spec = spec, .progress.watch = spec->watch, .folder = -1};
    if (spec->launch > pw_trace_launches(t))
        return pw_fail(err, PW_USER_ERROR, "%s: has %u launches, no launch %u", pw_trace_path(t), pw_trace_launches(t),
                       spec->launch);
    enum pw_status status = name_target(&x, err);
    if (status == PW_OK)
        status = check_target(x.target, err);
    if (status == PW_OK)
        status = make_folder(&x, err);
    if (status == PW_OK)
        status = write_all(&x, err);
    if (status == PW_OK)
        status = put_in_place(&x, err);
    pw_export_drop(&x.list);
    if (x.folder >= 0 && status != PW_OK)
        remove_folder(&x);
    if (x.folder >= 0)
        close(x.folder);
    free(x.target);
    free(x.temporary);
    free(x.list_name);
    return status;
}
