/* Any bytes as a touch file, under policies that share blocks and under those that do not: nothing may crash, a refusal
 * is one line that begins with file and line, and residency is consistent afterwards. */
#include "exp/touch/replay.h"
#include "fuzz.h"
#include "message.h"

#include <stdlib.h>
#include <string.h>

static bool check_touch(void *context, const struct pw_touch *t)
{
    uint64_t *steps = context;
    require(t->step == (*steps)++ && strlen(t->name) < 32);
    require(t->fault ? t->pages_in >= 1 && t->pages_in <= PW_BLOCK_PAGES : !t->pages_in);
    return true;
}

/* The policy of this number, of those there are in turn. */
static void choose(const struct pw_policy_family *family, unsigned number, struct pw_policy_choice *out)
{
    unsigned count = 0;
    struct pw_error err;
    while (family->policies[count])
        count++;
    require(pw_policy_choose(family, family->policies[number % count]->name, 1000, out, &err) == PW_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (unsigned i = 0; pw_prefetch_family.policies[i]; i++) {
        struct pw_residency_config config = {.capacity = i % 2 ? 40 : 700, .seed = 1};
        struct pw_residency *r;
        struct pw_error err = {0};
        choose(&pw_prefetch_family, i, &config.prefetch);
        choose(&pw_evict_family, i, &config.evict);
        uint64_t steps = 0;
        require(pw_residency_create(&config, &r, &err) == PW_OK);
        enum pw_status status = pw_replay_touches(r, (const char *)data, size, "f", check_touch, &steps, &err);
        if (status != PW_OK) {
            require_refusal(status, &err);
            require(!strncmp(err.message, "f:", 2));
        }
        require(pw_residency_check(r, &err) == PW_OK);
        pw_residency_destroy(r);
    }
    return 0;
}
