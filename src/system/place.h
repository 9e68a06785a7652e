/* What a system of several GPUs divides among them: the pages of memory and the CTAs of launches; and what happens when
 * a GPU wants a page that another one has. */
#ifndef PW_SYSTEM_PLACE_H
#define PW_SYSTEM_PLACE_H

#include "gpu/gpu.h"
#include "policy/place/place_policy.h"
#include "sim/option.h"

enum pw_place_ctas { PW_CTAS_BLOCKS, PW_CTAS_INTERLEAVED };

/* GMMU Bypass, Section 2.2. */
enum pw_place_remote {
    PW_REMOTE_DIRECT,      /* the page stays; its lines are accessed where they are (mem/peer.h) */
    PW_REMOTE_MIGRATE,     /* it moves to the GPU that asks for its translation (moves.h) */
    PW_REMOTE_FIRST_TOUCH, /* it moves once, to the GPU that asks first, and stays there */
};

struct pw_place_config {
    struct pw_policy_choice policy; /* of pw_place_family */
    uint32_t ctas;                  /* enum pw_place_ctas */
    uint32_t remote;                /* enum pw_place_remote */
};

extern const struct pw_option pw_place_options[];

/* The CTAs of a launch that a GPU gets; none: count is 0. `sms` are those that the application has on each GPU.
 *
 * Blocks: one consecutive piece for each GPU, as MGPUSim's unified device deals them out: every SM of the system gets
 * an equal number, rounded up, so that the last GPUs get less, or nothing of a small launch. */
struct pw_cta_share pw_place_ctas(enum pw_place_ctas how, uint32_t ctas, unsigned gpus, uint32_t sms, unsigned gpu);

#endif
