/* The line about device memory over a result with demand paging: how much of it the run had for managed data, and for
 * how much data. Without it, a limit that was none goes unnoticed: a run in which no page had to leave says nothing
 * about a lack of memory, and that is said too. */
#include "exp/format/result.h"

#include "sim/c_locale.h"

#include <string.h>

/* 0 where there is no such metric. Demand paging has one GPU. */
static double metric(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (strcmp(r->metrics[i].name, name) == 0)
            return r->metrics[i].real;
    return 0;
}

static const char *option(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->option_count; i++)
        if (strcmp(r->options[i].name, name) == 0)
            return r->options[i].value;
    return "";
}

static double number_of(const struct pw_result *r, const char *name)
{
    char *end;
    return pw_c_strtod(option(r, name), &end);
}

/* Metrics that leave a part of the run out say neither what was allocated before it nor what was touched. */
static bool is_whole(const struct pw_result *r)
{
    return !r->made.warmup && !r->made.kernels;
}

/* What the programs touch at one time, where the run knows: a first pass has counted it, or the metrics are those of
 * the whole run. */
static double touched(const struct pw_result *r)
{
    double data = metric(r, "gpu0.uvm.data_bytes");
    if (data > 0 && strcmp(option(r, "uvm.oversubscription_of"), "touched") == 0)
        return data;
    return is_whole(r) ? metric(r, "gpu0.mem.touched_bytes") : 0;
}

void pw_result_memory_line(const struct pw_result *r, struct pw_text *out)
{
    double memory = metric(r, "gpu0.uvm.memory_bytes"), data = touched(r);
    char number[PW_NUMBER_CAPACITY];
    if (memory <= 0)
        return;
    bool limited = number_of(r, "uvm.oversubscription") > 0 || number_of(r, "uvm.memory") > 0;
    pw_format_bytes(number, memory);
    pw_text_print(out, "device memory: %s", number);
    if (data > 0) {
        pw_format_bytes(number, data);
        pw_text_print(out, " for %s touched", number);
        if (limited)
            pw_text_print(out, ", %.0f%% of it", 100 * data / memory);
    }
    pw_format_bytes(number, metric(r, "gpu0.mem.allocated_bytes"));
    if (is_whole(r))
        pw_text_print(out, " (%s allocated)", number);
    pw_text_add(out, "\n");
    if (limited && metric(r, "gpu0.uvm.pages_evicted") == 0)
        pw_text_add(out, "memory was limited, but no page had to leave the GPU\n");
}
