/* Instructions of NVIDIA's machine language: what one does to memory and which registers it takes, from its name.
 *
 * A trace lists the first register of each operand. How many there are follows from the name: a load of 128 bits fills
 * four, an address has two. Where the name does not say, one is assumed; an operand that is listed as R2 and was R3
 * as well then does not wait for a load into R3. */
#ifndef PW_TRACE_SASS_H
#define PW_TRACE_SASS_H

#include "trace/op.h"

#include <stddef.h>

enum pw_sass_kind {
    PW_SASS_OTHER, /* arithmetic, control flow, shared and local memory, textures, caches */
    PW_SASS_LOAD,
    PW_SASS_STORE,
    PW_SASS_ATOMIC,
    PW_SASS_COPY,   /* LDGSTS: from global into shared memory, without a register */
    PW_SASS_COMMIT, /* LDGDEPBAR: ends a group of copies */
    PW_SASS_WAIT,   /* DEPBAR: for all groups but the youngest ones */
    PW_SASS_BARRIER,
    PW_SASS_EXIT,
    PW_SASS_TENSOR, /* a copy by the tensor memory accelerator, as `moves` says */
    PW_SASS_MARKER, /* the tracer's own mark of a loop that spins: no instruction */
};

/* Shared and local memory each have so many of the generic addresses (CUDA driver; LDGSTS has offsets in shared memory
 * below it). */
enum { PW_SASS_WINDOW_BYTES = 1 << 24 };

enum { PW_SASS_SOURCES = 3 /* whose width is known; further ones have one register */, PW_SASS_RZ = 255 };

struct pw_sass {
    uint8_t kind;
    uint8_t bytes;   /* of an access; 0: a width that nothing here can have */
    uint8_t results; /* registers of the destination */
    uint8_t sources[PW_SASS_SOURCES];
    uint8_t moves; /* of a tensor copy, enum pw_op_kind: what becomes of global memory; PW_OP_COMPUTE: nothing */
    bool returns;  /* an atomic may have a destination: RED has none */
    bool generic;  /* the address decides whether it is global, shared or local */
    bool begins;   /* an operation, where the exporter has written the trace */
    bool wide;     /* the third of three sources has two registers */
};

/* Of a name of `length` characters. */
struct pw_sass pw_sass_of(const char *name, size_t length);

static inline bool pw_sass_is_access(const struct pw_sass *s)
{
    return s->kind >= PW_SASS_LOAD && s->kind <= PW_SASS_COPY;
}

/* What was found for names before, since a program has few and a trace has many of each. */
enum { PW_SASS_NAME_WORDS = 4, PW_SASS_CACHED = 256 };

struct pw_sass_cache {
    struct pw_sass_known {
        uint64_t name[PW_SASS_NAME_WORDS]; /* filled up with zeroes; all zero: none */
        struct pw_sass sass;
    } known[PW_SASS_CACHED];
    struct pw_sass other; /* the last one with a longer name */
};

/* The instruction whose name begins at `at` and ends with a blank, of a line of trace/line_input.h; *out_end is behind
 * the name. It stays until the next call. NULL: there is no name. */
const struct pw_sass *pw_sass_find(struct pw_sass_cache *c, const char *at, const char **out_end);

#endif
