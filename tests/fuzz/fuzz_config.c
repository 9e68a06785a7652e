/* Any bytes as a configuration file, as machines and designs that may be based on one another, and again as --set
 * pairs: nothing may crash or go on for ever, and whatever is accepted must obey its row.
 *
 * An entry point for libFuzzer, and for standalone.c, which brings its own mutations and needs no special compiler.
 * A broken promise ends in abort(), which both report as a crash. */
#include "fuzz.h"
#include "sim/option.h"
#include "sim/yaml.h"
#include "system/catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const schedules[] = {"fr-fcfs", "fcfs", "address-space", NULL};

struct config {
    uint32_t clock_mhz, entries, latency, schedule;
    uint64_t size;
    double threshold;
    bool enabled;
    char label[PW_OPTION_TEXT_CAPACITY];
};

#define FIELD(member) .offset = offsetof(struct config, member)

static const struct pw_option top_rows[] = {
    {.name = "clock_mhz", .type = PW_OPTION_COUNT, FIELD(clock_mhz), .min = 1, .max = 5000, .fallback = "1385"},
    {.name = "label", .type = PW_OPTION_TEXT, FIELD(label)},
    {0}};

static const struct pw_option unit_rows[] = {
    {.name = "entries",
     .type = PW_OPTION_COUNT,
     FIELD(entries),
     .min = 1,
     .max = 65536,
     .fallback = "128",
     .power_of_two = true},
    {.name = "latency", .type = PW_OPTION_CYCLES, FIELD(latency), .min = 1, .max = 1000000, .fallback = "10us"},
    {.name = "size", .type = PW_OPTION_BYTES, FIELD(size), .min = 128, .fallback = "2MB"},
    {.name = "threshold", .type = PW_OPTION_NUMBER, FIELD(threshold), .max = 1, .fallback = "0.5"},
    {.name = "schedule", .type = PW_OPTION_CHOICE, FIELD(schedule), .choices = schedules, .fallback = "fcfs"},
    {.name = "enabled", .type = PW_OPTION_BOOL, FIELD(enabled), .fallback = "on"},
    {0}};

static const struct pw_option_group groups[] = {{"", top_rows, 0}, {"l1_tlb", unit_rows, 0}, {0}};

/* The embedded machines and designs are what stands between '@' in the input, filled up with empty lines; a program
 * that defines the lists does not get the library's. */
enum { CATALOG_FILES = 3, CATALOG_BYTES = 4096 };
static char catalog_texts[CATALOG_FILES][CATALOG_BYTES];
#define CATALOG                                                                                                        \
    {                                                                                                                  \
        {"a", "a.yaml", catalog_texts[0], CATALOG_BYTES}, {"b", "b.yaml", catalog_texts[1], CATALOG_BYTES},            \
            {"c", "c.yaml", catalog_texts[2], CATALOG_BYTES}, {0},                                                     \
    }
const struct pw_catalog_file pw_machine_files[] = CATALOG;
const struct pw_catalog_file pw_design_files[] = CATALOG;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_status(enum pw_status status, const struct pw_error *err, const char *place)
{
    if (status == PW_OK)
        return;
    require(status == PW_USER_ERROR && err->status == status);
    require(strlen(err->message) < sizeof(err->message) && !strpbrk(err->message, "\n\r\t\x1b"));
    require(!strncmp(err->message, place, strlen(place)) && strlen(err->message) > strlen(place) + 2);
}

