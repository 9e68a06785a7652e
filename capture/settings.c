/* The options of pagewalk-capture: see the header. */
#include "settings.h"

#include <errno.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_RING = 64 << 20, MIN_RING = 1 << 16, MAX_SAMPLE = 1 << 20, MAX_WORDS = 64 };

const char pw_capture_usage[] =
    "usage: pagewalk-capture -o FILE.pwt [options] -- PROGRAM [ARGUMENT]...\n"
    "\n"
    "Records what the kernels of a CUDA program access, for pagewalk run -w trace:FILE.pwt.\n"
    "\n"
    "  -o FILE          the trace to be written\n"
    "  --kernels REGEX  only launches of kernels whose (mangled) name matches\n"
    "  --skip N         not the first N of these\n"
    "  --count N        at most N after that\n"
    "  --ctas 1/N       only every N-th CTA; the rate is written into the trace\n"
    "  --paused         nothing before the program calls cudaProfilerStart or pagewalk_capture_resume\n"
    "  --limit BYTES    no further launch once the trace may be as large (K, M, G for powers of 1024)\n"
    "  --ring BYTES     size of the buffer between GPU and host (64M)\n"
    "  --no-shared      do not follow warps through shared and local memory: faster, instruction counts less exact\n"
    "  --names          name allocations by NVTX ranges, else by the function that allocates\n"
    "  --compare        run the program unrecorded first, to tell the overhead\n";

void pw_capture_settings_init(struct pw_capture_settings *s)
{
    *s = (struct pw_capture_settings){
        .count = UINT64_MAX, .sample = 1, .ring = DEFAULT_RING, .shared = true, .program = ""};
}

static enum pw_status parse_number(const char *option, const char *text, bool bytes, uint64_t *out,
                                   struct pw_error *err)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    uint32_t shift = 0;
    if (bytes && *end && strchr("KMG", *end)) {
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
        end++;
    }
    if (errno || *text < '0' || *text > '9' || *end || value > UINT64_MAX >> shift)
        return pw_fail(err, PW_USER_ERROR, "%s: '%s' is not %s", option, text,
                       bytes ? "a size such as 4096, 64M or 2G" : "a whole number");
    *out = (uint64_t)value << shift;
    return PW_OK;
}

static enum pw_status parse_sample(struct pw_capture_settings *s, const char *text, struct pw_error *err)
{
    uint64_t rate;
    if (strncmp(text, "1/", 2) != 0 || parse_number("--ctas", text + 2, false, &rate, NULL) || !rate ||
        rate > MAX_SAMPLE)
        return pw_fail(err, PW_USER_ERROR, "--ctas: '%s' is not 1/N with N from 1 to %d", text, MAX_SAMPLE);
    s->sample = (uint32_t)rate;
    return PW_OK;
}

static enum pw_status parse_kernels(struct pw_capture_settings *s, const char *text, struct pw_error *err)
{
    regex_t regex;
    int wrong = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    if (wrong) {
        char why[128];
        regerror(wrong, &regex, why, sizeof why);
        return pw_fail(err, PW_USER_ERROR, "--kernels: '%s': %s", text, why);
    }
    regfree(&regex);
    s->kernels = text;
    return PW_OK;
}

static enum pw_status parse_ring(struct pw_capture_settings *s, const char *text, struct pw_error *err)
{
    enum pw_status status = parse_number("--ring", text, true, &s->ring, err);
    if (!status && (s->ring < MIN_RING || s->ring > 1ULL << 36 || s->ring & (s->ring - 1)))
        return pw_fail(err, PW_USER_ERROR, "--ring: %s is not a power of two from 64K to 64G", text);
    return status;
}

