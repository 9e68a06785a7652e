/* The API: see gpu.h. It remembers what was asked of it and calls back. */
#include "gpu_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    Sanitizer_CallbackFunc callback;
    void *data;
    bool domains[SANITIZER_CB_DOMAIN_SIZE], calls[GPU_DRIVER_CALLS];
} listener;

static __thread bool inside;

void gpu_forbid_callbacks(const char *function)
{
    if (!inside)
        return;
    fprintf(stderr, "gpu: %s is called from a callback\n", function);
    abort();
}

void gpu_tell(Sanitizer_CallbackDomain domain, uint32_t id, const void *data)
{
    bool asked = listener.domains[domain] || (domain == SANITIZER_CB_DOMAIN_DRIVER_API && listener.calls[id]);
    if (!listener.callback || !asked)
        return;
    bool was_inside = inside;
    inside = true;
    listener.callback(listener.data, domain, id, data);
    inside = was_inside;
}

/* Whether GPU_FAILS has the function among its words. */
static bool fails(const char *function)
{
    const char *words = getenv("GPU_FAILS");
    size_t length = strlen(function);
    for (const char *at = words; at && (at = strstr(at, function)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

#define FAIL_IF_ASKED                                                                                                  \
    if (fails(__func__))                                                                                               \
    return SANITIZER_ERROR_UNKNOWN

SanitizerResult sanitizerGetResultString(SanitizerResult result, const char **text)
{
    FAIL_IF_ASKED;
    *text = result == SANITIZER_SUCCESS         ? "success"
            : result == SANITIZER_ERROR_UNKNOWN ? "it was told to fail"
                                                : "wrong";
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerSubscribe(Sanitizer_SubscriberHandle *subscriber, Sanitizer_CallbackFunc callback, void *data)
{
    FAIL_IF_ASKED;
    if (listener.callback)
        return SANITIZER_ERROR_INVALID_PARAMETER;
    listener.callback = callback;
    listener.data = data;
    *subscriber = (Sanitizer_SubscriberHandle)&listener;
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerEnableDomain(uint32_t enable, Sanitizer_SubscriberHandle subscriber,
                                      Sanitizer_CallbackDomain domain)
{
    FAIL_IF_ASKED;
    if (subscriber != (Sanitizer_SubscriberHandle)&listener || domain >= SANITIZER_CB_DOMAIN_SIZE)
        return SANITIZER_ERROR_INVALID_PARAMETER;
    listener.domains[domain] = enable;
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerEnableCallback(uint32_t enable, Sanitizer_SubscriberHandle subscriber,
                                        Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id)
{
    FAIL_IF_ASKED;
    if (subscriber != (Sanitizer_SubscriberHandle)&listener || domain != SANITIZER_CB_DOMAIN_DRIVER_API ||
        id >= GPU_DRIVER_CALLS)
        return SANITIZER_ERROR_INVALID_PARAMETER;
    listener.calls[id] = enable;
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerAddPatchesFromFile(const char *file, CUcontext context)
{
    FAIL_IF_ASKED;
    if (access(file, R_OK) != 0)
        return SANITIZER_ERROR_INVALID_PARAMETER;
    context->has_patches = true;
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerPatchInstructions(Sanitizer_InstructionId instruction, CUmodule module, const char *function)
{
    FAIL_IF_ASKED;
    lanes_patch *patch = lanes_find(function);
    if (!patch || !module->context->has_patches || instruction >= GPU_INSTRUCTIONS)
        return SANITIZER_ERROR_INVALID_PARAMETER;
    module->asked[instruction] = patch;
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerPatchModule(CUmodule module)
{
    FAIL_IF_ASKED;
    memcpy(module->patches, module->asked, sizeof module->patches);
    module->patched = true;
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerSetLaunchCallbackData(Sanitizer_LaunchHandle launch, CUfunction function,
                                               Sanitizer_StreamHandle stream, const void *data)
{
    launch->data = NULL;
    FAIL_IF_ASKED;
    if (function != launch->kernel || !stream)
        return SANITIZER_ERROR_INVALID_PARAMETER;
    launch->data = (void *)data;
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerGetFunctionPcAndSize(CUmodule module, const char *function, uint64_t *pc, uint64_t *size)
{
    FAIL_IF_ASKED;
    *pc = gpu_code_address(module, function);
    *size = 0;
    return *pc ? SANITIZER_SUCCESS : SANITIZER_ERROR_INVALID_PARAMETER;
}

static SanitizerResult allocate(CUcontext context, void **address, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct gpu_block *b = malloc(sizeof *b);
    if (memory == MAP_FAILED || !b)
        abort();
    memset(memory, 0xa5, bytes);
    *b = (struct gpu_block){memory, bytes, context->blocks};
    context->blocks = b;
    *address = memory;
    /* As a driver might that tells of its own allocations. */
    gpu_tell(SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC,
             &(Sanitizer_ResourceMemoryData){(uint64_t)memory, bytes, 0});
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerAlloc(CUcontext context, void **address, size_t bytes)
{
    FAIL_IF_ASKED;
    return allocate(context, address, bytes);
}

SanitizerResult sanitizerAllocHost(CUcontext context, void **address, size_t bytes)
{
    FAIL_IF_ASKED;
    return allocate(context, address, bytes);
}

SanitizerResult sanitizerMemcpyHostToDeviceAsync(void *to, void *from, size_t bytes, Sanitizer_StreamHandle stream)
{
    FAIL_IF_ASKED;
    if (!stream)
        return SANITIZER_ERROR_INVALID_PARAMETER;
    memcpy(to, from, bytes);
    return SANITIZER_SUCCESS;
}

SanitizerResult sanitizerStreamSynchronize(Sanitizer_StreamHandle stream)
{
    FAIL_IF_ASKED;
    return gpu_wait_for_launch(stream) ? SANITIZER_SUCCESS : SANITIZER_ERROR_UNKNOWN;
}
