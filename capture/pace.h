/* The pace of a launch: the mean distance of a warp's instructions if it were alone and memory took no time.
 *
 * The compiler writes into every instruction how many cycles later the next one may issue (its stall count) and the
 * scoreboards that it waits for. So the executed code says when each instruction issues: at the stall count of the one
 * before, or when the last of those scoreboards is released (latencies.h). What lies between two records is one way
 * through the code, always the same (code.h). It is kept as what it makes of the times at its beginning, which is one
 * sum for each of them and the largest of these sums, so that no record costs more for a longer way.
 *
 * Simulators have their own times for accesses to global memory, for barriers and for ends of warps, so these do not
 * count. An access takes a cycle, which is taken off, and releases its scoreboards at once; behind a barrier all
 * scoreboards are released.
 *
 * Left out: caches of instructions, bank conflicts, and that lanes which went different ways have scoreboards of their
 * own. */
#ifndef PW_CAPTURE_PACE_H
#define PW_CAPTURE_PACE_H

#include "code.h"
#include "layout.h"

/* In cycles: when the next instruction may issue as far as those before let it, and when scoreboards are released. */
struct pw_pace_times {
    int64_t ready, released[PW_CODE_SCOREBOARDS];
};

/* Instructions in a row, and the times at their end: in end[0] if the warp is ready at 0 and has no scoreboard to wait
 * for, in end[1 + s] if nothing holds it up but scoreboard s, which is released at 0. From any other beginning they are
 * the largest of these, each as much later as it begins. */
struct pw_pace_way {
    uint32_t instructions;
    struct pw_pace_times end[1 + PW_CODE_SCOREBOARDS];
};

void pw_pace_way_begin(struct pw_pace_way *way);
void pw_pace_way_add(struct pw_pace_way *way, const struct pw_code_instruction *i);

/* A warp; all 0 at its entry. */
struct pw_pace_warp {
    uint8_t left[PW_CODE_SCOREBOARDS]; /* cycles until a scoreboard is released, from when the warp is ready */
};

/* Of a launch, in whatever order its warps come. */
struct pw_pace {
    uint64_t instructions, cycles;
    uint64_t ways, guessed; /* between records, and of them those that the code did not tell */
};

/* The warp goes a way, or with `way` NULL one that is guessed. */
void pw_pace_go(struct pw_pace *p, struct pw_pace_warp *w, const struct pw_pace_way *way);

/* It executes the instruction of a record. */
void pw_pace_record(struct pw_pace *p, struct pw_pace_warp *w, enum pw_capture_kind kind,
                    const struct pw_code_instruction *i);

/* In thousandths of a cycle, as a trace has it. 0: not known, as more than one way in twenty was guessed or there was
 * no instruction. */
uint32_t pw_pace_mean(const struct pw_pace *p);

#endif
