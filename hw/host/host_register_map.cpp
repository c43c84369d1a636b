// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "switchyard/hw/host/host_interface.h"
#include "switchyard/hw/host/host_register_definitions.h"

namespace switchyard::hw {

using namespace host_registers;

namespace {

/// What STATUS shows as under way, for messages.
std::string work_of(std::uint32_t status) {
    std::vector<const char*> all;
    if (status & kLoading) all.push_back("the load of an image");
    if (status & kBusy) all.push_back("a batch");
    if (status & kDmaBusy) all.push_back("a DMA");
    if (status & kProfileBusy) all.push_back("the read of a profile");
    return all.empty() ? "the end of other work" : fmt::format("{}", fmt::join(all, " and "));
}

}  // namespace

void HostInterface::define_registers() {
    for (const RegisterFile::Definition& definition : kDefinitions) registers_.add(definition);
    registers_.set_reset(kPlatformLow, static_cast<std::uint32_t>(chip_.platform_fingerprint));
    registers_.set_reset(kPlatformHigh, static_cast<std::uint32_t>(chip_.platform_fingerprint >> 32));

    registers_.set_reset(kImageCapacity, static_cast<std::uint32_t>(config_.image_window_bytes));

    const auto changed = [this](std::uint32_t, std::uint32_t) {
        irq_rearms_ = config_.interrupt_rearm_ns > 0;
        irq_changed_.notify(access_delay_);
    };
    registers_.contract(kIrqStatus).on_write(changed);
    registers_.contract(kIrqEnable).on_write(changed);
    const auto on_write = [this](Offset offset, void (HostInterface::*written)(std::uint32_t)) {
        registers_.contract(offset).on_write(
            [this, written](std::uint32_t bits, std::uint32_t) { (this->*written)(bits); });
    };
    on_write(kControl, &HostInterface::control_written);
    on_write(kDoorbell, &HostInterface::doorbell_written);
    on_write(kDmaControl, &HostInterface::dma_control_written);
    on_write(kProfileTile, &HostInterface::profile_tile_written);
}

void HostInterface::control_written(std::uint32_t bits) {
    if (bits == 0) return;
    if (requested_job_ != Job::none || status(kDmaBusy | kProfileBusy)) {
        fail(ErrorCode::busy, 0,
             fmt::format("CONTROL: expected a write when no work is under way, found {}; wait until it ends",
                         work_of(registers_.get(kStatus))));
        return;
    }
    clear_error();
    if (bits & kResetImage) {
        forget_image();
        registers_.set(kImageBytes, 0);
    }
    if (bits & kCommitImage) {
        requested_job_ = Job::load;
        set_status(kLoading, true);
        // What the window holds now is what is committed: a driver may write the next image while this one is checked.
        committed_bytes_ = registers_.get(kImageBytes);
        if (committed_bytes_ <= config_.image_window_bytes)
            committed_.assign(image_window_.data(), image_window_.data() + committed_bytes_);
        start(job_started_);
    }
}

void HostInterface::forget_image() {
    set_status(kLoaded | kLastBatchDone, false);
    registers_.set(kBatchDone, 0);
    if (!discarding_) program_ = ChipProgram();  // a batch from before a reset still follows it
}

void HostInterface::doorbell_written(std::uint32_t batch) {
    if (requested_job_ != Job::none) {
        fail(ErrorCode::busy, 0,
             fmt::format("batch {}: expected the doorbell when no work is under way, found {}; wait until it ends",
                         batch, work_of(registers_.get(kStatus))));
    } else if (!status(kLoaded)) {
        fail(ErrorCode::not_loaded, 0,
             fmt::format("batch {}: expected a loaded image before the doorbell, found none; load one", batch));
    } else {
        requested_job_ = Job::batch;
        requested_batch_ = batch;
        set_status(kBusy, true);
        start(job_started_);
    }
}

void HostInterface::dma_control_written(std::uint32_t bits) {
    if (bits == 0) return;
    const Transfer request{get64(kDmaHostLow), get64(kDmaChipLow), registers_.get(kDmaBytes), bits};
    if (status(kDmaBusy)) {
        fail(ErrorCode::dma_busy, 0,
             fmt::format(
                 "DMA_CONTROL: expected a write when no DMA is under way, found one of {} bytes; wait until it ends",
                 request_.bytes));
    } else if (const std::string wrong = validation_error(request); !wrong.empty()) {
        fail(ErrorCode::dma_request, 0, wrong);
    } else {
        request_ = request;
        set_status(kDmaBusy, true);
        start(dma_started_);
    }
}

void HostInterface::profile_tile_written(std::uint32_t tile) {
    if (tile >= chip_.tiles) {
        fail(ErrorCode::profile_request, tile,
             fmt::format("PROFILE_TILE: expected a tile below {}, found {}", chip_.tiles, tile));
        return;
    }
    if (status(kProfileBusy) || requested_job_ == Job::load) {
        fail(ErrorCode::profile_request, tile,
             fmt::format(
                 "PROFILE_TILE: expected a write when no profile and no image is under way, found {}; wait until "
                 "it ends",
                 work_of(registers_.get(kStatus))));
        return;
    }
    requested_profile_tile_ = static_cast<Endpoint>(tile);
    set_status(kProfileBusy, true);
    start(profile_started_);
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
