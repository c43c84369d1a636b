// SPDX-License-Identifier: Apache-2.0
/* Boots the accelerator with the driver, runs a network on it, and says over the UART what came out. */
#include "platform.h"
#include "switchyard_driver.h"
#include "switchyard_package.h"
#include "switchyard_registers.h"

enum { TIMEOUT_US = 100000, SHORT_TIMEOUT_US = 50, POLL_LIMIT = 1000000, LABELS_A_LINE = 64, MOST_SAMPLES = 1024 };

#define REGISTER(address) (*(volatile uint32_t*)(address))
#define SYSTEM_NOW REGISTER(0x00100000u)
#define SYSTEM_ALARM REGISTER(0x00100004u)
#define SYSTEM_POWER_OFF REGISTER(0x00100008u)
#define INTERRUPTS_ENABLE REGISTER(0x0C000004u)
#define INTERRUPTS_CLAIM REGISTER(0x0C000008u)
#define ACCELERATOR 0x10000000u
#define UART_TRANSMIT REGISTER(0x20000000u)
#define HOLE 0x40000000u

enum { ACCELERATOR_SOURCE = 1, LOAD_FAULT = 5, FAR_AWAY_US = 0x7FFFFFFF };
#define EXTERNAL_INTERRUPT (1u << 31 | 11u)
#define TIMER_INTERRUPT (1u << 31 | 7u)

/* start.S */
void hart_enable(uint32_t interrupts);
void hart_lock(void);
void hart_unlock(void);
void hart_wait(void);
uint32_t handle_trap(uint32_t cause, uint32_t pc);

static volatile bool accelerator_called, alarm_rang;
static volatile uint32_t expected_trap, trap_seen;
static uint32_t timeout_us = TIMEOUT_US;

/* Text --------------------------------------------------------------------------------------------------------- */

static void print(const char* text) {
    while (*text) UART_TRANSMIT = (uint8_t)*text++;
}

static void print_number(uint32_t value) {
    char digits[11];
    char* at = digits + sizeof digits - 1;
    *at = 0;
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    print(at);
}

static void power_off(uint32_t code) {
    SYSTEM_POWER_OFF = code;
    for (;;) hart_wait();
}

static void must(switchyard_result result, const switchyard_device* device, const char* what) {
    if (result == SWITCHYARD_OK) return;
    print(what);
    print(": ");
    print(switchyard_result_text(result));
    if (result == SWITCHYARD_CHIP_ERROR) {
        print(" ");
        print_number(device->error);
        print(" (");
        print_number(device->error_info);
        print(")");
    }
    print("\n");
    power_off(1);
}

/* Traps -------------------------------------------------------------------------------------------------------- */

uint32_t handle_trap(uint32_t cause, uint32_t pc) {
    if (cause == EXTERNAL_INTERRUPT) {
        const uint32_t source = INTERRUPTS_CLAIM;
        if (source == ACCELERATOR_SOURCE) {
            accelerator_called = true;
            INTERRUPTS_ENABLE = 0; /* until the driver has asked the chip what it wants */
        }
        INTERRUPTS_CLAIM = source;
    } else if (cause == TIMER_INTERRUPT) {
        alarm_rang = true;
        SYSTEM_ALARM = SYSTEM_NOW + FAR_AWAY_US;
    } else if (cause == expected_trap) {
        trap_seen = cause;
        return pc + 4;
    } else {
        print("unexpected trap ");
        print_number(cause);
        print("\n");
        power_off(2);
    }
    return pc;
}

/* What the driver is given -------------------------------------------------------------------------------------- */

static uint32_t read32(void* context, uint32_t offset) {
    return *(volatile uint32_t*)((uintptr_t)context + offset);
}

static void write32(void* context, uint32_t offset, uint32_t value) {
    *(volatile uint32_t*)((uintptr_t)context + offset) = value;
}

static bool wait_for_interrupt(void* context) {
    bool called;
    (void)context;
    alarm_rang = false;
    SYSTEM_ALARM = SYSTEM_NOW + timeout_us;
    INTERRUPTS_ENABLE = 1u << ACCELERATOR_SOURCE;
    hart_lock(); /* an interrupt between the look at the flags and wfi would be slept through */
    while (!accelerator_called && !alarm_rang) {
        hart_wait();
        hart_unlock();
        hart_lock();
    }
    /* Cleared here, not at the begin: the chip may call between a wait that timed out and the next one. */
    called = accelerator_called;
    accelerator_called = false;
    hart_unlock();
    return called;
}

/* The run ------------------------------------------------------------------------------------------------------- */

static const uint8_t* at(const switchyard_package* package, uint32_t offset) {
    return (const uint8_t*)package + offset;
}

static void move(switchyard_device* device, const switchyard_package* package, switchyard_package_list list,
                 const char* what) {
    must(switchyard_dma_list(device, package->address + list.offset, list.count), device, what);
}

/* Numbers of binary16 in the order of their values; there is no NaN among them. */
static int32_t order(uint16_t half) {
    return half & 0x8000u ? -(int32_t)(half & 0x7FFFu) : (int32_t)half;
}

static void find_labels(const switchyard_package* package, uint8_t* labels) {
    const switchyard_package_output* part = (const switchyard_package_output*)at(package, package->output);
    uint32_t i, sample, k;
    for (i = 0; i < package->outputs; ++i, ++part) {
        const uint16_t* logit = (const uint16_t*)at(package, part->offset);
        uint8_t* const of_part = labels + part->batch * package->batch_samples + part->first_sample;
        for (sample = 0; sample < part->samples; ++sample, logit += part->channels) {
            uint32_t best = 0;
            for (k = 1; k < part->channels; ++k)
                if (order(logit[k]) > order(logit[best])) best = k;
            of_part[sample] = (uint8_t)best;
        }
    }
}

