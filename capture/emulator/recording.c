#include "recording.h"

#include "capture/layout.h"
#include "capture/report.h"
#include "capture/session.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where kernels' code is said to lie. */
#define CODE_ADDRESS 0x100000ULL

static struct {
    bool opened;
    struct pw_capture_session *session; /* NULL: nothing is recorded */
    struct pw_capture_settings settings;
    char *text;
    struct pw_capture_gpu *gpu; /* of the open launch */
    const struct launch *launch;
    struct counts counts;
} recording;

static bool allocate(void *context, void *launch, size_t bytes, void **out)
{
    (void)context, (void)launch;
    return (*out = calloc(1, bytes)) != NULL;
}

static bool copy(void *context, void *launch, void *to, const void *from, size_t bytes)
{
    (void)context, (void)launch;
    memcpy(to, from, bytes);
    return true;
}

static bool set_data(void *context, void *launch, void *device)
{
    (void)context, (void)launch;
    recording.gpu = device;
    return true;
}

static void put(const struct pw_capture_cell *head, const uint64_t *addresses, uint32_t lanes)
{
    struct pw_capture_gpu *g = recording.gpu;
    uint64_t cells = 1 + (lanes + PW_CAPTURE_ADDRESSES_PER_CELL - 1) / PW_CAPTURE_ADDRESSES_PER_CELL, at = g->taken;
    uint64_t *words, *given;
    memcpy(&words, &g->cells, sizeof words);
    memcpy(&given, &g->given, sizeof given);
    g->taken += cells;
    while (at + cells > __atomic_load_n(given, __ATOMIC_ACQUIRE) + g->count)
        sched_yield();
    for (uint32_t i = 0; i < lanes; i++)
        words[(4 * (at + 1) + i) & (4 * g->count - 1)] = addresses[i];
    uint64_t image[4], *cell = words + 4 * (at & (g->count - 1));
    memcpy(image, head, sizeof image);
    memcpy(cell + 1, image + 1, 24);
    __atomic_store_n(cell, image[0], __ATOMIC_RELEASE);
}

/* Whether the addresses are base + lane * stride; as patch.cu finds it out. */
static bool find_stride(const struct effect *e, int64_t *out_base, int64_t *out_stride)
{
    uint32_t leader = (uint32_t)__builtin_ctz(e->lanes), rest = e->lanes & (e->lanes - 1);
    uint32_t second = rest ? (uint32_t)__builtin_ctz(rest) : leader;
    int64_t first = (int64_t)e->addresses[leader], step = (int64_t)e->addresses[second] - first;
    *out_stride = second == leader ? 0 : step / (int64_t)(second - leader);
    *out_base = first - *out_stride * leader;
    if (*out_stride != (int32_t)*out_stride || *out_base < 0)
        return false;
    for (uint32_t lanes = e->lanes; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        if ((int64_t)e->addresses[lane] != *out_base + *out_stride * lane)
            return false;
    }
    return true;
}

static void record(void *context, uint32_t cta, uint32_t warp, uint32_t pc, const struct effect *e)
{
    static const uint8_t kinds[] = {[EFFECT_LOAD] = PW_CAPTURE_LOAD,
                                    [EFFECT_STORE] = PW_CAPTURE_STORE,
                                    [EFFECT_SHARED] = PW_CAPTURE_WAYPOINT,
                                    [EFFECT_BARRIER] = PW_CAPTURE_BARRIER,
                                    [EFFECT_EXIT] = PW_CAPTURE_EXIT};
    (void)context;
    if (cta % recording.gpu->sample || (e->kind == EFFECT_SHARED && !recording.settings.shared))
        return;
    struct pw_capture_cell head = {.valid = 1,
                                   .kind = kinds[e->kind],
                                   .form = PW_CAPTURE_AFFINE,
                                   .mask = e->lanes,
                                   .cta = cta / recording.gpu->sample,
                                   .place = (CODE_ADDRESS + (uint64_t)pc * PW_CODE_INSTRUCTION_BYTES) |
                                            (uint64_t)warp << PW_CAPTURE_WARP_SHIFT};
    uint64_t addresses[LANES];
    uint32_t count = 0;
    if (e->kind == EFFECT_LOAD || e->kind == EFFECT_STORE) {
        int64_t base, stride;
        bool affine = find_stride(e, &base, &stride);
        head.bytes = (uint8_t)e->bytes;
        head.base = (uint64_t)base;
        head.stride = (int32_t)stride;
        head.form = affine ? PW_CAPTURE_AFFINE : PW_CAPTURE_LANES;
        for (uint32_t lanes = affine ? 0 : e->lanes; lanes; lanes &= lanes - 1)
            addresses[count++] = e->addresses[__builtin_ctz(lanes)];
    }
    put(&head, addresses, count);
}

