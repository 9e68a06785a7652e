/* Leases on runs: who gets one, and what happens to a file in the place of theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exp/store/lease.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each test has a folder of its own to work in. */
static int enter(void **state)
{
    char *folder = strdup("lease.XXXXXX");
    *state = folder;
    return !folder || !mkdtemp(folder) || chdir(folder) != 0;
}

static int leave(void **state)
{
    unlink("store-lock");
    unlink("elsewhere");
    int status = chdir("..") || rmdir(*state);
    free(*state);
    return status;
}

static bool is_there(const char *path)
{
    return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void a_run_is_leased_once_and_the_file_goes(void **state)
{
    (void)state;
    struct pw_lease first, second, other;
    assert_true(pw_lease_take("store", 17 << 1, &first));
    assert_false(pw_lease_take("store", 17 << 1, &second));
    assert_true(pw_lease_take("store", 18 << 1, &other));
    pw_lease_drop(&first);
    assert_true(pw_lease_take("store", 17 << 1, &second));
    pw_lease_drop(&second);
    pw_lease_drop(&other);
    assert_true(is_there("store-lock"));
    pw_lease_tidy("store");
    assert_false(is_there("store-lock"));
}

/* It could lead to where only the owner of the store may write. */
static void a_link_is_not_followed(void **state)
{
    (void)state;
    struct pw_lease lease;
    assert_int_equal(symlink("elsewhere", "store-lock"), 0);
    assert_true(pw_lease_take("store", 1, &lease));
    assert_int_equal(lease.fd, -1);
    pw_lease_drop(&lease);
    pw_lease_tidy("store");
    assert_false(is_there("elsewhere"));
    assert_true(is_there("store-lock"));
}

static void a_file_with_contents_is_not_removed(void **state)
{
    (void)state;
    struct pw_lease lease;
    FILE *file = fopen("store-lock", "w");
    assert_non_null(file);
    assert_true(fputs("mine\n", file) >= 0 && fclose(file) == 0);
    assert_true(pw_lease_take("store", 1, &lease));
    pw_lease_drop(&lease);
    pw_lease_tidy("store");
    assert_true(is_there("store-lock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_is_leased_once_and_the_file_goes, enter, leave),
        cmocka_unit_test_setup_teardown(a_link_is_not_followed, enter, leave),
        cmocka_unit_test_setup_teardown(a_file_with_contents_is_not_removed, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
