// SPDX-License-Identifier: Apache-2.0
#include "switchyard_driver.h"

#include "switchyard_registers.h"

static uint32_t read_register(switchyard_device* device, uint32_t offset) {
    return device->io.read32(device->io.context, offset);
}

static void write_register(switchyard_device* device, uint32_t offset, uint32_t value) {
    device->io.write32(device->io.context, offset, value);
}

static void write_pair(switchyard_device* device, uint32_t low_offset, uint64_t value) {
    write_register(device, low_offset, (uint32_t)value);
    write_register(device, low_offset + 4u, (uint32_t)(value >> 32));
}

static uint64_t read_pair(switchyard_device* device, uint32_t low_offset) {
    const uint64_t low = read_register(device, low_offset);
    const uint64_t high = read_register(device, low_offset + 4u);
    return high << 32 | low;
}

void switchyard_init(switchyard_device* device, const switchyard_io* io, uint32_t poll_limit) {
    /* Member by member: of a whole structure compilers may make a call of memcpy. */
    device->io.context = io->context;
    device->io.read32 = io->read32;
    device->io.write32 = io->write32;
    device->io.read_block = io->read_block;
    device->io.write_block = io->write_block;
    device->io.wait_for_interrupt = io->wait_for_interrupt;
    device->poll_limit = poll_limit;
    device->pending = 0;
    device->error = SWITCHYARD_ERROR_NONE;
    device->error_info = 0;
    device->first = device->finished = device->queued = 0;
}

switchyard_result switchyard_probe(switchyard_device* device) {
    const uint32_t known = SWITCHYARD_VERSION_RESET & SWITCHYARD_VERSION_MAJOR;
    if (read_register(device, SWITCHYARD_ID_OFFSET) != SWITCHYARD_ID_RESET) return SWITCHYARD_NO_DEVICE;
    if ((read_register(device, SWITCHYARD_VERSION_OFFSET) & SWITCHYARD_VERSION_MAJOR) != known)
        return SWITCHYARD_OTHER_REGISTERS;
    return SWITCHYARD_OK;
}

uint64_t switchyard_platform(switchyard_device* device) {
    return read_pair(device, SWITCHYARD_PLATFORM_LOW_OFFSET);
}

void switchyard_enable_interrupts(switchyard_device* device, uint32_t interrupts) {
    write_register(device, SWITCHYARD_IRQ_ENABLE_OFFSET, interrupts);
}

/* Batches ------------------------------------------------------------------------------------------------------- */

static switchyard_batch* queue_entry(switchyard_device* device, unsigned number) {
    return &device->queue[(device->first + number) % SWITCHYARD_QUEUE_BATCHES];
}

static void ring_doorbell(switchyard_device* device) {
    write_register(device, SWITCHYARD_DOORBELL_OFFSET, queue_entry(device, device->finished)->batch);
}

static void finish_batch(switchyard_device* device) {
    device->pending &= ~SWITCHYARD_IRQ_STATUS_BATCH_DONE;
    queue_entry(device, device->finished)->cycles = read_pair(device, SWITCHYARD_LAST_CYCLES_LOW_OFFSET);
    ++device->finished;
    if (device->finished < device->queued) ring_doorbell(device);
}

/* Waiting ------------------------------------------------------------------------------------------------------- */

static switchyard_result take_error(switchyard_device* device) {
    device->error = read_register(device, SWITCHYARD_ERROR_OFFSET);
    device->error_info = read_register(device, SWITCHYARD_ERROR_INFO_OFFSET);
    /* The doorbell was rung in vain: these batches will never finish. */
    if (device->error == SWITCHYARD_ERROR_NOT_LOADED) device->queued = device->finished;
    return SWITCHYARD_CHIP_ERROR;
}

/* Waits for interrupts once, acknowledges them and keeps them in `pending`. */
static switchyard_result take_interrupts(switchyard_device* device, uint32_t* polls) {
    uint32_t status;
    if (*polls >= device->poll_limit) return SWITCHYARD_TIMED_OUT;
    ++*polls;
    if (device->io.wait_for_interrupt && !device->io.wait_for_interrupt(device->io.context))
        return SWITCHYARD_TIMED_OUT;
    status = read_register(device, SWITCHYARD_IRQ_STATUS_OFFSET);
    if (status == 0) return SWITCHYARD_OK;
    write_register(device, SWITCHYARD_IRQ_STATUS_OFFSET, status);
    device->pending |= status & ~SWITCHYARD_IRQ_STATUS_ERROR;
    if (status & SWITCHYARD_IRQ_STATUS_ERROR) return take_error(device);
    /* Another batch waits for this one: it is not kept waiting. */
    if ((device->pending & SWITCHYARD_IRQ_STATUS_BATCH_DONE) && device->finished + 1u < device->queued)
        finish_batch(device);
    return SWITCHYARD_OK;
}

static switchyard_result await(switchyard_device* device, uint32_t interrupt) {
    uint32_t polls = 0;
    while (!(device->pending & interrupt)) {
        const switchyard_result result = take_interrupts(device, &polls);
        if (result != SWITCHYARD_OK) return result;
    }
    device->pending &= ~interrupt;
    return SWITCHYARD_OK;
}

