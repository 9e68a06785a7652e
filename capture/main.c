/* pagewalk-capture: runs a program with the recording library injected (capture/inject.c), and says what came of it.
 *
 * Library and patches lie beside this program, the Compute Sanitizer API where the toolkit has it: in
 * $PAGEWALK_SANITIZER, or where it was at build time. Exits with the program's code, 1 if the recording failed, 2 for a
 * mistake in the command. */
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PW_SANITIZER
#define PW_SANITIZER "/usr/local/cuda/compute-sanitizer"
#endif

enum { EXIT_FAILED = 1, EXIT_MISTAKE = 2, EXIT_NO_PROGRAM = 127, EXIT_SIGNALLED = 128 };

static int complain(int code, const char *what, const char *detail)
{
    fprintf(stderr, "pagewalk-capture: %s%s\n", what, detail);
    return code;
}

/* Runs the program, in the environment as it is; its exit code, as a shell has it. */
static int run(char *const command[], double *out_seconds)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        fprintf(stderr, "pagewalk-capture: %s: %s\n", command[0], strerror(errno));
        _exit(EXIT_NO_PROGRAM);
    }
    int status = 0;
    void (*interrupted)(int) = signal(SIGINT, SIG_IGN); /* the program's to handle */
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    signal(SIGINT, interrupted);
    clock_gettime(CLOCK_MONOTONIC, &after);
    *out_seconds = (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    if (child < 0)
        return EXIT_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNALLED + WTERMSIG(status);
}

/* The file `name` beside this program; false: there is none. */
static bool beside(const char *name, char out[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = 0;
    char *slash = strrchr(self, '/');
    *slash = 0;
    return snprintf(out, PATH_MAX, "%s/%s", self, name) < PATH_MAX && access(out, R_OK) == 0;
}

static bool set_library_path(void)
{
    const char *sanitizer = getenv("PAGEWALK_SANITIZER"), *before = getenv("LD_LIBRARY_PATH");
    char library[PATH_MAX], path[2 * PATH_MAX];
    sanitizer = sanitizer ? sanitizer : PW_SANITIZER;
    if (snprintf(library, sizeof library, "%s/libsanitizer-public.so", sanitizer) >= PATH_MAX ||
        access(library, R_OK) != 0) {
        fprintf(
            stderr,
            "pagewalk-capture: no libsanitizer-public.so in %s; install the CUDA toolkit's compute-sanitizer, or say "
            "in PAGEWALK_SANITIZER where it is\n",
            sanitizer);
        return false;
    }
    int length = snprintf(path, sizeof path, "%s%s%s", sanitizer, before ? ":" : "", before ? before : "");
    return length > 0 && (size_t)length < sizeof path && setenv("LD_LIBRARY_PATH", path, 1) == 0;
}

/* Everything that the library needs, in the environment. */
static int prepare(const struct pw_capture_settings *s, const char *claim)
{
    char library[PATH_MAX], patches[PATH_MAX], text[16384];
    struct pw_error err;
    if (!beside("libpagewalk-capture.so", library) || !beside("pagewalk-capture.fatbin", patches))
        return complain(EXIT_FAILED, "libpagewalk-capture.so or pagewalk-capture.fatbin is not beside this program",
                        "");
    if (pw_capture_settings_write(s, text, sizeof text, &err))
        return complain(EXIT_MISTAKE, err.message, "");
    if (!set_library_path())
        return EXIT_FAILED;
    if (setenv(PW_CAPTURE_VARIABLE, text, 1) || setenv("PAGEWALK_CAPTURE_PATCHES", patches, 1) ||
        setenv("PAGEWALK_CAPTURE_CLAIM", claim, 1) || setenv("CUDA_INJECTION64_PATH", library, 1))
        return complain(EXIT_FAILED, "the environment is full", "");
    if (s->names && setenv("NVTX_INJECTION64_PATH", library, 1))
        return complain(EXIT_FAILED, "the environment is full", "");
    return 0;
}

/* The library's unfinished trace (sim/new_file.c); it is gone unless its process was killed. */
static void remove_unfinished(const char *output, long process)
{
    char name[PATH_MAX + 64];
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(name, sizeof name, "%s.%ld-%d.tmp", output, process, attempt);
        unlink(name);
    }
}