/* Every value is in range, and its canonical text means the same value. */
static void check_values(struct pw_options *o, const struct config *c)
{
    require(c->clock_mhz >= 1 && c->clock_mhz <= 5000);
    require(c->entries >= 1 && c->entries <= 65536 && !(c->entries & (c->entries - 1)));
    require(c->size >= 128 && c->threshold >= 0 && c->threshold <= 1 && !signbit(c->threshold));
    require(c->schedule < 3 && memchr(c->label, '\0', sizeof(c->label)));
    struct pw_error err;
    if (pw_options_finish(o, &err) != PW_OK) {
        require(err.status == PW_USER_ERROR && strstr(err.message, "l1_tlb.latency = "));
        return;
    }
    require(c->latency >= 1 && c->latency <= 1000000);
    for (size_t i = 0; i < pw_options_count(o); i++) {
        struct pw_option_view before, after;
        struct config copy;
        memcpy(&copy, c, sizeof(copy));
        pw_options_view(o, i, &before);
        require(pw_options_set(o, before.name, before.value, "again", &err) == PW_OK);
        require(!memcmp(&copy, c, sizeof(copy)));
        pw_options_view(o, i, &after);
        require(!strcmp(before.value, after.value) && !strcmp(after.origin, "again"));
    }
}

struct reading {
    struct pw_options *options;
    bool keep_going; /* past values that are refused, so that what follows them is reached too */
};

static enum pw_status visit(void *context, const char *key, const char *value, int line, struct pw_error *err)
{
    const struct reading *reading = context;
    require(line >= 1 && *key && strlen(key) < 256);
    enum pw_status status = pw_options_set(reading->options, key, value, "fuzz.yaml", err);
    check_status(status, err, "");
    return reading->keep_going ? PW_OK : status;
}

static void feed_file(const char *text, size_t size, bool keep_going)
{
    struct config config = {0};
    struct pw_error err = {0};
    struct reading reading = {.keep_going = keep_going};
    require(pw_options_create(groups, &config, &config.clock_mhz, &reading.options, &err) == PW_OK);
    check_status(pw_yaml_read_text(text, size, "fuzz.yaml", visit, &reading, &err), &err, "fuzz.yaml:");
    check_values(reading.options, &config);
    pw_options_destroy(reading.options);
}

static void feed_pairs(const char *text, size_t size)
{
    struct config config = {0};
    struct pw_error err = {0};
    struct pw_options *o;
    require(pw_options_create(groups, &config, &config.clock_mhz, &o, &err) == PW_OK);
    char *copy = strndup(text, size), *rest = copy;
    require(copy);
    for (char *pair; (pair = strsep(&rest, "\n"));)
        check_status(pw_options_set_pair(o, pair, "--set", &err), &err, "");
    check_values(o, &config);
    free(copy);
    pw_options_destroy(o);
}

static void feed_catalog(const char *text, size_t size)
{
    static const char *const names[] = {"a", "a+b", "c+a+b"};
    memset(catalog_texts, '\n', sizeof(catalog_texts));
    for (size_t i = 0, file = 0, used = 0; i < size && file < CATALOG_FILES; i++)
        if (text[i] == '@') {
            file++;
            used = 0;
        } else if (used < CATALOG_BYTES) {
            catalog_texts[file][used++] = text[i];
        }
    for (size_t i = 0; i < 2 * sizeof(names) / sizeof(*names); i++) {
        struct config config = {0};
        struct pw_error err = {0};
        struct pw_options *o;
        char joined[64], note[PW_DESCRIPTION_CAPACITY];
        require(pw_options_create(groups, &config, &config.clock_mhz, &o, &err) == PW_OK);
        enum pw_status status = i % 2 ? pw_catalog_apply_designs(o, names[i / 2], joined, sizeof(joined), &err)
                                      : pw_catalog_apply_machine_noted(o, names[i / 2], note, &err);
        if (status == PW_FAILED) /* a description of an embedded file that is too long is not the user's mistake */
            require(strstr(err.message, " is longer than ") || strstr(err.message, "no room for the name"));
        else
            check_status(status, &err, "");
        if (status == PW_OK)
            check_values(o, &config);
        pw_options_destroy(o);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed_file((const char *)data, size, false);
    feed_file((const char *)data, size, true);
    feed_pairs((const char *)data, size);
    if (memchr(data, '@', size))
        feed_catalog((const char *)data, size);
    return 0;
}
