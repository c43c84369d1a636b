// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/transactors/tlm_to_axi.h"

#include <algorithm>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard {

namespace {

constexpr std::uint64_t kBoundary = 4096;
constexpr unsigned kBeats = 256;

unsigned log2_of(unsigned bytes) {
    return bytes == 8 ? 3 : 2;
}

bool enabled(const ::tlm::tlm_generic_payload& payload, unsigned index) {
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    return !enables || enables[index % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED;
}

::tlm::tlm_response_status status_of(unsigned response) {
    switch (static_cast<AxiResponse>(response)) {
        case AxiResponse::decerr:
            return ::tlm::TLM_ADDRESS_ERROR_RESPONSE;
        case AxiResponse::slverr:
            return ::tlm::TLM_GENERIC_ERROR_RESPONSE;
        default:
            return ::tlm::TLM_OK_RESPONSE;
    }
}

}  // namespace

TlmToAxi::TlmToAxi(const sc_core::sc_module_name& module_name, AxiSignals& signals, const Config& config)
    : sc_module(module_name), axi_(signals), config_(config), random_(config.seed) {
    const std::size_t ids = axi_.config.lite ? 1 : std::size_t{1} << axi_.config.id_bits;
    outstanding_writes_.resize(ids);
    outstanding_reads_.resize(ids);
    socket.register_b_transport(this, &TlmToAxi::b_transport);
    SWITCHYARD_HAS_PROCESS(TlmToAxi);
    SC_METHOD(clocked);
    sensitive << clock.pos();
    dont_initialize();
}

void TlmToAxi::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (delay > sc_core::SC_ZERO_TIME) wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) return;
    const unsigned length = payload.get_data_length(), width = payload.get_streaming_width();
    if (width == 0) return payload.set_response_status(::tlm::TLM_BURST_ERROR_RESPONSE);
    if (payload.get_byte_enable_ptr() && payload.get_byte_enable_length() == 0)
        return payload.set_response_status(::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    const std::uint64_t address = payload.get_address();
    unsigned response = 0;
    for (std::uint64_t begin = 0; begin < length; begin += width) {
        const auto end = static_cast<unsigned>(std::min<std::uint64_t>(length, begin + width));
        response = std::max(response, transfer(payload, address, static_cast<unsigned>(begin), end));
    }
    payload.set_response_status(status_of(response));
}

unsigned TlmToAxi::transfer(::tlm::tlm_generic_payload& payload, std::uint64_t address, unsigned begin, unsigned end) {
    const unsigned width = axi_.config.data_bytes;
    const std::uint64_t max = axi_.config.lite ? width : std::uint64_t{kBeats} * width;
    unsigned response = 0;
    while (begin < end) {
        const std::uint64_t in_first = address % width;
        const std::uint64_t bytes =
            std::min({end - begin + std::uint64_t{0}, max - in_first, kBoundary - address % kBoundary});
        Pending pending;
        pending.burst.address = axi_.config.lite ? address - in_first : address;
        pending.burst.length = static_cast<unsigned>(ceil_div(in_first + bytes, width) - 1);
        pending.burst.size = log2_of(width);
        const auto stop = static_cast<unsigned>(begin + bytes);
        response = std::max(response, payload.is_write() ? write_burst(payload, pending, address, begin, stop)
                                                         : read_burst(payload, pending, address, begin, stop));
        address += bytes;
        begin = stop;
    }
    return response;
}

unsigned TlmToAxi::write_burst(const ::tlm::tlm_generic_payload& payload, Pending& pending, std::uint64_t address,
                               unsigned begin, unsigned end) {
    const unsigned id = acquire_id(outstanding_writes_, pending);
    const unsigned width = axi_.config.data_bytes;
    std::vector<WriteBeat> beats(pending.burst.beats());
    beats.back().last = true;
    for (unsigned i = begin; i < end; ++i) {
        const std::uint64_t offset = address % width + (i - begin);
        WriteBeat& beat = beats[offset / width];
        beat.data |= std::uint64_t{payload.get_data_ptr()[i]} << 8 * (offset % width);
        if (enabled(payload, i)) beat.strobes |= 1u << offset % width;
    }
    writes_.push_back(pending.burst);
    write_beats_.insert(write_beats_.end(), beats.begin(), beats.end());
    while (!pending.done) wait(responded_);
    outstanding_writes_[id] = nullptr;
    responded_.notify(sc_core::SC_ZERO_TIME);
    return pending.response;
}