switchyard_result switchyard_queue_batch(switchyard_device* device, uint32_t batch) {
    if (device->queued == SWITCHYARD_QUEUE_BATCHES) return SWITCHYARD_QUEUE_FULL;
    queue_entry(device, device->queued)->batch = batch;
    ++device->queued;
    if (device->finished + 1u == device->queued) ring_doorbell(device);
    return SWITCHYARD_OK;
}

switchyard_result switchyard_wait_batch(switchyard_device* device, switchyard_batch* done) {
    uint32_t polls = 0;
    if (device->queued == 0) return SWITCHYARD_QUEUE_EMPTY;
    while (device->finished == 0) {
        if (device->pending & SWITCHYARD_IRQ_STATUS_BATCH_DONE) {
            finish_batch(device);
        } else {
            const switchyard_result result = take_interrupts(device, &polls);
            if (result != SWITCHYARD_OK) return result;
        }
    }
    if (done) {
        const switchyard_batch* const oldest = queue_entry(device, 0);
        done->batch = oldest->batch;
        done->cycles = oldest->cycles;
    }
    device->first = (device->first + 1u) % SWITCHYARD_QUEUE_BATCHES;
    --device->finished;
    --device->queued;
    return SWITCHYARD_OK;
}

/* Images -------------------------------------------------------------------------------------------------------- */

static void write_window(switchyard_device* device, uint32_t offset, const uint8_t* data, size_t bytes) {
    size_t done, i;
    for (done = 0; done < bytes; done += SWITCHYARD_BURST_BYTES) {
        const size_t left = bytes - done;
        const size_t size = left < SWITCHYARD_BURST_BYTES ? left : SWITCHYARD_BURST_BYTES;
        if (device->io.write_block) {
            device->io.write_block(device->io.context, offset + (uint32_t)done, data + done, size);
            continue;
        }
        for (i = 0; i < size; i += 4) { /* the last word is filled with zeros */
            uint32_t word = 0;
            size_t byte;
            for (byte = 0; byte < 4 && i + byte < size; ++byte) word |= (uint32_t)data[done + i + byte] << (8 * byte);
            write_register(device, offset + (uint32_t)(done + i), word);
        }
    }
}

switchyard_result switchyard_load_unchecked_image(switchyard_device* device, const void* image, size_t bytes) {
    switchyard_result result;
    if (bytes > read_register(device, SWITCHYARD_IMAGE_CAPACITY_OFFSET)) return SWITCHYARD_IMAGE_TOO_LARGE;
    if (device->queued != device->finished) return SWITCHYARD_UNFINISHED;
    device->pending &= ~SWITCHYARD_IRQ_STATUS_LOADED;
    write_window(device, SWITCHYARD_IMAGE_WINDOW, (const uint8_t*)image, bytes);
    write_register(device, SWITCHYARD_IMAGE_BYTES_OFFSET, (uint32_t)bytes);
    write_register(device, SWITCHYARD_CONTROL_OFFSET, SWITCHYARD_CONTROL_COMMIT_IMAGE);
    result = await(device, SWITCHYARD_IRQ_STATUS_LOADED);
    if (result != SWITCHYARD_OK) return result;
    if ((read_register(device, SWITCHYARD_STATUS_OFFSET) & (SWITCHYARD_STATUS_LOADED | SWITCHYARD_STATUS_FAILED)) !=
        SWITCHYARD_STATUS_LOADED)
        return take_error(device);
    return SWITCHYARD_OK;
}

switchyard_result switchyard_forget_image(switchyard_device* device) {
    uint32_t polls = 0;
    switchyard_result result = SWITCHYARD_OK;
    write_register(device, SWITCHYARD_CONTROL_OFFSET, SWITCHYARD_CONTROL_RESET_IMAGE);
    while (read_register(device, SWITCHYARD_STATUS_OFFSET) & SWITCHYARD_STATUS_LOADED) {
        /* Still loaded: the chip was busy, and says so by an interrupt. */
        result = take_interrupts(device, &polls);
        if (result != SWITCHYARD_OK) return result;
    }
    device->pending &= ~(SWITCHYARD_IRQ_STATUS_LOADED | SWITCHYARD_IRQ_STATUS_BATCH_DONE);
    device->first = device->finished = device->queued = 0;
    device->error = SWITCHYARD_ERROR_NONE;
    device->error_info = 0;
    return result;
}

/* DMA ----------------------------------------------------------------------------------------------------------- */

void switchyard_start_dma(switchyard_device* device, uint64_t host, uint64_t chip, uint32_t bytes, uint32_t flags) {
    device->pending &= ~SWITCHYARD_IRQ_STATUS_DMA_DONE;
    write_pair(device, SWITCHYARD_DMA_HOST_LOW_OFFSET, host);
    write_pair(device, SWITCHYARD_DMA_CHIP_LOW_OFFSET, chip);
    write_register(device, SWITCHYARD_DMA_BYTES_OFFSET, bytes);
    write_register(device, SWITCHYARD_DMA_CONTROL_OFFSET, flags);
}

