/* The progress bar: how far, how fast, how much longer. A run that ends within two seconds never shows one. Time left
 * assumes that the rest of the launches goes at the speed of those so far. Where no time is simulated there are no
 * cycles to show.
 *
 * In a pipe or a file, and on a terminal that cannot draw, a line of the same text comes every 30 seconds instead, or as
 * often as PAGEWALK_PROGRESS says. */
#include "progress.h"

#include "exp/format/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double quiet_seconds = 2, line_seconds = 30;

enum { BAR_MIN = 10, BAR_MAX = 40, FALLBACK_COLUMNS = 80, LINE_CAPACITY = 512 };

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds between two lines; 0: none are wanted. */
static double line_distance(void)
{
    const char *text = getenv("PAGEWALK_PROGRESS");
    char *end;
    double seconds = text ? strtod(text, &end) : line_seconds;
    return !text || (end != text && !*end && seconds >= 0) ? seconds : line_seconds;
}

void pw_cli_progress_start(struct pw_cli_progress *bar, bool wanted)
{
    const char *terminal = getenv("TERM");
    bool dumb = terminal && strcmp(terminal, "dumb") == 0, draws = !dumb && isatty(STDERR_FILENO);
    double distance = draws ? 0 : line_distance();
    *bar = (struct pw_cli_progress){.enabled = wanted && (draws || distance > 0),
                                    .line_distance = distance,
                                    .next_line = clock_seconds() + distance};
}

static void write_line(struct pw_cli_progress *bar, const char *text)
{
    double now = clock_seconds();
    if (now < bar->next_line)
        return;
    bar->next_line = now + bar->line_distance;
    fprintf(stderr, "progress: %s\n", text + strspn(text, " "));
}

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : FALLBACK_COLUMNS;
}

static void format_time(char *out, size_t capacity, double seconds)
{
    unsigned long whole = seconds < 0 ? 0 : seconds > 3.6e6 ? 3600000 : (unsigned long)(seconds + 0.5);
    if (whole >= 3600)
        snprintf(out, capacity, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(out, capacity, "%lu:%02lu", whole / 60, whole % 60);
}

void pw_cli_progress_draw(struct pw_cli_progress *bar, double fraction, const char *text)
{
    if (!bar->enabled)
        return;
    if (bar->line_distance > 0) {
        write_line(bar, text);
        return;
    }
    char line[LINE_CAPACITY] = "";
    int columns = terminal_columns();
    int width = columns - (int)strlen(text) - 5;
    width = width > BAR_MAX ? BAR_MAX : width;
    if (fraction >= 0 && width >= BAR_MIN) {
        int filled = (int)((fraction < 1 ? fraction : 1) * width);
        snprintf(line, sizeof line, "[%.*s%.*s]  ", filled, "########################################", width - filled,
                 "........................................");
    }
    fprintf(stderr, "\r\033[K%.*s", columns - 1, strncat(line, text, sizeof line - strlen(line) - 1));
    fflush(stderr);
    bar->shown = true;
}

void pw_cli_progress_update(void *context, const struct pw_progress *p)
{
    struct pw_cli_progress *bar = context;
    if (!bar->enabled || (bar->line_distance <= 0 && p->wall_seconds < quiet_seconds))
        return;
    char cycles[PW_NUMBER_CAPACITY + sizeof "  cycles"] = "", speed[PW_NUMBER_CAPACITY], time[32], phase[64] = "",
                                            text[LINE_CAPACITY / 2];
    if (p->phase)
        snprintf(phase, sizeof phase, "%.60s ", p->phase);
    if (p->cycles) {
        char number[PW_NUMBER_CAPACITY];
        pw_format_short(number, (double)p->cycles);
        snprintf(cycles, sizeof cycles, "  %s cycles", number);
    }
    pw_format_short(speed, (double)p->warp_instructions / p->wall_seconds);
    if (p->fraction > 0) {
        double fraction = p->fraction < 1 ? p->fraction : 1;
        format_time(time, sizeof time, p->wall_seconds * (1 - fraction) / fraction);
        snprintf(text, sizeof text, "%s%3.0f%%%s  %s instr/s  %s left", phase, 100 * fraction, cycles, speed, time);
        pw_cli_progress_draw(bar, fraction, text);
    } else {
        format_time(time, sizeof time, p->wall_seconds);
        snprintf(text, sizeof text, "%s%s%s  %s instr/s", phase, time, cycles, speed);
        pw_cli_progress_draw(bar, -1, text);
    }
}

void pw_cli_progress_runs(void *context, const struct pw_pool_progress *p)
{
    char left[32], elsewhere[48] = "", text[160];
    format_time(left, sizeof left, p->seconds_left);
    if (p->elsewhere)
        snprintf(elsewhere, sizeof elsewhere, "  %zu elsewhere", p->elsewhere);
    snprintf(text, sizeof text, "%zu of %zu runs  %zu running%s  %s%s", p->done, p->total, p->running, elsewhere,
             p->seconds_left < 0 ? "" : left, p->seconds_left < 0 ? "" : " left");
    pw_cli_progress_draw(context, p->fraction, text);
}

void pw_cli_progress_clear(struct pw_cli_progress *bar)
{
    if (bar->shown)
        fputs("\r\033[K", stderr);
    bar->shown = false;
}
