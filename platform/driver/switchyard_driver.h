// SPDX-License-Identifier: Apache-2.0
/* Driver of the accelerator for bare metal: C99, freestanding, no allocation, no state but the caller's
 * switchyard_device. docs/driver.md says how to port it; the registers stand in switchyard_registers.h, which is made
 * from configs/registers/host.yaml.
 *
 * One thread of control uses a device at a time; nothing here is called from an interrupt handler. Every call that
 * waits gives up after a time that the caller chose. */
#ifndef SWITCHYARD_DRIVER_H
#define SWITCHYARD_DRIVER_H

/* NOLINTBEGIN(modernize-*,readability-*): C, not C++. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the driver reaches the chip. Offsets are those of the configuration port. The functions keep their order: an
 * access has reached the port before the next begins. */
typedef struct switchyard_io {
    void* context; /* first argument of each function */
    uint32_t (*read32)(void* context, uint32_t offset);
    void (*write32)(void* context, uint32_t offset, uint32_t value);
    /* Optional, NULL: words by read32 and write32. Bytes of a window in the order of memory, whole bursts: a write
     * has at most SWITCHYARD_BURST_BYTES. */
    void (*read_block)(void* context, uint32_t offset, void* data, size_t bytes);
    void (*write_block)(void* context, uint32_t offset, const void* data, size_t bytes);
    /* Optional, NULL: the driver polls IRQ_STATUS. Returns true when the chip's interrupt line is high, at once if it
     * is, or false after as long as the caller wants to wait. */
    bool (*wait_for_interrupt)(void* context);
} switchyard_io;

enum { SWITCHYARD_BURST_BYTES = 4096, SWITCHYARD_QUEUE_BATCHES = 8 };

typedef enum switchyard_result {
    SWITCHYARD_OK = 0,
    SWITCHYARD_TIMED_OUT,       /* nothing came; the operation may still be under way */
    SWITCHYARD_NO_DEVICE,       /* ID is not that of the chip */
    SWITCHYARD_OTHER_REGISTERS, /* VERSION.MAJOR is another */
    SWITCHYARD_CHIP_ERROR,      /* the chip raised an error: see error and error_info of the device */
    SWITCHYARD_UNFINISHED,      /* batches are queued, so no other image can be loaded */
    SWITCHYARD_QUEUE_FULL,
    SWITCHYARD_QUEUE_EMPTY,
    SWITCHYARD_IMAGE_TRUNCATED, /* found by the driver, before the chip saw anything of the image: */
    SWITCHYARD_IMAGE_TOO_LARGE,
    SWITCHYARD_IMAGE_CHECKSUM,
    SWITCHYARD_IMAGE_VERSION,
    SWITCHYARD_IMAGE_MALFORMED
} switchyard_result;

typedef struct switchyard_batch {
    uint32_t batch;
    uint64_t cycles; /* of the chip, from the doorbell to the last tile's answer */
} switchyard_batch;

typedef struct switchyard_profile_record {
    uint16_t op;      /* operator */
    uint16_t dyn_dim; /* of the kernel that ran */
    uint32_t invocations;
} switchyard_profile_record;

/* The members are the driver's; error and error_info are for the caller to read. */
typedef struct switchyard_device {
    switchyard_io io;
    uint32_t poll_limit;
    uint32_t pending;                                 /* interrupts that were taken and not yet waited for */
    uint32_t error;                                   /* SWITCHYARD_ERROR_..., after SWITCHYARD_CHIP_ERROR */
    uint32_t error_info;                              /* ERROR_INFO */
    switchyard_batch queue[SWITCHYARD_QUEUE_BATCHES]; /* a ring: finished ones, the running one, waiting ones */
    unsigned first, finished, queued;
} switchyard_device;

/* Touches no register. A wait ends with SWITCHYARD_TIMED_OUT when IRQ_STATUS has been read `poll_limit` times, by
 * polling or after interrupts, or when wait_for_interrupt returns false. */
void switchyard_init(switchyard_device* device, const switchyard_io* io, uint32_t poll_limit);
/* Is this the chip, and does the driver know its registers? */
switchyard_result switchyard_probe(switchyard_device* device);
/* The platform's fingerprint, which images carry. */
uint64_t switchyard_platform(switchyard_device* device);
/* Which of SWITCHYARD_IRQ_STATUS_... raise the interrupt line: all, to wait by interrupt. Polling needs none. */
void switchyard_enable_interrupts(switchyard_device* device, uint32_t interrupts);

/* Checks magic, version, bounds and every checksum of a kernel image (docs/image_format.md). */
switchyard_result switchyard_check_image(const void* image, size_t bytes);
/* Checks the image, writes it into the window, commits it and waits until the tiles have it. In switchyard_image.c. */
switchyard_result switchyard_load_image(switchyard_device* device, const void* image, size_t bytes);
/* The same, and leaves the check to the chip, which makes the same one and more when the image is committed: an image
 * that is no good ends with SWITCHYARD_CHIP_ERROR and a code SWITCHYARD_ERROR_IMAGE_..., and the image that was loaded
 * before stays. */
switchyard_result switchyard_load_unchecked_image(switchyard_device* device, const void* image, size_t bytes);
/* Forgets the loaded image, the last error and the queue. SWITCHYARD_CHIP_ERROR if a batch is running. */
switchyard_result switchyard_forget_image(switchyard_device* device);

/* Runs the batch, now or after those before it. */
switchyard_result switchyard_queue_batch(switchyard_device* device, uint32_t batch);
/* Waits for the oldest batch of the queue and takes it out. A batch that waits is started as soon as any call that
 * waits learns that the one before has finished. `done` may be NULL. */
switchyard_result switchyard_wait_batch(switchyard_device* device, switchyard_batch* done);

/* Moves bytes between the memory behind the chip's DMA port and HBM; flags: SWITCHYARD_DMA_CONTROL_... */
void switchyard_start_dma(switchyard_device* device, uint64_t host, uint64_t chip, uint32_t bytes, uint32_t flags);
switchyard_result switchyard_wait_dma(switchyard_device* device);
switchyard_result switchyard_dma(switchyard_device* device, uint64_t host, uint64_t chip, uint32_t bytes,
                                 uint32_t flags);

/* Many transfers with one interrupt: a list of descriptors in the memory behind the chip's DMA port. */
enum { SWITCHYARD_DESCRIPTOR_BYTES = 32, SWITCHYARD_LIST_DESCRIPTORS = 32768 /* at most */ };
/* Writes SWITCHYARD_DESCRIPTOR_BYTES at `descriptor`: a transfer, as for switchyard_start_dma. */
void switchyard_put_descriptor(void* descriptor, uint64_t host, uint64_t chip, uint32_t bytes, uint32_t flags);
/* Moves what `count` descriptors at `list` say, one after another. Nothing moves if one of them is wrong; error_info is
 * its number then. switchyard_wait_dma waits for the last. */
void switchyard_start_dma_list(switchyard_device* device, uint64_t list, uint32_t count);
/* Moves what any number of descriptors at `list` say, list after list, and waits for the last. */
switchyard_result switchyard_dma_list(switchyard_device* device, uint64_t list, uint32_t count);

/* Fetches the profile of a tile into the chip's window and says how many records it has. */
switchyard_result switchyard_fetch_profile(switchyard_device* device, uint32_t tile, uint32_t* records);
/* Reads `count` of them from number `first` on. */
void switchyard_read_profile(switchyard_device* device, uint32_t first, switchyard_profile_record* records,
                             uint32_t count);

const char* switchyard_result_text(switchyard_result result);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-*) */

#endif