unsigned TlmToAxi::read_burst(::tlm::tlm_generic_payload& payload, Pending& pending, std::uint64_t address,
                              unsigned begin, unsigned end) {
    const unsigned id = acquire_id(outstanding_reads_, pending);
    const unsigned width = axi_.config.data_bytes;
    reads_.push_back(pending.burst);
    while (!pending.done) wait(responded_);
    outstanding_reads_[id] = nullptr;
    responded_.notify(sc_core::SC_ZERO_TIME);
    for (unsigned i = begin; i < end; ++i) {
        const std::uint64_t offset = address % width + (i - begin);
        if (!enabled(payload, i) || offset / width >= pending.beats.size()) continue;
        payload.get_data_ptr()[i] = static_cast<unsigned char>(pending.beats[offset / width] >> 8 * (offset % width));
    }
    return pending.response;
}

unsigned TlmToAxi::acquire_id(Outstanding& outstanding, Pending& pending) {
    auto free = std::find(outstanding.begin(), outstanding.end(), nullptr);
    while (free == outstanding.end()) {
        wait(responded_);
        free = std::find(outstanding.begin(), outstanding.end(), nullptr);
    }
    *free = &pending;
    pending.burst.id = static_cast<unsigned>(free - outstanding.begin());
    return pending.burst.id;
}

void TlmToAxi::clocked() {
    if (aresetn.read())
        sample();
    else
        reset();
    drive();
}

void TlmToAxi::sample() {
    if (axi_.aw.valid.read() && axi_.aw.ready.read()) writes_.pop_front();
    if (axi_.w.valid.read() && axi_.w.ready.read()) write_beats_.pop_front();
    if (axi_.ar.valid.read() && axi_.ar.ready.read()) reads_.pop_front();
    if (axi_.b.valid.read() && axi_.b.ready.read()) {
        if (Pending* const pending = outstanding_writes_.at(axi_.config.lite ? 0 : axi_.b.id.read())) {
            pending->response = axi_.b.response.read();
            pending->done = true;
            responded_.notify(sc_core::SC_ZERO_TIME);
        }
    }
    if (axi_.r.valid.read() && axi_.r.ready.read()) {
        if (Pending* const pending = outstanding_reads_.at(axi_.config.lite ? 0 : axi_.r.id.read())) {
            pending->response = std::max(pending->response, axi_.r.response.read());
            pending->beats.push_back(axi_.r.data.read());
            pending->done = axi_.config.lite || axi_.r.last.read();
            if (pending->done) responded_.notify(sc_core::SC_ZERO_TIME);
        }
    }
}

/// Whoever waits is answered with an error.
void TlmToAxi::reset() {
    writes_.clear();
    reads_.clear();
    write_beats_.clear();
    for (Outstanding* const outstanding : {&outstanding_writes_, &outstanding_reads_}) {
        for (Pending* const pending : *outstanding) {
            if (!pending) continue;
            pending->response = static_cast<unsigned>(AxiResponse::slverr);
            pending->done = true;
        }
    }
    responded_.notify(sc_core::SC_ZERO_TIME);
}

/// VALID, once up, stays up until READY: only what was down, or has been taken, may stall.
void TlmToAxi::drive() {
    const bool running = aresetn.read();
    axi_.b.ready.write(running && !stalls());
    axi_.r.ready.write(running && !stalls());

    const auto raises = [&](bool has, bool valid, bool ready) { return has && ((valid && !ready) || !stalls()); };
    const bool aw = raises(!writes_.empty(), axi_.aw.valid.read(), axi_.aw.ready.read());
    axi_.aw.valid.write(aw);
    if (aw) writes_.front().drive(axi_.aw);
    const bool ar = raises(!reads_.empty(), axi_.ar.valid.read(), axi_.ar.ready.read());
    axi_.ar.valid.write(ar);
    if (ar) reads_.front().drive(axi_.ar);
    const bool w = raises(!write_beats_.empty(), axi_.w.valid.read(), axi_.w.ready.read());
    axi_.w.valid.write(w);
    if (w) {
        axi_.w.data.write(write_beats_.front().data);
        axi_.w.strobes.write(write_beats_.front().strobes);
        axi_.w.last.write(write_beats_.front().last);
    }
}

bool TlmToAxi::stalls() {
    return config_.stall_percent > 0 && random_() % 100 < config_.stall_percent;
}

}  // namespace switchyard
