/* Calls of the CUDA driver that tell more than the callbacks for what they do: a launch's dynamic shared memory,
 * prefetches and advice, and where a profiler is to begin and to end.
 *
 * The structures of their parameters are repeated here since those of older headers lack some. With PW_NO_DRIVER_CALLS,
 * for headers that lack a call's number, nothing of this is known. */
#include "driver_calls.h"

#ifdef PW_NO_DRIVER_CALLS

const uint32_t pw_capture_driver_calls[] = {0};

void pw_capture_driver_call(struct pw_capture_session *s, uint32_t id, const void *data, uint32_t *out_dynamic_shared)
{
    (void)s;
    (void)id;
    (void)data;
    (void)out_dynamic_shared;
}

#else

#include <sanitizer.h>

#include "sim/memory_advice.h"

/* Parameters of the driver's functions, in the order of its interface. */
struct launch_parameters {
    CUfunction function;
    unsigned grid[3], block[3], shared;
};

struct launch_ex_parameters {
    const CUlaunchConfig *config;
};

struct prefetch_parameters {
    CUdeviceptr address;
    size_t bytes;
    int device; /* a location's type in the newer function, its first member */
};

struct advise_parameters {
    CUdeviceptr address;
    size_t bytes;
    CUmem_advise advice;
    int device; /* likewise */
};

static bool is_host(int device, bool newer)
{
    return newer ? device != 1 /* CU_MEM_LOCATION_TYPE_DEVICE */ : device < 0;
}

static uint8_t flags_of_advice(CUmem_advise advice, int device, bool newer)
{
    bool host = is_host(device, newer);
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
        return PW_ADVICE_READ_MOSTLY;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        return host ? PW_ADVICE_PREFER_HOST : PW_ADVICE_PREFER_DEVICE;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        return host ? 0 : PW_ADVICE_ACCESSED_BY;
    default:
        return 0; /* advice taken back: a trace holds what was said last */
    }
}

static void advise(struct pw_capture_session *s, const struct advise_parameters *p, bool newer)
{
    struct pw_trace_event event = {.kind = PW_TRACE_ADVISE,
                                   .flags = flags_of_advice(p->advice, p->device, newer),
                                   .address = p->address,
                                   .bytes = p->bytes,
                                   .name = ""};
    pw_capture_session_event(s, &event);
}

/* A trace has prefetches to the GPU only. */
static void prefetch(struct pw_capture_session *s, const struct prefetch_parameters *p, bool newer)
{
    if (is_host(p->device, newer))
        return;
    struct pw_trace_event event = {.kind = PW_TRACE_PREFETCH, .address = p->address, .bytes = p->bytes, .name = ""};
    pw_capture_session_event(s, &event);
}

const uint32_t pw_capture_driver_calls[] = {
    SANITIZER_CBID_DRIVER_API_cuLaunchKernel,
    SANITIZER_CBID_DRIVER_API_cuLaunchKernel_ptsz,
    SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx,
    SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx_ptsz,
    SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel,
    SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync,
    SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync_ptsz,
    SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync_v2,
    SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync_v2_ptsz,
    SANITIZER_CBID_DRIVER_API_cuMemAdvise,
    SANITIZER_CBID_DRIVER_API_cuMemAdvise_v2,
    SANITIZER_CBID_DRIVER_API_cuProfilerStart,
    SANITIZER_CBID_DRIVER_API_cuProfilerStop,
    0,
};

void pw_capture_driver_call(struct pw_capture_session *s, uint32_t id, const void *data, uint32_t *out_dynamic_shared)
{
    const Sanitizer_CallbackData *call = data;
    if (call->callbackSite != SANITIZER_API_ENTER)
        return;
    switch (id) {
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx:
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx_ptsz:
        *out_dynamic_shared = ((const struct launch_ex_parameters *)call->functionParams)->config->sharedMemBytes;
        break;
    case SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync:
    case SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync_ptsz:
        prefetch(s, call->functionParams, false);
        break;
    case SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync_v2:
    case SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync_v2_ptsz:
        prefetch(s, call->functionParams, true);
        break;
    case SANITIZER_CBID_DRIVER_API_cuMemAdvise:
    case SANITIZER_CBID_DRIVER_API_cuMemAdvise_v2:
        advise(s, call->functionParams, id == SANITIZER_CBID_DRIVER_API_cuMemAdvise_v2);
        break;
    case SANITIZER_CBID_DRIVER_API_cuProfilerStart:
    case SANITIZER_CBID_DRIVER_API_cuProfilerStop:
        pw_capture_session_pause(s, id == SANITIZER_CBID_DRIVER_API_cuProfilerStop);
        break;
    default:
        *out_dynamic_shared = ((const struct launch_parameters *)call->functionParams)->shared;
    }
}

#endif
