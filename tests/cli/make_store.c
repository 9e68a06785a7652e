/* Makes a result store for store.sh without simulating: make_store FILE RUNS. */
#include "store_fixture.h"

int main(int argc, char **argv)
{
    struct pw_store *s;
    struct pw_error err = {0};
    int64_t run;
    if (argc != 3)
        return 2;
    enum pw_status status = pw_store_open(argv[1], PW_STORE_CREATE, &s, &err);
    for (uint64_t seed = 1; status == PW_OK && seed <= strtoul(argv[2], NULL, 10); seed++)
        status = store_add_seed(s, seed, &run, &err);
    if (status == PW_OK)
        pw_store_close(s);
    else
        fprintf(stderr, "%s\n", err.message);
    return (int)status;
}
