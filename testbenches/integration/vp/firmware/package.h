/* What the prototype's loader leaves in RAM for the firmware, and what the firmware leaves for the test: a kernel
 * image, what is to be moved to and from the chip, and what is expected. Addresses are those of the bus. */
#ifndef PACKAGE_H
#define PACKAGE_H

/* NOLINTBEGIN(modernize-*,readability-*): C, not C++. */
#include <stdint.h>

#define PACKAGE_ADDRESS 0x80100000u
#define PACKAGE_MAGIC 0x4B434150u

enum { PACKAGE_BATCHES = 2 };

struct package_transfer {
    uint64_t chip; /* address in HBM */
    uint32_t memory;
    uint32_t bytes;
};

/* Logits of some samples, binary16, all classes of one sample side by side. */
struct package_logits {
    uint32_t memory;
    uint32_t first_sample, samples;
};

struct package {
    uint32_t magic;
    uint32_t image, image_bytes;
    uint32_t to_chip, to_chip_count;     /* struct package_transfer[]: weights, inputs, cleared masks */
    uint32_t from_chip, from_chip_count; /* the same: logits, computed masks */
    uint32_t classes;
    uint32_t logits, logits_count;  /* struct package_logits[] */
    uint32_t samples;               /* of all batches */
    uint32_t expected_labels;       /* uint8_t[samples] */
    uint32_t labels;                /* uint8_t[samples]: by the firmware */
    uint32_t decisions;             /* of all gates */
    uint32_t expected_masks, masks; /* uint64_t[decisions]: recorded, and computed by the chip */
    uint32_t tiles;
};

/* NOLINTEND(modernize-*,readability-*) */

#endif
