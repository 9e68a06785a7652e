/* Between the options of a run and the replayer: device memory and policies are those that a run would have, time and
 * everything that takes time are not looked at. A regular file is mapped, so that its size does not matter; anything
 * else is read into memory, because it is gone through twice. */
#include "exp/touch/touch.h"

#include "system/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct input {
    const char *name;
    const volatile bool *interrupted; /* or NULL */
    char *text;
    size_t length;
    bool mapped;
};

static bool is_interrupted(const struct input *in)
{
    return in->interrupted && *in->interrupted;
}

static enum pw_status cannot_read(const struct input *in, struct pw_error *err)
{
    if (is_interrupted(in))
        return pw_fail(err, PW_INTERRUPTED, "interrupted");
    return pw_fail(err, PW_USER_ERROR, "%s: cannot be read: %s", in->name, strerror(errno));
}

static enum pw_status read_all(int fd, struct input *in, struct pw_error *err)
{
    size_t capacity = 0;
    for (;;) {
        if (in->length == capacity) {
            capacity = capacity ? 2 * capacity : 1 << 16;
            char *grown = realloc(in->text, capacity);
            if (!grown)
                return pw_fail_memory(err, "a touch file");
            in->text = grown;
        }
        ssize_t got = read(fd, in->text + in->length, capacity - in->length);
        if (got == 0)
            return PW_OK;
        if (got < 0 && (errno != EINTR || is_interrupted(in)))
            return cannot_read(in, err);
        in->length += got > 0 ? (size_t)got : 0;
    }
}

static enum pw_status load(int fd, struct input *in, struct pw_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return cannot_read(in, err);
    if (S_ISDIR(info.st_mode))
        return pw_fail(err, PW_USER_ERROR, "%s: is a folder; name a touch file", in->name);
    if (!S_ISREG(info.st_mode) || !info.st_size || lseek(fd, 0, SEEK_CUR) != 0)
        return read_all(fd, in, err);
    void *text = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        return cannot_read(in, err);
    in->text = text;
    in->length = (size_t)info.st_size;
    in->mapped = true;
    return PW_OK;
}

static enum pw_status open_input(const struct pw_touch_spec *spec, struct input *in, struct pw_error *err)
{
    const char *path = spec->file;
    bool standard = strcmp(path, "-") == 0;
    *in = (struct input){.name = standard ? "standard input" : path, .interrupted = spec->interrupted};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return cannot_read(in, err);
    enum pw_status status = load(fd, in, err);
    if (!standard)
        close(fd);
    return status;
}

static void close_input(struct input *in)
{
    if (in->mapped)
        munmap(in->text, in->length);
    else
        free(in->text);
}

/* The options of the run that this would be. */
static enum pw_status configure(const struct pw_touch_spec *spec, struct pw_config *config, struct pw_error *err)
{
    struct pw_options *options;
    char design[256], memory[128];
    const char **sets = malloc((spec->set_count + 1) * sizeof *sets);
    if (!sets)
        return pw_fail_memory(err, "options");
    for (size_t i = 0; i < spec->set_count; i++)
        sets[i] = spec->sets[i];
    uint64_t bytes = 0;
    enum pw_status status = spec->memory ? pw_touch_size(spec->memory, &bytes, err) : PW_OK;
    if (status != PW_OK) {
        pw_error_prefix(err, "--memory");
        free(sets);
        return status;
    }
    snprintf(memory, sizeof memory, "uvm.memory=%lluB", (unsigned long long)bytes);
    sets[spec->set_count] = memory;
    const struct pw_run_spec run = {.machine = spec->machine ? spec->machine : "h200",
                                    .design = spec->design ? spec->design : "uvm-nvidia",
                                    .sets = sets,
                                    .set_count = spec->set_count + (spec->memory != NULL)};
    status = pw_run_configure(&run, config, &options, design, sizeof design, err);
    free(sets);
    if (status != PW_OK)
        return status;
    pw_options_destroy(options);
    if (config->paging.mode != PW_PAGING_DEMAND)
        return pw_fail(err, PW_USER_ERROR,
                       "design %s does not page on demand; use -d uvm-nvidia or another of the uvm "
                       "designs (`pagewalk list designs` shows them)",
                       design);
    if (config->uvm.oversubscription > 0)
        return pw_fail(err, PW_USER_ERROR,
                       "uvm.oversubscription needs a workload's footprint; give device memory as --memory SIZE");
    return PW_OK;
}