static uint32_t report(const switchyard_package* package) {
    static uint8_t labels[MOST_SAMPLES];
    const uint16_t* const expected = (const uint16_t*)at(package, package->expected_labels);
    const uint64_t* const masks = (const uint64_t*)at(package, package->masks);
    const uint64_t* const recorded = (const uint64_t*)at(package, package->expected_masks);
    const uint32_t samples = package->batches * package->batch_samples, decisions = samples * package->gates;
    uint32_t right = 0, agreed = 0, i;
    if (samples > MOST_SAMPLES) power_off(5);
    find_labels(package, labels);
    for (i = 0; i < samples; ++i) {
        right += labels[i] == expected[i];
        UART_TRANSMIT = (uint8_t)('0' + labels[i]);
        if (i % LABELS_A_LINE == LABELS_A_LINE - 1) print("\n");
    }
    for (i = 0; i < decisions; ++i) agreed += masks[i] == recorded[i];
    print_number(right);
    print(" of ");
    print_number(samples);
    print(" labels as expected, ");
    print_number(agreed);
    print(" of ");
    print_number(decisions);
    print(" gate decisions as recorded\n");
    return right == samples && agreed == decisions ? 0 : 3;
}

static void print_profile(switchyard_device* device, uint32_t tiles) {
    static switchyard_profile_record records[64];
    uint32_t tile, total = 0, invocations = 0;
    for (tile = 0; tile < tiles; ++tile) {
        uint32_t count, first, i;
        must(switchyard_fetch_profile(device, tile, &count), device, "profile");
        total += count;
        for (first = 0; first < count; first += 64) {
            const uint32_t part = count - first < 64 ? count - first : 64;
            switchyard_read_profile(device, first, records, part);
            for (i = 0; i < part; ++i) invocations += records[i].invocations;
        }
    }
    print("profile: ");
    print_number(total);
    print(" kernels, ");
    print_number(invocations);
    print(" invocations\n");
}

static void check_refusals(switchyard_device* device, const switchyard_package* package) {
    uint8_t* const image = (uint8_t*)at(package, package->image);
    image[8] ^= 1u;
    print("damaged image: ");
    print(switchyard_result_text(switchyard_load_image(device, image, package->image_bytes)));
    print("\ndamaged image, checked by the chip: ");
    if (switchyard_load_unchecked_image(device, image, package->image_bytes) == SWITCHYARD_CHIP_ERROR)
        print_number(device->error);
    image[8] ^= 1u;

    print("\nbatch without an image: ");
    (void)switchyard_queue_batch(device, 0);
    if (switchyard_wait_batch(device, 0) == SWITCHYARD_CHIP_ERROR) print_number(device->error);

    timeout_us = SHORT_TIMEOUT_US;
    print("\nno transfer under way: ");
    print(switchyard_result_text(switchyard_wait_dma(device)));
    timeout_us = TIMEOUT_US;

    expected_trap = LOAD_FAULT;
    (void)REGISTER(HOLE);
    expected_trap = 0;
    print("\nnobody at an address: trap ");
    print_number(trap_seen);
    print("\n");
}

/* Two batches are under way at a time: a bank of HBM each. */
static void run_batches(switchyard_device* device, const switchyard_package* package) {
    const switchyard_package_batch* const batches = (const switchyard_package_batch*)at(package, package->batch);
    uint32_t batch;
    for (batch = 0; batch < package->batches + 2; ++batch) {
        if (batch >= 2) {
            switchyard_batch done;
            must(switchyard_wait_batch(device, &done), device, "batch");
            print("batch ");
            print_number(done.batch);
            print(done.cycles != 0 ? " done\n" : " took no time\n");
            move(device, package, batches[batch - 2].from_chip, "from chip");
        }
        if (batch < package->batches) {
            move(device, package, batches[batch].to_chip, "to chip");
            must(switchyard_queue_batch(device, batch), device, "queue");
        }
    }
}

int main(void) {
    const switchyard_package* const package = (const switchyard_package*)PACKAGE_ADDRESS;
    static switchyard_device device;
    switchyard_io io = {0};
    io.context = (void*)ACCELERATOR;
    io.read32 = read32;
    io.write32 = write32;
    io.wait_for_interrupt = wait_for_interrupt;
    SYSTEM_ALARM = SYSTEM_NOW + FAR_AWAY_US;
    hart_enable(1u << 11 | 1u << 7);
    hart_unlock();

    if (package->magic != SWITCHYARD_PACKAGE_MAGIC || package->version != SWITCHYARD_PACKAGE_VERSION ||
        package->address != PACKAGE_ADDRESS || package->expected_labels == 0 || package->expected_masks == 0)
        power_off(4);
    switchyard_init(&device, &io, POLL_LIMIT);
    must(switchyard_probe(&device), &device, "probe");
    switchyard_enable_interrupts(&device, SWITCHYARD_IRQ_STATUS_WRITABLE);
    check_refusals(&device, package);

    must(switchyard_load_image(&device, at(package, package->image), package->image_bytes), &device, "image");
    print("image loaded\n");
    move(&device, package, package->weights, "weights");
    run_batches(&device, package);
    print_profile(&device, package->tiles);
    power_off(report(package));
    return 0;
}

/* The compiler may call these for copies and initialisations. */
void* memcpy(void* to, const void* from, size_t bytes) {
    uint8_t* d = to;
    const uint8_t* s = from;
    while (bytes-- > 0) *d++ = *s++;
    return to;
}

void* memset(void* to, int value, size_t bytes) {
    uint8_t* d = to;
    while (bytes-- > 0) *d++ = (uint8_t)value;
    return to;
}
