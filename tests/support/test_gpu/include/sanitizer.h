/* The part of the Compute Sanitizer API that the recorder uses, as tests/support/test_gpu/gpu.c has it. The names are
 * NVIDIA's, as its documentation has them; values and order of members are our own. */
#ifndef PW_TEST_SANITIZER_H
#define PW_TEST_SANITIZER_H

#include <stddef.h>
#include <stdint.h>

typedef struct gpu_context *CUcontext;
typedef struct gpu_module *CUmodule;
typedef const struct gpu_kernel *CUfunction;
typedef struct gpu_stream *Sanitizer_StreamHandle;
typedef struct gpu_launch *Sanitizer_LaunchHandle;
typedef struct gpu_subscriber *Sanitizer_SubscriberHandle;
typedef unsigned long long CUdeviceptr;

typedef enum {
    CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
    CU_MEM_ADVISE_UNSET_READ_MOSTLY,
    CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
    CU_MEM_ADVISE_SET_ACCESSED_BY = 5,
} CUmem_advise;

typedef struct {
    unsigned sharedMemBytes;
} CUlaunchConfig;

typedef enum { SANITIZER_SUCCESS, SANITIZER_ERROR_INVALID_PARAMETER, SANITIZER_ERROR_UNKNOWN = 999 } SanitizerResult;

typedef enum {
    SANITIZER_CB_DOMAIN_DRIVER_API = 1,
    SANITIZER_CB_DOMAIN_RESOURCE,
    SANITIZER_CB_DOMAIN_LAUNCH,
    SANITIZER_CB_DOMAIN_MEMCPY,
    SANITIZER_CB_DOMAIN_MEMSET,
    SANITIZER_CB_DOMAIN_GRAPHS,
    SANITIZER_CB_DOMAIN_SIZE
} Sanitizer_CallbackDomain;

enum {
    SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING = 1,
    SANITIZER_CBID_RESOURCE_MODULE_LOADED,
    SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
    SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC,
    SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE,
    SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC,
    SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE,
    SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC,
    SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC,
};
enum { SANITIZER_CBID_LAUNCH_BEGIN = 1, SANITIZER_CBID_LAUNCH_AFTER_SYSCALL_SETUP, SANITIZER_CBID_LAUNCH_END };
enum { SANITIZER_CBID_MEMCPY_STARTING = 1 };
enum { SANITIZER_CBID_MEMSET_STARTING = 1 };
enum { SANITIZER_CBID_GRAPHS_LAUNCH_BEGIN = 1 };
enum {
    SANITIZER_CBID_DRIVER_API_cuLaunchKernel = 1,
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
    GPU_DRIVER_CALLS
};

typedef enum {
    SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS = 1,
    SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS,
    SANITIZER_INSTRUCTION_LOCAL_MEMORY_ACCESS,
    SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS,
    SANITIZER_INSTRUCTION_BARRIER,
    SANITIZER_INSTRUCTION_BLOCK_EXIT,
    SANITIZER_INSTRUCTION_MEMCPY_ASYNC,
    SANITIZER_INSTRUCTION_PIPELINE_COMMIT,
    SANITIZER_INSTRUCTION_PIPELINE_WAIT,
    SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED,
    GPU_INSTRUCTIONS
} Sanitizer_InstructionId;

enum { SANITIZER_API_ENTER, SANITIZER_API_EXIT };
enum {
    SANITIZER_MEMORY_FLAG_MANAGED = 2,
    SANITIZER_MEMORY_FLAG_HOST_PINNED = 8,
    SANITIZER_MEMORY_FLAG_CG_RUNTIME = 64
};
enum {
    SANITIZER_MEMCPY_DIRECTION_UNKNOWN,
    SANITIZER_MEMCPY_DIRECTION_HOST_TO_DEVICE,
    SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_HOST,
    SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_DEVICE
};

typedef struct {
    int callbackSite;
    const void *functionParams;
} Sanitizer_CallbackData;

typedef struct {
    CUcontext context;
} Sanitizer_ResourceContextData;

typedef struct {
    CUcontext context;
    CUmodule module;
    const char *pCubin;
    size_t cubinSize;
} Sanitizer_ResourceModuleData;

typedef struct {
    uint64_t address, size;
    uint32_t flags;
} Sanitizer_ResourceMemoryData;

typedef struct {
    CUcontext context;
    CUmodule module;
    CUfunction function;
    const char *functionName;
    Sanitizer_StreamHandle hStream;
    Sanitizer_LaunchHandle hLaunch;
    uint32_t gridDim_x, gridDim_y, gridDim_z, blockDim_x, blockDim_y, blockDim_z;
} Sanitizer_LaunchData;

typedef struct {
    uint64_t srcAddress, dstAddress, size, width, height, depth, srcPitch, dstPitch;
    int direction;
} Sanitizer_MemcpyData;

typedef struct {
    uint64_t address, width, height, pitch;
    uint32_t elementSize;
} Sanitizer_MemsetData;

typedef uint32_t Sanitizer_CallbackId;
typedef void (*Sanitizer_CallbackFunc)(void *, Sanitizer_CallbackDomain, Sanitizer_CallbackId, const void *);

SanitizerResult sanitizerSubscribe(Sanitizer_SubscriberHandle *subscriber, Sanitizer_CallbackFunc callback, void *data);
SanitizerResult sanitizerEnableDomain(uint32_t enable, Sanitizer_SubscriberHandle subscriber,
                                      Sanitizer_CallbackDomain domain);
SanitizerResult sanitizerEnableCallback(uint32_t enable, Sanitizer_SubscriberHandle subscriber,
                                        Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id);
SanitizerResult sanitizerGetResultString(SanitizerResult result, const char **text);
SanitizerResult sanitizerAddPatchesFromFile(const char *file, CUcontext context);
SanitizerResult sanitizerPatchInstructions(Sanitizer_InstructionId instruction, CUmodule module, const char *function);
SanitizerResult sanitizerPatchModule(CUmodule module);
SanitizerResult sanitizerSetLaunchCallbackData(Sanitizer_LaunchHandle launch, CUfunction function,
                                               Sanitizer_StreamHandle stream, const void *data);
SanitizerResult sanitizerGetFunctionPcAndSize(CUmodule module, const char *function, uint64_t *pc, uint64_t *size);
SanitizerResult sanitizerAlloc(CUcontext context, void **address, size_t bytes);
SanitizerResult sanitizerAllocHost(CUcontext context, void **address, size_t bytes);
SanitizerResult sanitizerMemcpyHostToDeviceAsync(void *to, void *from, size_t bytes, Sanitizer_StreamHandle stream);
SanitizerResult sanitizerStreamSynchronize(Sanitizer_StreamHandle stream);

#endif
