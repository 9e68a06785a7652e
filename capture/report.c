/* Messages of the recorder: see the header. */
#include "report.h"

#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void pw_capture_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("pagewalk-capture: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void tell_recorded(const struct pw_capture_summary *s, const char *file, double total_seconds)
{
    struct stat st;
    double bytes = stat(file, &st) == 0 ? (double)st.st_size : 0;
    pw_capture_say(
        "%s: %llu of %llu launches, %llu CTAs, %llu accesses of warps (%llu with an address per lane), %.0f bytes",
        file, (unsigned long long)s->recorded, (unsigned long long)s->launches, (unsigned long long)s->ctas,
        (unsigned long long)s->operations, (unsigned long long)s->divergent, bytes);
    double in = s->seconds > 0 ? s->seconds : 1;
    pw_capture_say(
        "%.3f s in recorded launches (%.3f ms each), %.2f million records a second, %.0f MB through the ring; %.3f s "
        "since CUDA was first used",
        s->seconds, s->recorded ? 1e3 * s->seconds / (double)s->recorded : 0, (double)s->records / in / 1e6,
        (double)s->ring_bytes / 1e6, total_seconds);
}

void pw_capture_report(const struct pw_capture_summary *s, const struct pw_capture_missing *missing, const char *file,
                       double total_seconds)
{
    if (s->records)
        tell_recorded(s, file, total_seconds);
    if (s->guessed)
        pw_capture_say("%llu of %llu stretches between records are guessed, as their code is not known; the first ends "
                       "at 0x%llx, its kernel begins at 0x%llx",
                       (unsigned long long)s->guessed, (unsigned long long)s->records,
                       (unsigned long long)s->guessed_at, (unsigned long long)s->guessed_kernel);
    if (s->incomplete)
        pw_capture_say("incomplete: %llu launches have code that copies tensors (TMA), or from shared to global memory "
                       "in bulk, which "
                       "is not recorded; their kernels: %s",
                       (unsigned long long)s->incomplete, s->incomplete_kernels);
    if (s->limited)
        pw_capture_say("the trace reached --limit; later launches are missing");
    if (s->odd_sizes)
        pw_capture_say("%llu accesses were not of 1, 2, 4, 8 or 16 bytes a lane; they count as instructions only",
                       (unsigned long long)s->odd_sizes);
    if (s->unended)
        pw_capture_say("the end of %llu CTAs was not seen", (unsigned long long)s->unended);
    if (s->busy + s->too_large + missing->other_contexts + missing->graph_launches + missing->unpatched)
        pw_capture_say(
            "not recorded: %llu launches beside an open one, %llu with too many CTAs, %llu in other contexts, %llu "
            "launches of CUDA graphs, %llu of kernels in the %llu modules that could not be patched",
            (unsigned long long)s->busy, (unsigned long long)s->too_large, (unsigned long long)missing->other_contexts,
            (unsigned long long)missing->graph_launches, (unsigned long long)missing->unpatched_launches,
            (unsigned long long)missing->unpatched);
}

void pw_capture_name_device(char *out, size_t bytes)
{
    *out = 0;
    glob_t found;
    if (glob("/proc/driver/nvidia/gpus/*/information", 0, NULL, &found) != 0)
        return;
    FILE *f = fopen(found.gl_pathv[0], "r");
    char line[256];
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "Model:", 6) == 0) {
            char *name = line + 6 + strspn(line + 6, " \t");
            name[strcspn(name, "\n")] = 0;
            snprintf(out, bytes, "%s", name);
        }
    if (f)
        fclose(f);
    globfree(&found);
}
