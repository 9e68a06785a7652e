/* Options of placement, and the division of a launch. */
#include "system/place.h"

static const char *const cta_names[] = {"blocks", "interleaved", NULL};

static const char *const remote_names[] = {"direct", "migrate", "first-touch", NULL};

const struct pw_option pw_place_options[] = {
    {"policy", PW_OPTION_POLICY, offsetof(struct pw_place_config, policy), 0, 0, "interleaved", "", &pw_place_family,
     "Which GPU's memory each page is in before the kernels run.", false},
    {"ctas", PW_OPTION_CHOICE, offsetof(struct pw_place_config, ctas), 0, 0, "blocks", "", cta_names,
     "Which CTAs of a launch a GPU gets: consecutive ones, or every n-th.", false},
    {"remote", PW_OPTION_CHOICE, offsetof(struct pw_place_config, remote), 0, 0, "direct", "", remote_names,
     "What becomes of a page of another GPU: it stays and is accessed there, moves to whoever asks for its "
     "translation, "
     "or does so once.",
     false},
    {0}};

struct pw_cta_share pw_place_ctas(enum pw_place_ctas how, uint32_t ctas, unsigned gpus, uint32_t sms, unsigned gpu)
{
    if (how == PW_CTAS_INTERLEAVED)
        return (struct pw_cta_share){.first = gpu, .step = gpus, .count = ctas / gpus + (gpu < ctas % gpus)};
    uint64_t all = (uint64_t)sms * gpus, block = (ctas + all - 1) / all * sms, first = block * gpu;
    uint64_t left = first < ctas ? ctas - first : 0;
    return (struct pw_cta_share){.first = (uint32_t)first, .step = 1, .count = (uint32_t)(left < block ? left : block)};
}
