// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "switchyard/hw/host/host_interface.h"
#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/tlm/memory_access.h"

namespace switchyard::hw {

using namespace host_registers;
using sc_core::sc_time;

namespace {

enum Window : unsigned { kRegistersTarget, kImageTarget, kProfileTarget, kErrorTextTarget };

}  // namespace

void HostInterface::define_windows() {
    windows_.add({"registers", 0, kRegisterBytes, kRegistersTarget});
    windows_.add({"image", kImageWindow, config_.image_window_bytes, kImageTarget});
    windows_.add({"profile", kProfileWindow, kProfileWindowBytes, kProfileTarget});
    windows_.add({"error text", kErrorTextWindow, kErrorTextWindowBytes, kErrorTextTarget});
}

void HostInterface::config_transport(Payload& payload, sc_time& delay) {
    if (in_reset_)
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
    else
        access_config(payload, delay);
}

::tlm::tlm_sync_enum HostInterface::config_forward(Payload& payload, ::tlm::tlm_phase& phase, sc_time& delay) {
    return at_.nb_transport_fw(payload, phase, delay);
}

void HostInterface::access_config(Payload& payload, sc_time& delay) {
    const unsigned span = payload.get_command() == ::tlm::TLM_IGNORE_COMMAND ? 1 : memory_span(payload);
    const AddressMap::Range* const window = windows_.find(payload.get_address(), span);
    payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (!window) return;
    delay += link_time(payload.get_data_length());
    access_delay_ = delay;
    const std::uint64_t offset = payload.get_address() - window->begin;
    switch (window->target) {
        case kRegistersTarget:
            registers_.transport(payload);
            break;
        case kImageTarget:
            payload.set_response_status(access_memory(payload, image_window_.data() + offset));
            payload.set_dmi_allowed(true);
            break;
        case kProfileTarget:
            if (payload.is_write())
                payload.set_response_status(::tlm::TLM_COMMAND_ERROR_RESPONSE);
            else if (offset + span <= profile_.size())
                payload.set_response_status(access_memory(payload, profile_.data() + offset));
            break;
    }
}

unsigned HostInterface::config_debug(Payload& payload) {
    const AddressMap::Range* const window = windows_.find(payload.get_address());
    if (!window || payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) return 0;
    if (window->target == kRegistersTarget) return registers_.transport_dbg(payload);

    std::string text = error_text_.substr(0, kErrorTextWindowBytes - 1);
    unsigned char* memory = image_window_.data();
    std::uint64_t bytes = config_.image_window_bytes;
    if (window->target == kProfileTarget) {
        memory = profile_.data();
        bytes = profile_.size();
    } else if (window->target == kErrorTextTarget) {
        memory = reinterpret_cast<unsigned char*>(text.data());
        bytes = text.size() + 1;
    }
    const std::uint64_t offset = payload.get_address() - window->begin;
    if (offset >= bytes || (payload.is_write() && window->target != kImageTarget)) return 0;
    const auto length = static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), bytes - offset));
    if (payload.is_read())
        std::copy_n(memory + offset, length, payload.get_data_ptr());
    else
        std::copy_n(payload.get_data_ptr(), length, memory + offset);
    return length;
}

bool HostInterface::config_dmi(Payload& payload, ::tlm::tlm_dmi& dmi) {
    const AddressMap::Range* const window = windows_.find(payload.get_address());
    dmi.allow_read_write();
    dmi.set_start_address(window ? window->begin : payload.get_address());
    dmi.set_end_address(window ? window->last() : payload.get_address());
    if (in_reset_ || !window || window->target != kImageTarget) return false;
    dmi.set_dmi_ptr(image_window_.data());
    const sc_time byte_time =
        sc_time::from_value(whole_time(static_cast<double>(clock_.cycles(1).value()) / config_.link_bytes_per_cycle,
                                       "ticks", "a byte on the host link", WholeTime::up));
    dmi.set_read_latency(byte_time);
    dmi.set_write_latency(byte_time);
    return true;
}

void HostInterface::reset_changed() {
    if (reset.size() == 0 || reset->read() == in_reset_) return;
    in_reset_ = reset->read();
    say("reset", in_reset_ ? "reset" : "out of reset");
    // What was granted, and what was refused, is so no more.
    config->invalidate_direct_mem_ptr(kImageWindow, kImageWindow + config_.image_window_bytes - 1);
    if (!in_reset_) return;
    for (sc_core::sc_event* const start : {&job_started_, &dma_started_, &profile_started_}) start->cancel();
    held_starts_.clear();
    requested_job_ = Job::none;
    discarding_ = activities_ != 0;
    registers_.reset();
    error_text_.clear();
    profile_.clear();
    irq_changed_.notify(sc_core::SC_ZERO_TIME);
    dma_answered_.notify();  // a DMA that waits for the link's next slot looks up
}

void HostInterface::start(sc_core::sc_event& event) {
    if (discarding_)
        held_starts_.emplace_back(&event, sc_core::sc_time_stamp() + access_delay_);
    else
        event.notify(access_delay_);
}

void HostInterface::ends(Activity activity) {
    activities_ &= ~activity;
    if (activities_ != 0 || !discarding_) return;
    discarding_ = false;
    const sc_time now = sc_core::sc_time_stamp();
    for (const auto& [event, at] : held_starts_) event->notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
    held_starts_.clear();
}

}  // namespace switchyard::hw
