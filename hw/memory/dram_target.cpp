// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/dram_target.h"

#include <fmt/format.h>

#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/memory_access.h"

namespace switchyard::hw {

DramTarget::DramTarget(const sc_core::sc_module_name& module_name, const Config& config, SimulationRegistry& registry)
    : sc_module(module_name),
      socket("socket"),
      config_(config),
      dram_(dram::read_device(config.device, config.settings), config.check_timing, ticks_per_ns()),
      memory_(config.bytes),
      requests_("requests"),
      response_ends_("response_ends"),
      places_(config.outstanding) {
    if (config.outstanding == 0) throw ModelError(*this, "expected outstanding of at least 1, found 0");
    if (config.bytes == 0 || config.bytes > dram_.device().geometry.bytes())
        throw ModelError(*this, fmt::format("expected 1 to {} bytes, as the device has, found {}",
                                            dram_.device().geometry.bytes(), config.bytes));
    socket.register_b_transport(this, &DramTarget::b_transport);
    socket.register_nb_transport_fw(this, &DramTarget::nb_transport_fw);
    socket.register_transport_dbg(this, &DramTarget::debug_transport);

    SWITCHYARD_HAS_PROCESS(DramTarget);
    SC_METHOD(serve);
    sensitive << requests_.event() << response_ends_.event() << dram_event_;
    dont_initialize();

    registry.add(*this, "requests", "1", stats_.requests);
    registry.add(*this, "read_bytes", "bytes", stats_.read_bytes);
    registry.add(*this, "write_bytes", "bytes", stats_.write_bytes);
    registry.add(*this, "refused", "1", stats_.refused);
    registry.add(*this, "busy_ns", "ns", [this] { return dram_.busy_ns(); });
}

bool DramTarget::access(Payload& payload) {
    payload.set_dmi_allowed(false);
    const std::uint64_t span = memory_span(payload);
    if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) {
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
        return false;
    }
    if (payload.get_data_length() == 0 || payload.get_streaming_width() == 0) {
        payload.set_response_status(::tlm::TLM_BURST_ERROR_RESPONSE);
        return false;
    }
    if (payload.get_address() >= config_.bytes || span > config_.bytes - payload.get_address()) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return false;
    }
    payload.set_response_status(access_memory(payload, memory_, payload.get_address()));
    if (payload.is_response_error()) return false;
    ++stats_.requests;
    (payload.is_read() ? stats_.read_bytes : stats_.write_bytes) += span;
    return true;
}

void DramTarget::submit(Payload& payload, const Transaction& transaction) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(transactions_.size()));
        transactions_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    transactions_[index] = transaction;
    const Tick now = sc_core::sc_time_stamp().value();
    dram_.submit(payload.get_address(), memory_span(payload), payload.is_write(), now, index);
}

void DramTarget::take_completed() {
    const Tick now = sc_core::sc_time_stamp().value();
    dram_.advance(now);
    std::uint64_t owner = 0;
    while (dram_.pop(now, owner)) {
        const Transaction transaction = transactions_[owner];
        free_.push_back(static_cast<std::uint32_t>(owner));
        if (transaction.done)
            transaction.done->notify();
        else
            responses_.push_back(transaction.payload);
    }
}

void DramTarget::await() {
    const Tick now = sc_core::sc_time_stamp().value(), next = dram_.next(now);
    dram_event_.cancel();
    if (next != TimedDram::kNever) dram_event_.notify(sc_core::sc_time::from_value(next - now));
}

void DramTarget::serve() {
    take_completed();
    bool ended = false;
    while (response_ends_.pop_due(ended)) end_response();
    Payload* payload = nullptr;
    while (requests_.pop_due(payload)) begin_request(*payload);
    end_request();
    begin_response();
    await();
}

void DramTarget::begin_request(Payload& payload) {
    if (places_ == 0) ++stats_.refused;
    blocked_ = &payload;  // the initiator sends no other before END_REQ
}

void DramTarget::end_request() {
    if (!blocked_ || places_ == 0) return;
    Payload& payload = *blocked_;
    blocked_ = nullptr;
    --places_;
    if (access(payload))
        submit(payload, {&payload, nullptr});
    else
        responses_.push_back(&payload);
    ::tlm::tlm_phase phase = ::tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(payload, phase, delay);
}

void DramTarget::begin_response() {
    if (responding_ || responses_.empty()) return;
    responding_ = true;
    Payload& payload = *responses_.front();
    ::tlm::tlm_phase phase = ::tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const ::tlm::tlm_sync_enum sync = socket->nb_transport_bw(payload, phase, delay);
    if (sync == ::tlm::TLM_COMPLETED || (sync == ::tlm::TLM_UPDATED && phase == ::tlm::END_RESP))
        response_ends_.push(true, delay);
}

void DramTarget::end_response() {
    responses_.front()->release();
    responses_.pop_front();
    responding_ = false;
    ++places_;
}

::tlm::tlm_sync_enum DramTarget::nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == ::tlm::BEGIN_REQ) {
        payload.acquire();
        requests_.push(&payload, delay);
        return ::tlm::TLM_ACCEPTED;
    }
    if (phase == ::tlm::END_RESP) {
        response_ends_.push(true, delay);
        return ::tlm::TLM_COMPLETED;
    }
    return ::tlm::TLM_ACCEPTED;  // an extended phase: ignored (15.2.5)
}

void DramTarget::b_transport(Payload& payload, sc_core::sc_time& delay) {
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    if (!access(payload)) return;
    dram_.advance(sc_core::sc_time_stamp().value());
    sc_core::sc_event done;
    submit(payload, {nullptr, &done});
    await();
    wait(done);
}

unsigned DramTarget::debug_transport(Payload& payload) {
    const std::uint64_t address = payload.get_address();
    if (address >= config_.bytes) return 0;
    return debug_access_memory(payload, memory_, address);
}

}  // namespace switchyard::hw
