/* The options of demand paging. */
#include "uvm/driver.h"

static const char *const service_names[] = {"serial", "parallel", "batch", NULL};
static const char *const data_names[] = {"touched", "allocated", "first-launch", NULL};
static const char *const reserve_names[] = {"eviction", "candidates", NULL};

#define FIELD(name) offsetof(struct pw_uvm_config, name)

/* The latencies of batch service are an H200's with driver 580: docs/uvm-driver.md says how they were found. */
const struct pw_option pw_uvm_options[] = {
    {"service", PW_OPTION_CHOICE, FIELD(service), 0, 0, "serial", "", service_names,
     "How far faults are served: one after the other, with overlapping latencies, or in batches as the real driver "
     "does.",
     false},
    {"fault_latency", PW_OPTION_CYCLES, FIELD(fault_latency), 0, 4e9, "45us", "cycles", NULL,
     "Time to handle a far fault, the transfer not included (UVM, Table 2); serial and parallel service.", false},
    {"batch_faults", PW_OPTION_COUNT, FIELD(batch_faults), 1, 1 << 20, "256", "faults", NULL, "Most faults in a batch.",
     false},
    {"batch_latency", PW_OPTION_CYCLES, FIELD(batch_latency), 0, 4e9, "80us", "cycles", NULL,
     "The driver's own work per batch, before it has the batch's faults.", false},
    {"block_latency", PW_OPTION_CYCLES, FIELD(block_latency), 0, 4e9, "19us", "cycles", NULL,
     "The driver's own work per 2 MiB block of a batch.", false},
    {"batch_fault_latency", PW_OPTION_CYCLES, FIELD(batch_fault_latency), 0, 4e9, "0.9us", "cycles", NULL,
     "The driver's own work per fault of a batch.", false},
    {"prefetch", PW_OPTION_POLICY, FIELD(prefetch), 0, 0, "tbn", "", &pw_prefetch_family,
     "Which pages come along with those that faulted.", false},
    {"prefetch_full", PW_OPTION_POLICY_OR_SAME, FIELD(prefetch_full), 0, 0, "same", "", &pw_prefetch_family,
     "The same once device memory has been full.", false},
    {"evict", PW_OPTION_POLICY, FIELD(evict), 0, 0, "lru4k", "", &pw_evict_family,
     "Which pages leave when device memory is full.", false},
    {"reserve", PW_OPTION_NUMBER, FIELD(reserve), 0, 90, "0", "%", NULL,
     "Share of the resident pages, at the old end, that are reserved from eviction (UVM, Sec. 5.3).", false},
    {"reserve_from", PW_OPTION_CHOICE, FIELD(reserve_from), 0, 0, "eviction", "", reserve_names,
     "What reserved pages are kept from: eviction, or only being the candidate, so that the policy may still evict "
     "them "
     "along with another page of their 2 MiB block.",
     false},
    {"free_buffer", PW_OPTION_NUMBER, FIELD(free_buffer), 0, 50, "0", "%", NULL,
     "Share of device memory that is kept free by evicting ahead of need (UVM, Sec. 4.2).", false},
    {"memory", PW_OPTION_BYTES, FIELD(memory), 0, 0, "0B", "bytes", NULL,
     "Device memory for managed data; 0: all there is.", false},
    {"oversubscription", PW_OPTION_NUMBER, FIELD(oversubscription), 0, 1e6, "0", "%", NULL,
     "Size of the data as a share of device memory, which follows from it: at 200 half of the data fits; 0: not used.",
     false},
    {"oversubscription_of", PW_OPTION_CHOICE, FIELD(oversubscription_of), 0, 0, "touched", "", data_names,
     "Which data that is: pages that kernels touch, the most that is allocated at one time (both known from a first "
     "pass over the program), or what is allocated at the first launch.",
     false},
    {"advice", PW_OPTION_TEXT, FIELD(advice), 0, 0, "", "", NULL,
     "Memory advice by allocation: NAME:read-mostly, host, device, accessed-by or prefetch, several joined by '+' or "
     "','; 'all' is each.",
     false},
    {0}};
