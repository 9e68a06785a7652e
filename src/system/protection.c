/* Permissions of allocations: who sets them, and what becomes of a run in which a kernel does what it may not.
 *
 * The program says what its kernels may do with an array (pw_protect). Pages that are mapped already get their new
 * permissions at once, and TLBs forget them, since their entries carry the old ones; this takes no simulated time, as
 * nothing else does that a program does between its launches. What is checked where is in gpu/protection.c. */
#include "system/system.h"

enum pw_status pw_app_protect(void *app, uint32_t id, pw_vaddr base, unsigned permissions, struct pw_error *err)
{
    (void)id;
    const struct pw_app *a = app;
    struct pw_range *r = pw_address_space_find(a->space, base);
    unsigned denied = PW_MAY_ALL & ~permissions;
    if (!r)
        return pw_fail(err, PW_FAILED, "address 0x%llx is protected but not allocated", (unsigned long long)base.v);
    if (r->denied == denied)
        return PW_OK;
    pw_address_space_protect(a->space, r, denied);
    if (r->mapped > r->first)
        pw_system_shootdown(a->system, a->space->asid, (pw_vpn){r->first}, (pw_vpn){r->outer});
    return PW_OK;
}

void pw_app_denied(void *node, unsigned app, struct pw_denied_access access)
{
    static const char *const does[] = {"touches", "reads", "writes", "updates"};
    static const char *const may[] = {"use", "only write", "only read", "neither read nor write"};
    struct pw_system *s = ((struct pw_node *)node)->system;
    const struct pw_app *a = &s->apps[app];
    const struct pw_range *r = pw_address_space_around(a->space, access.address);
    struct pw_error err;
    pw_fail(&err, PW_USER_ERROR, "app%u (%s): kernel %s %s address 0x%llx of allocation '%s', which it may %s", app,
            a->program.text, a->present ? a->present->name : "", does[access.wanted & PW_MAY_ALL],
            (unsigned long long)access.address.v, r ? r->name : "", may[access.denied & PW_MAY_ALL]);
    pw_system_fail(s, &err);
}
