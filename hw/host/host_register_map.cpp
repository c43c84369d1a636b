#include <fmt/format.h>

#include "switchyard/hw/host/host_interface.h"

namespace switchyard::hw {

using namespace host_registers;
using Access = RegisterFile::Access;

void HostInterface::define_registers() {
    const auto low = static_cast<std::uint32_t>(chip_.platform_fingerprint);
    const auto high = static_cast<std::uint32_t>(chip_.platform_fingerprint >> 32);
    const auto changed = [this](std::uint32_t, std::uint32_t) { irq_changed_.notify(access_delay_); };
    RegisterFile& r = registers_;

    r.add(kId, "ID", Access::ro, kIdValue, 0, "identity: \"SYSD\"");
    r.add(kVersion, "VERSION", Access::ro, kVersionValue, 0, "of this register map: major << 16, minor");
    r.add(kPlatformLow, "PLATFORM_LO", Access::ro, low, 0, "fingerprint that an image must carry, bits 31:0");
    r.add(kPlatformHigh, "PLATFORM_HI", Access::ro, high, 0, "bits 63:32");
    r.add(kControl, "CONTROL", Access::wo, 0, 0x3,
          "bit 0: commit the image in the window; bit 1: forget the loaded image and the error")
        .on_write([this](std::uint32_t bits, std::uint32_t) { control_written(bits); });
    r.add(kStatus, "STATUS", Access::ro, 0, 0,
          "bit 0 loaded, 1 loading, 2 batch running, 3 a batch is done, 4 DMA running, 5 profile under way, 6 error");
    r.add(kError, "ERROR", Access::ro, 0, 0, "code of the last error (ErrorCode); cleared by a commit or a reset");
    r.add(kErrorInfo, "ERROR_INFO", Access::ro, 0, 0, "depends on the code");
    r.add(kIrqStatus, "IRQ_STATUS", Access::w1c, 0, kIrqAll,
          "bit 0 loaded, 1 batch done, 2 DMA done, 3 profile ready, 4 error")
        .on_write(changed);
    r.add(kIrqEnable, "IRQ_ENABLE", Access::rw, 0, kIrqAll, "the same bits").on_write(changed);
    r.add(kImageBytes, "IMAGE_BYTES", Access::rw, 0, 0xFFFFFFFF, "size of the image in the window");
    r.add(kDoorbell, "DOORBELL", Access::wo, 0, 0xFFFFFFFF, "write a batch number: run the batch")
        .on_write([this](std::uint32_t batch, std::uint32_t) { doorbell_written(batch); });
    r.add(kBatchDone, "BATCH_DONE", Access::ro, 0, 0, "batches finished since the image was loaded");
    r.add(kLastCyclesLow, "LAST_CYCLES_LO", Access::ro, 0, 0,
          "cycles of the last batch, doorbell to last segment_done, bits 31:0");
    r.add(kLastCyclesHigh, "LAST_CYCLES_HI", Access::ro, 0, 0, "bits 63:32");
    r.add(kDmaHostLow, "DMA_HOST_LO", Access::rw, 0, 0xFFFFFFFF, "address in host memory, bits 31:0");
    r.add(kDmaHostHigh, "DMA_HOST_HI", Access::rw, 0, 0xFFFFFFFF, "bits 63:32");
    r.add(kDmaChipLow, "DMA_CHIP_LO", Access::rw, 0, 0xFFFFFFFF, "address in HBM, bits 31:0");
    r.add(kDmaChipHigh, "DMA_CHIP_HI", Access::rw, 0, 0xFFFFFFFF, "bits 63:32");
    r.add(kDmaBytes, "DMA_BYTES", Access::rw, 0, 0xFFFFFFFF, "bytes to move");
    r.add(kDmaControl, "DMA_CONTROL", Access::wo, 0, 0x7,
          "bit 0: go, host to chip; bit 1: go, chip to host; bit 2: move time and bytes, not values")
        .on_write([this](std::uint32_t bits, std::uint32_t) { dma_control_written(bits); });
    r.add(kProfileTile, "PROFILE_TILE", Access::rw, 0, 0xFFFF,
          "write a tile: fetch its profile into the profile window")
        .on_write([this](std::uint32_t tile, std::uint32_t) { profile_tile_written(tile); });
    r.add(kProfileRecords, "PROFILE_RECORDS", Access::ro, 0, 0,
          "records in the profile window (8 bytes: operator u16, kernel dyn_dim u16, invocations u32)");
}

void HostInterface::control_written(std::uint32_t bits) {
    if (bits == 0) return;
    if (job_ != Job::none || status(kDmaBusy | kProfileBusy)) {
        fail(ErrorCode::busy, 0, "CONTROL was written while work is under way");
        return;
    }
    clear_error();
    if (bits & kResetImage) {
        forget_image();
        registers_.set(kImageBytes, 0);
    }
    if (bits & kCommitImage) {
        job_ = Job::load;
        set_status(kLoading, true);
        // What the window holds now is what is committed: a driver may write the next image while this one is checked.
        committed_bytes_ = registers_.get(kImageBytes);
        if (committed_bytes_ <= kImageWindowBytes)
            committed_.assign(image_window_.data(), image_window_.data() + committed_bytes_);
        job_started_.notify(access_delay_);
    }
}

void HostInterface::forget_image() {
    set_status(kLoaded | kLastBatchDone, false);
    registers_.set(kBatchDone, 0);
    program_ = ChipProgram();
}

void HostInterface::doorbell_written(std::uint32_t batch) {
    if (job_ != Job::none) {
        fail(ErrorCode::busy, 0, fmt::format("the doorbell for batch {} was rung while work is under way", batch));
    } else if (!status(kLoaded)) {
        fail(ErrorCode::not_loaded, 0,
             fmt::format("the doorbell for batch {} was rung before an image was loaded", batch));
    } else {
        job_ = Job::batch;
        batch_ = batch;
        set_status(kBusy, true);
        job_started_.notify(access_delay_);
    }
}

void HostInterface::dma_control_written(std::uint32_t bits) {
    if (bits == 0) return;
    const std::uint64_t chip = get64(kDmaChipLow), bytes = registers_.get(kDmaBytes);
    const std::uint64_t capacity = chip_.region_bytes * chip_.memory_interfaces;
    const bool one_direction = ((bits & kDmaToChip) != 0) != ((bits & kDmaFromChip) != 0);
    if (status(kDmaBusy)) {
        fail(ErrorCode::dma_busy, 0, "DMA_CONTROL was written while a transfer is under way");
    } else if (!one_direction || bytes == 0 || chip >= capacity || bytes > capacity - chip) {
        fail(ErrorCode::dma_request, 0,
             fmt::format("no such DMA: control {:#x}, {} bytes at {:#x} of {:#x} bytes of HBM", bits, bytes, chip,
                         capacity));
    } else {
        transfer_ = {get64(kDmaHostLow), chip, registers_.get(kDmaBytes), bits};
        set_status(kDmaBusy, true);
        dma_started_.notify(access_delay_);
    }
}

void HostInterface::profile_tile_written(std::uint32_t tile) {
    if (status(kProfileBusy) || job_ == Job::load || tile >= chip_.tiles) {
        fail(ErrorCode::profile_request, tile,
             fmt::format("the profile of tile {} of {} cannot be fetched now", tile, chip_.tiles));
        return;
    }
    profile_tile_ = static_cast<Endpoint>(tile);
    set_status(kProfileBusy, true);
    profile_started_.notify(access_delay_);
}

void HostInterface::interrupt(std::uint32_t bits) {
    registers_.set(kIrqStatus, registers_.get(kIrqStatus) | bits);
    irq_changed_.notify(sc_core::SC_ZERO_TIME);
}

void HostInterface::set_status(std::uint32_t bits, bool on) {
    const std::uint32_t now = registers_.get(kStatus);
    registers_.set(kStatus, on ? now | bits : now & ~bits);
}

void HostInterface::fail(ErrorCode code, std::uint32_t info, const std::string& text) {
    registers_.set(kError, static_cast<std::uint32_t>(code));
    registers_.set(kErrorInfo, info);
    error_text_ = text;
    set_status(kFailed, true);
    say("error", fmt::format("{} ({})", text, static_cast<std::uint32_t>(code)));
    interrupt(kIrqError);
}

void HostInterface::clear_error() {
    registers_.set(kError, 0);
    registers_.set(kErrorInfo, 0);
    error_text_.clear();
    set_status(kFailed, false);
}

std::uint64_t HostInterface::get64(std::uint64_t low_offset) const {
    return registers_.get(low_offset) | std::uint64_t{registers_.get(low_offset + 4)} << 32;
}

}  // namespace switchyard::hw