/* Little-endian, whatever the processor is. */
static void put_word(uint8_t* at, uint32_t value) {
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
}

void switchyard_put_descriptor(void* descriptor, uint64_t host, uint64_t chip, uint32_t bytes, uint32_t flags) {
    uint8_t* const at = (uint8_t*)descriptor;
    put_word(at, (uint32_t)host);
    put_word(at + 4, (uint32_t)(host >> 32));
    put_word(at + 8, (uint32_t)chip);
    put_word(at + 12, (uint32_t)(chip >> 32));
    put_word(at + 16, bytes);
    put_word(at + 20, flags);
    put_word(at + 24, 0); /* reserved */
    put_word(at + 28, 0);
}

void switchyard_start_dma_list(switchyard_device* device, uint64_t list, uint32_t count) {
    switchyard_start_dma(device, list, 0, count * SWITCHYARD_DESCRIPTOR_BYTES, SWITCHYARD_DMA_CONTROL_LIST);
}

switchyard_result switchyard_wait_dma(switchyard_device* device) {
    return await(device, SWITCHYARD_IRQ_STATUS_DMA_DONE);
}

switchyard_result switchyard_dma_list(switchyard_device* device, uint64_t list, uint32_t count) {
    switchyard_result result = SWITCHYARD_OK;
    while (count > 0 && result == SWITCHYARD_OK) {
        const uint32_t part = count < SWITCHYARD_LIST_DESCRIPTORS ? count : SWITCHYARD_LIST_DESCRIPTORS;
        switchyard_start_dma_list(device, list, part);
        result = switchyard_wait_dma(device);
        list += (uint64_t)part * SWITCHYARD_DESCRIPTOR_BYTES;
        count -= part;
    }
    return result;
}

switchyard_result switchyard_dma(switchyard_device* device, uint64_t host, uint64_t chip, uint32_t bytes,
                                 uint32_t flags) {
    switchyard_start_dma(device, host, chip, bytes, flags);
    return switchyard_wait_dma(device);
}

/* Profiles ------------------------------------------------------------------------------------------------------ */

enum { RECORD_BYTES = 8 };

switchyard_result switchyard_fetch_profile(switchyard_device* device, uint32_t tile, uint32_t* records) {
    switchyard_result result;
    device->pending &= ~SWITCHYARD_IRQ_STATUS_PROFILE_READY;
    write_register(device, SWITCHYARD_PROFILE_TILE_OFFSET, tile);
    result = await(device, SWITCHYARD_IRQ_STATUS_PROFILE_READY);
    if (result == SWITCHYARD_OK) *records = read_register(device, SWITCHYARD_PROFILE_RECORDS_OFFSET);
    return result;
}

static uint32_t word_at(const uint8_t* bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

void switchyard_read_profile(switchyard_device* device, uint32_t first, switchyard_profile_record* records,
                             uint32_t count) {
    const uint32_t begin = SWITCHYARD_PROFILE_WINDOW + first * RECORD_BYTES;
    uint32_t i;
    if (count == 0) return;
    /* The records' own memory takes the bytes as they come; each is turned round in its place. */
    if (device->io.read_block) device->io.read_block(device->io.context, begin, records, (size_t)count * RECORD_BYTES);
    for (i = 0; i < count; ++i) {
        uint32_t ids, invocations;
        if (device->io.read_block) {
            const uint8_t* bytes = (const uint8_t*)&records[i];
            ids = word_at(bytes);
            invocations = word_at(bytes + 4);
        } else {
            ids = read_register(device, begin + i * RECORD_BYTES);
            invocations = read_register(device, begin + i * RECORD_BYTES + 4u);
        }
        records[i].op = (uint16_t)ids;
        records[i].dyn_dim = (uint16_t)(ids >> 16);
        records[i].invocations = invocations;
    }
}

const char* switchyard_result_text(switchyard_result result) {
    switch (result) {
        case SWITCHYARD_OK:
            return "done";
        case SWITCHYARD_TIMED_OUT:
            return "the chip did not answer in time";
        case SWITCHYARD_NO_DEVICE:
            return "there is no such chip";
        case SWITCHYARD_OTHER_REGISTERS:
            return "the chip has another version of the registers";
        case SWITCHYARD_CHIP_ERROR:
            return "the chip reports an error";
        case SWITCHYARD_UNFINISHED:
            return "batches are queued";
        case SWITCHYARD_QUEUE_FULL:
            return "the queue is full";
        case SWITCHYARD_QUEUE_EMPTY:
            return "no batch is queued";
        case SWITCHYARD_IMAGE_TRUNCATED:
            return "the image is truncated";
        case SWITCHYARD_IMAGE_TOO_LARGE:
            return "the image exceeds the window";
        case SWITCHYARD_IMAGE_CHECKSUM:
            return "a checksum of the image does not match";
        case SWITCHYARD_IMAGE_VERSION:
            return "the image has another version";
        case SWITCHYARD_IMAGE_MALFORMED:
            return "the image is malformed";
    }
    return "unknown";
}