/* The process that was to record has written its number and nothing else. */
static int judge_unfinished(const char *output, long process)
{
    if (process > 0 && kill((pid_t)process, 0) == 0)
        return complain(EXIT_FAILED, "nothing recorded yet: the process that uses CUDA still runs", "");
    if (process > 0)
        remove_unfinished(output, process);
    return complain(EXIT_FAILED, "nothing recorded: the program ended without its exit handlers (killed, or _exit)",
                    "");
}

static int judge_unused(void)
{
    bool gpu = access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
    return complain(EXIT_FAILED, "nothing recorded: the program did not use CUDA",
                    gpu ? "" : ", and there is no NVIDIA GPU here (no /dev/nvidiactl)");
}

/* What the library wrote into its claim; the program's code if all is well. */
static int judge(const char *claim, const char *output, int code)
{
    char said[32] = "";
    FILE *f = fopen(claim, "r");
    if (!f)
        return judge_unused();
    if (!fgets(said, sizeof said, f))
        *said = 0;
    fclose(f);
    unlink(claim);
    if (strcmp(said, "recorded\n") == 0)
        return code;
    if (strcmp(said, "empty\n") == 0)
        return complain(EXIT_FAILED, "no launch was recorded; look at --kernels, --skip and --paused", "");
    if (strcmp(said, "silent\n") == 0)
        return complain(EXIT_FAILED, "nothing recorded: the launches wrote no record, so their kernels ran unpatched",
                        "");
    if (strcmp(said, "failed\n") == 0)
        return EXIT_FAILED;
    return judge_unfinished(output, atol(said));
}

/* Whether the recorded process will be able to write there. */
static bool can_claim(const char *claim)
{
    int file = open(claim, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0) {
        fprintf(stderr, "pagewalk-capture: %s: cannot be created: %s\n", claim, strerror(errno));
        return false;
    }
    close(file);
    unlink(claim);
    return true;
}

/* The program may change its folder before it uses CUDA. */
static bool make_absolute(const char *path, char out[PATH_MAX])
{
    char folder[PATH_MAX];
    if (*path == '/')
        return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
    return getcwd(folder, sizeof folder) && snprintf(out, PATH_MAX, "%s/%s", folder, path) < PATH_MAX;
}

int main(int argc, char *argv[])
{
    struct pw_capture_settings settings;
    struct pw_error err;
    int used;
    pw_capture_settings_init(&settings);
    if (pw_capture_settings_parse(&settings, argc - 1, argv + 1, &used, &err))
        return complain(EXIT_MISTAKE, err.message, "");
    if (settings.help) {
        fputs(pw_capture_usage, stdout);
        return 0;
    }
    char *const *command = argv + 1 + used;
    if (!*command)
        return complain(EXIT_MISTAKE, "no program to record; say it behind --", "");
    char program[1024] = "", output[PATH_MAX], claim[PATH_MAX];
    for (char *const *word = command; *word; word++) {
        size_t length = strlen(program);
        snprintf(program + length, sizeof program - length, "%s%s", length ? " " : "", *word);
    }
    settings.program = program;
    if (!make_absolute(settings.output, output) || snprintf(claim, sizeof claim, "%s.claim", output) >= PATH_MAX)
        return complain(EXIT_MISTAKE, "the file's name is too long", "");
    settings.output = output;
    if (!can_claim(claim))
        return EXIT_FAILED;
    double plain = 0, recorded;
    if (settings.compare && run(command, &plain) != 0)
        return complain(EXIT_FAILED, "the program fails without being recorded", "");
    int code = prepare(&settings, claim);
    if (code)
        return code;
    code = run(command, &recorded);
    if (code == EXIT_NO_PROGRAM)
        return code;
    if (settings.compare)
        fprintf(stderr, "pagewalk-capture: the program took %.2f s, recorded %.2f s: %.1f times as long\n", plain,
                recorded, plain > 0 ? recorded / plain : 0);
    return judge(claim, output, code);
}
