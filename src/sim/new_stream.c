/* The stream has a descriptor of its own, because the file must stay open after the stream is closed: only then is
 * everything written, and the file can be brought to the disk and renamed. */
#include "sim/new_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 18 };

static enum pw_status cannot_write(const char *path, int cause, struct pw_error *err)
{
    return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", path, strerror(cause));
}

enum pw_status pw_new_stream_open(struct pw_new_stream *s, const char *path, struct pw_error *err)
{
    enum pw_status status = pw_new_file_open(&s->file, path, err);
    if (status != PW_OK)
        return status;
    int copy = dup(s->file.fd);
    s->out = copy < 0 ? NULL : fdopen(copy, "w");
    if (!s->out || setvbuf(s->out, NULL, _IOFBF, BUFFER_BYTES) != 0)
        status = cannot_write(path, errno, err);
    if (!s->out && copy >= 0)
        close(copy);
    return status;
}

enum pw_status pw_new_stream_finish(struct pw_new_stream *s, struct pw_error *err)
{
    bool written = !ferror(s->out);
    int cause = errno;
    if (fclose(s->out) != 0) {
        written = false;
        cause = errno;
    }
    s->out = NULL;
    return written ? pw_new_file_finish(&s->file, err) : cannot_write(s->file.target, cause, err);
}

void pw_new_stream_drop(struct pw_new_stream *s)
{
    if (s->out)
        fclose(s->out);
    s->out = NULL;
    pw_new_file_drop(&s->file);
}