/* An option with a value. False: there is none of that name. */
static bool parse_value(struct pw_capture_settings *s, const char *option, const char *value, enum pw_status *status,
                        struct pw_error *err)
{
    if (strcmp(option, "-o") == 0)
        s->output = value;
    else if (strcmp(option, "--program") == 0)
        s->program = value;
    else if (strcmp(option, "--kernels") == 0)
        *status = parse_kernels(s, value, err);
    else if (strcmp(option, "--skip") == 0)
        *status = parse_number(option, value, false, &s->skip, err);
    else if (strcmp(option, "--count") == 0)
        *status = parse_number(option, value, false, &s->count, err);
    else if (strcmp(option, "--ctas") == 0)
        *status = parse_sample(s, value, err);
    else if (strcmp(option, "--limit") == 0)
        *status = parse_number(option, value, true, &s->limit, err);
    else if (strcmp(option, "--ring") == 0)
        *status = parse_ring(s, value, err);
    else
        return false;
    return true;
}

static bool parse_flag(struct pw_capture_settings *s, const char *option)
{
    if (strcmp(option, "--no-shared") == 0)
        s->shared = false;
    else if (strcmp(option, "--paused") == 0)
        s->paused = true;
    else if (strcmp(option, "--names") == 0)
        s->names = true;
    else if (strcmp(option, "--compare") == 0)
        s->compare = true;
    else if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)
        s->help = true;
    else
        return false;
    return true;
}

enum pw_status pw_capture_settings_parse(struct pw_capture_settings *s, int count, char *const words[], int *out_used,
                                         struct pw_error *err)
{
    int i = 0;
    for (; i < count && words[i][0] == '-'; i++) {
        if (strcmp(words[i], "--") == 0) {
            i++;
            break;
        }
        if (parse_flag(s, words[i]))
            continue;
        enum pw_status status = PW_OK;
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (!parse_value(s, words[i], value, &status, err))
            return pw_fail(err, PW_USER_ERROR, "unknown option %s; pagewalk-capture --help lists them", words[i]);
        if (++i == count)
            return pw_fail(err, PW_USER_ERROR, "%s needs a value", words[i - 1]);
        if (status)
            return status;
    }
    *out_used = i;
    if (!s->help && (!s->output || !*s->output))
        return pw_fail(err, PW_USER_ERROR, "no file to write: -o FILE.pwt");
    return PW_OK;
}

struct text {
    char *out;
    size_t bytes, used;
};

static void append(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = t->used < t->bytes ? t->bytes - t->used : 0;
    int length = vsnprintf(left ? t->out + t->used : NULL, left, format, arguments);
    va_end(arguments);
    t->used += length > 0 ? (size_t)length : 0;
}

enum pw_status pw_capture_settings_write(const struct pw_capture_settings *s, char *out, size_t bytes,
                                         struct pw_error *err)
{
    const char *texts[] = {s->output, s->kernels ? s->kernels : "", s->program};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strchr(texts[i], '\n'))
            return pw_fail(err, PW_USER_ERROR, "neither file nor options may have a line break in them");
    struct text t = {out, bytes, 0};
    append(&t, "-o\n%s\n--program\n%s\n--skip\n%llu\n--count\n%llu\n--ctas\n1/%u\n--limit\n%llu\n--ring\n%llu\n",
           s->output, s->program, (unsigned long long)s->skip, (unsigned long long)s->count, s->sample,
           (unsigned long long)s->limit, (unsigned long long)s->ring);
    if (s->kernels)
        append(&t, "--kernels\n%s\n", s->kernels);
    if (s->paused)
        append(&t, "--paused\n");
    if (!s->shared)
        append(&t, "--no-shared\n");
    if (s->names)
        append(&t, "--names\n");
    return t.used < bytes ? PW_OK : pw_fail(err, PW_USER_ERROR, "the options are too long");
}

enum pw_status pw_capture_settings_read(struct pw_capture_settings *s, char *text, struct pw_error *err)
{
    char *words[MAX_WORDS];
    int count = 0, used;
    for (char *end; (end = strchr(text, '\n')) && count < MAX_WORDS; text = end + 1) {
        *end = 0;
        words[count++] = text;
    }
    pw_capture_settings_init(s);
    return pw_capture_settings_parse(s, count, words, &used, err);
}