static enum pw_status replay(const struct pw_config *config, uint64_t seed, const struct input *in,
                             pw_touch_visit *visit, void *context, struct pw_error *err)
{
    const struct pw_uvm_config *uvm = &config->uvm;
    struct pw_residency_config residency = {.prefetch = uvm->prefetch,
                                            .prefetch_full = uvm->prefetch_full,
                                            .evict = uvm->evict,
                                            .reserve = uvm->reserve / 100,
                                            .reserve_from = (enum pw_reserve_from)uvm->reserve_from,
                                            .free_buffer = uvm->free_buffer / 100,
                                            .order = pw_page_config_order(&config->page),
                                            .seed = seed};
    uint64_t bytes = uvm->memory ? uvm->memory : config->gpu.dram.bytes, unit = 1ULL << residency.order;
    residency.capacity = bytes / PW_PAGE_BYTES / unit * unit;
    if (!residency.capacity)
        return pw_fail(err, PW_USER_ERROR, "device memory must hold a page; set --memory to %llu KB or more",
                       (unsigned long long)unit * PW_PAGE_BYTES >> 10);
    struct pw_residency *r;
    enum pw_status status = pw_residency_create(&residency, &r, err);
    if (status != PW_OK)
        return status;
    status = pw_replay_touches(r, in->text, in->length, in->name, visit, context, err);
    pw_residency_destroy(r);
    return status;
}

/* The options that configure and replay read. */
static bool is_read(const char *pair)
{
    static const char *const names[] = {
        "paging.mode",     "uvm.prefetch",     "uvm.prefetch_full",    "uvm.evict",
        "uvm.reserve",     "uvm.reserve_from", "uvm.prefetch.partial", "uvm.prefetch_full.partial",
        "uvm.free_buffer", "uvm.memory",       "uvm.oversubscription", "page.size",
        "dram.bytes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == strcspn(pair, "=") && !strncmp(names[i], pair, strlen(names[i])))
            return true;
    return false;
}

enum pw_status pw_touch_notices(const struct pw_touch_spec *spec, pw_notice_visit *visit, void *context,
                                struct pw_error *err)
{
    struct pw_config config;
    enum pw_status status = configure(spec, &config, err);
    for (size_t i = 0; status == PW_OK && i < spec->set_count; i++) {
        char message[512];
        const char *pair = spec->sets[i];
        bool memory = spec->memory && !strncmp(pair, "uvm.memory=", strlen("uvm.memory="));
        snprintf(message, sizeof message, "--set %.300s has no effect because %s", pair,
                 memory ? "--memory is given" : "touch moves pages without taking time");
        if (memory || !is_read(pair))
            visit(context, message);
    }
    return status;
}

static bool pass_over(void *input, const struct pw_touch *touch)
{
    (void)touch;
    return !is_interrupted(input);
}

enum pw_status pw_touch_replay(const struct pw_touch_spec *spec, pw_touch_visit *visit, void *context,
                               struct pw_error *err)
{
    struct pw_config config;
    struct input in;
    enum pw_status status = configure(spec, &config, err);
    if (status != PW_OK)
        return status;
    status = open_input(spec, &in, err);
    if (status == PW_OK)
        status = replay(&config, spec->seed, &in, pass_over, &in, err);
    if (status == PW_OK)
        status = replay(&config, spec->seed, &in, visit, context, err);
    close_input(&in);
    return status;
}
