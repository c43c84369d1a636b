// SPDX-License-Identifier: Apache-2.0
/* What `sy-sched pack` makes for firmware (docs/driver.md): one block of memory with a kernel image, DMA lists for
 * weights, inputs and outputs, and room for the outputs. Offsets are from the first byte of the block; the lists hold
 * bus addresses, so the block lies where `--address` said. Little-endian. */
#ifndef SWITCHYARD_PACKAGE_H
#define SWITCHYARD_PACKAGE_H

/* NOLINTBEGIN(modernize-*,readability-*): C, not C++. */
#include <stdint.h>

#define SWITCHYARD_PACKAGE_MAGIC 0x4B505953u /* "SYPK" */

enum { SWITCHYARD_PACKAGE_VERSION = 1 };

/* Descriptors for switchyard_dma_list, which lie at address + offset. */
typedef struct switchyard_package_list {
    uint32_t offset, count;
} switchyard_package_list;

/* Batches use two banks of HBM in turn: batch b may be moved to the chip when batch b - 2 has come back. */
typedef struct switchyard_package_batch {
    switchyard_package_list to_chip;   /* inputs, and zeros for the masks */
    switchyard_package_list from_chip; /* outputs, and the masks that the gates have computed */
} switchyard_package_batch;

/* A piece of an output tensor: binary16, for each sample its channels, for each channel its rows, for each row its
 * columns. */
typedef struct switchyard_package_output {
    uint32_t batch, offset;
    uint32_t first_sample, samples; /* of the batch */
    uint32_t first_row, rows;
    uint32_t channels, columns;
} switchyard_package_output;

typedef struct switchyard_package {
    uint32_t magic, version;
    uint64_t address; /* bus address of the block */
    uint32_t bytes;   /* of the block */
    uint32_t image, image_bytes;
    uint32_t tiles; /* of the chip: each has a profile */
    uint32_t batch_samples;
    uint32_t batch, batches; /* switchyard_package_batch[batches] */
    switchyard_package_list weights;
    uint32_t output, outputs; /* switchyard_package_output[outputs] */
    uint32_t gates;
    uint32_t masks;           /* by the chip: uint64_t[batches][gates][batch_samples], a bit a branch */
    uint32_t expected_masks;  /* the same as recorded; 0: not known */
    uint32_t expected_labels; /* uint16_t[batches][batch_samples], the largest output's channel; 0: not known */
} switchyard_package;

/* NOLINTEND(modernize-*,readability-*) */

#endif
