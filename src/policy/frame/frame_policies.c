/* The table of frame policies, from frame.def. */
#include "policy/frame/frame_policy.h"

#define PW_FRAME_POLICY(symbol, name) extern const struct pw_frame_policy pw_frame_policy_##symbol;
#include "policy/frame/frame.def"
#undef PW_FRAME_POLICY

const struct pw_frame_policy *const pw_frame_policies[] = {
#define PW_FRAME_POLICY(symbol, name) &pw_frame_policy_##symbol,
#include "policy/frame/frame.def"
#undef PW_FRAME_POLICY
    NULL};

const char *const pw_frame_policy_names[] = {
#define PW_FRAME_POLICY(symbol, name) name,
#include "policy/frame/frame.def"
#undef PW_FRAME_POLICY
    NULL};