/* The kernel runs when its end is waited for. */
static bool wait_for_launch(void *context, void *launch)
{
    (void)context, (void)launch;
    struct observer observer = {record, NULL};
    recording.counts = launch_run(recording.launch, &observer);
    return true;
}

static void fail(const struct pw_error *err)
{
    fprintf(stderr, "emulator: %s\n", err->message);
    _Exit(3);
}

static void finish(void)
{
    struct pw_capture_summary summary;
    struct pw_error err;
    if (pw_capture_session_close(recording.session, &summary, &err))
        fail(&err);
    pw_capture_report(&summary, &(struct pw_capture_missing){0}, recording.settings.output, summary.seconds);
    recording.session = NULL;
}

static struct pw_capture_session *session(void)
{
    const char *options = getenv(PW_CAPTURE_VARIABLE);
    if (recording.opened || !options)
        return recording.session;
    struct pw_error err = {0};
    recording.opened = true;
    recording.text = strdup(options);
    pw_capture_settings_init(&recording.settings);
    const struct pw_capture_calls calls = {NULL, allocate, allocate, copy, set_data, wait_for_launch, NULL};
    if (!recording.text || pw_capture_settings_read(&recording.settings, recording.text, &err) ||
        pw_capture_session_open(&recording.settings, &calls, "emulated sm_90", &recording.session, &err))
        fail(&err);
    atexit(finish);
    return recording.session;
}

static uint64_t number(const void *address)
{
    uint64_t n;
    memcpy(&n, &address, sizeof n);
    return n;
}

void recording_allocated(const void *address, size_t bytes)
{
    struct pw_trace_event event = {
        .kind = PW_TRACE_ALLOC, .memory = PW_TRACE_DEVICE, .address = number(address), .bytes = bytes, .name = ""};
    if (session())
        pw_capture_session_event(recording.session, &event);
}

void recording_copied(const void *address, size_t bytes, int to_device, int from_device)
{
    uint8_t flags = to_device && from_device ? PW_TRACE_ON_DEVICE
                    : to_device              ? PW_TRACE_TO_DEVICE
                                             : PW_TRACE_FROM_DEVICE;
    struct pw_trace_event event = {
        .kind = PW_TRACE_COPY, .flags = flags, .address = number(address), .bytes = bytes, .name = ""};
    if (session())
        pw_capture_session_event(recording.session, &event);
}

/* The image's size is not known; its sections' headers, which nvcc puts last, end it. */
static size_t image_bytes(const uint8_t *image)
{
    uint64_t sections;
    uint16_t count, size;
    memcpy(&sections, image + 0x28, sizeof sections);
    memcpy(&size, image + 0x3a, sizeof size);
    memcpy(&count, image + 0x3c, sizeof count);
    return sections + (size_t)size * count;
}

struct counts recording_launch(const uint8_t *image, const struct launch *l)
{
    if (!session())
        return launch_run(l, NULL);
    struct pw_code code;
    struct pw_error err;
    if (pw_code_read(image, image_bytes(image), NULL, NULL, &code, &err))
        fail(&err);
    struct pw_capture_launch launch = {.kernel = l->kernel->name,
                                       .grid = {l->grid[0], l->grid[1], l->grid[2]},
                                       .block = {l->block[0], l->block[1], l->block[2]},
                                       .dynamic_shared = l->shared_bytes,
                                       .code = pw_code_find(&code, l->kernel->name),
                                       .address = CODE_ADDRESS};
    recording.launch = l;
    struct counts counts;
    if (pw_capture_session_begin(recording.session, &launch)) {
        pw_capture_session_end(recording.session, NULL);
        counts = recording.counts;
    } else {
        counts = launch_run(l, NULL);
    }
    pw_code_free(&code);
    return counts;
}
