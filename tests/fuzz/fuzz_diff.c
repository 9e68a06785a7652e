/* Any bytes as a result for `diff`, against a good one and against themselves: nothing may crash, a refusal is one line
 * that names the file, and a file does not differ from itself. */
#include "exp/format/result.h"
#include "fuzz.h"
#include "message.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char good[] =
    "{\"schema\": 1, \"version\": \"1\", \"seed\": 1, \"machine\": \"m\", \"design\": \"d\", \"cycles\": 5, "
    "\"nanoseconds\": 2.5,\n"
    " \"options\": {\"a\": \"1\", \"b\": \"on\"}, \"metrics\": {\"gpu0.x\": 3, \"gpu0.y\": null},\n"
    " \"apps\": [{\"name\": \"HS\", \"ipc\": 0.5, \"cycles\": 5}], \"identities\": [{\"name\": \"a = b\", \"holds\": "
    "true}],\n"
    " \"allocations\": [{\"name\": \"t\", \"app\": 0, \"bytes\": 4096}],\n"
    " \"kernels\": [{\"name\": \"k\", \"app\": 0, \"first_cycle\": 0, \"outer_cycle\": 5}], \"host\": "
    "{\"wall_seconds\": 1}}\n";

struct file {
    int fd;
    char path[64];
};

static struct file make_file(const void *bytes, size_t size)
{
    struct file f = {.fd = memfd_create("result", 0)};
    require(f.fd >= 0 && write(f.fd, bytes, size) == (ssize_t)size);
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

static enum pw_status compare(const struct file *a, const struct file *b)
{
    struct pw_text out = {0};
    struct pw_error err = {0};
    bool differ = false;
    enum pw_status status = pw_result_diff((const char *const[]){a->path, b->path}, 2, &out, &differ, &err);
    if (status != PW_OK) {
        require_refusal(status, &err);
        require(!strncmp(err.message, "/proc/self/fd/", 14));
    }
    require(a != b || status != PW_OK || !differ);
    for (size_t i = 0; status == PW_OK && i < out.length; i++)
        require(out.bytes[i] == '\n' || (unsigned char)out.bytes[i] >= ' ');
    pw_text_free(&out);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file a = make_file(data, size), b = make_file(good, sizeof good - 1);
    require(compare(&b, &b) == PW_OK);
    compare(&a, &b);
    compare(&b, &a);
    compare(&a, &a);
    close(a.fd);
    close(b.fd);
    return 0;
}
