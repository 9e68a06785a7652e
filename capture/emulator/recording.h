/* The emulator as the GPU of a recording: what patches write on a GPU (capture/patch.cu), it writes into the ring, so
 * that a program's trace comes about as it would there. Records all that PAGEWALK_CAPTURE asks for; nothing without. */
#ifndef PW_EMULATOR_RECORDING_H
#define PW_EMULATOR_RECORDING_H

#include "launch.h"

#include <stddef.h>

void recording_allocated(const void *address, size_t bytes);
void recording_copied(const void *address, size_t bytes, int to_device, int from_device);
struct counts recording_launch(const uint8_t *image, const struct launch *l);

#endif
