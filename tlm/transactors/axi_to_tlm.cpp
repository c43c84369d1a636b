// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/transactors/axi_to_tlm.h"
#include "switchyard/tlm/has_process.h"

#include <algorithm>

namespace switchyard {

namespace {

unsigned response_of(::tlm::tlm_response_status status) {
    if (status == ::tlm::TLM_OK_RESPONSE) return static_cast<unsigned>(AxiResponse::okay);
    const bool address = status == ::tlm::TLM_ADDRESS_ERROR_RESPONSE;
    return static_cast<unsigned>(address ? AxiResponse::decerr : AxiResponse::slverr);
}

}  // namespace

AxiToTlm::AxiToTlm(const sc_core::sc_module_name& module_name, AxiSignals& signals, const Config& config)
    : sc_module(module_name), axi_(signals), config_(config), random_(config.seed) {
    SWITCHYARD_HAS_PROCESS(AxiToTlm);
    SC_METHOD(clocked);
    sensitive << clock.pos();
    dont_initialize();
    SC_THREAD(run_writes);
    SC_THREAD(run_reads);
}

void AxiToTlm::clocked() {
    if (aresetn.read()) {
        sample();
    } else {
        clear();
    }
    drive();
}

void AxiToTlm::sample() {
    if (axi_.aw.valid.read() && axi_.aw.ready.read()) writes_.push_back(AxiBurst::from(axi_.aw, axi_.config));
    if (axi_.w.valid.read() && axi_.w.ready.read()) write_beats_.push_back({axi_.w.data.read(), axi_.w.strobes.read()});
    if (axi_.ar.valid.read() && axi_.ar.ready.read()) reads_.push_back(AxiBurst::from(axi_.ar, axi_.config));
    if (axi_.b.valid.read() && axi_.b.ready.read()) write_responses_.pop_front();
    if (axi_.r.valid.read() && axi_.r.ready.read()) read_beats_.pop_front();
    arrived_.notify(sc_core::SC_ZERO_TIME);
}

void AxiToTlm::clear() {
    ++epoch_;
    writes_.clear();
    reads_.clear();
    write_beats_.clear();
    write_responses_.clear();
    read_beats_.clear();
}

/// VALID, once up, stays up until READY: only what was down, or has been taken, may stall.
void AxiToTlm::drive() {
    const bool running = aresetn.read();
    // A write's beats all have to fit while it waits for the last of them.
    axi_.aw.ready.write(running && writes_.size() < config_.depth && !stalls());
    axi_.w.ready.write(running && write_beats_.size() < config_.depth + 256 && !stalls());
    axi_.ar.ready.write(running && reads_.size() < config_.depth && !stalls());

    const bool b_held = axi_.b.valid.read() && !axi_.b.ready.read();
    const bool b = !write_responses_.empty() && (b_held || !stalls());
    axi_.b.valid.write(b);
    if (b) {
        axi_.b.id.write(write_responses_.front().id);
        axi_.b.response.write(write_responses_.front().response);
    }
    const bool r_held = axi_.r.valid.read() && !axi_.r.ready.read();
    const bool r = !read_beats_.empty() && (r_held || !stalls());
    axi_.r.valid.write(r);
    if (r) {
        const ReadBeat& beat = read_beats_.front();
        axi_.r.id.write(beat.id);
        axi_.r.response.write(beat.response);
        axi_.r.data.write(beat.data);
        axi_.r.last.write(beat.last);
    }
}

bool AxiToTlm::stalls() {
    return config_.stall_percent > 0 && random_() % 100 < config_.stall_percent;
}

void AxiToTlm::run_writes() {
    for (;;) {
        while (writes_.empty() || write_beats_.size() < writes_.front().beats()) wait(arrived_);
        const AxiBurst burst = writes_.front();
        const auto end = write_beats_.begin() + burst.beats();
        const std::vector<WriteBeat> beats(write_beats_.begin(), end);
        write_beats_.erase(write_beats_.begin(), end);
        writes_.pop_front();
        const std::uint64_t epoch = epoch_;
        const unsigned response = write_burst(burst, beats);
        if (epoch == epoch_) write_responses_.push_back({burst.id, response});
    }
}

void AxiToTlm::run_reads() {
    for (;;) {
        while (reads_.empty()) wait(arrived_);
        const AxiBurst burst = reads_.front();
        reads_.pop_front();
        const std::uint64_t epoch = epoch_;
        std::vector<std::uint64_t> beats(burst.beats(), 0);
        const unsigned response = read_burst(burst, beats);
        if (epoch != epoch_) continue;
        for (unsigned i = 0; i < burst.beats(); ++i)
            read_beats_.push_back({beats[i], burst.id, response, i + 1 == burst.beats()});
    }
}

unsigned AxiToTlm::write_burst(const AxiBurst& burst, const std::vector<WriteBeat>& beats) {
    const bool fixed = burst.is(AxiBurstType::fixed);
    const std::uint64_t begin = fixed ? burst.address : burst.lowest();
    std::vector<unsigned char> data, enables;
    unsigned response = 0;
    if (!fixed) {
        data.resize(burst.highest() - begin);
        enables.resize(data.size());
    }
    for (unsigned i = 0; i < burst.beats(); ++i) {
        if (fixed) {
            data.assign(burst.beat_end(i) - begin, 0);
            enables.assign(data.size(), 0);
        }
        for (std::uint64_t a = burst.beat_address(i); a < burst.beat_end(i); ++a) {
            const unsigned lane = static_cast<unsigned>(a % axi_.config.data_bytes);
            data[a - begin] = static_cast<unsigned char>(beats[i].data >> 8 * lane);
            enables[a - begin] = (beats[i].strobes >> lane & 1) ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
        }
        if (fixed || i + 1 == burst.beats()) {
            const bool all = std::find(enables.begin(), enables.end(), TLM_BYTE_DISABLED) == enables.end();
            response = std::max(response, transact(::tlm::TLM_WRITE_COMMAND, begin, data, all ? nullptr : &enables));
        }
    }
    return response;
}

unsigned AxiToTlm::read_burst(const AxiBurst& burst, std::vector<std::uint64_t>& beats) {
    const bool fixed = burst.is(AxiBurstType::fixed);
    const std::uint64_t begin = fixed ? burst.address : burst.lowest();
    std::vector<unsigned char> data(fixed ? burst.beat_end(0) - begin : burst.highest() - begin);
    unsigned response = 0;
    for (unsigned i = 0; i < burst.beats(); ++i) {
        if (fixed || i == 0) response = std::max(response, transact(::tlm::TLM_READ_COMMAND, begin, data, nullptr));
        for (std::uint64_t a = burst.beat_address(i); a < burst.beat_end(i); ++a)
            beats[i] |= std::uint64_t{data[a - begin]} << 8 * (a % axi_.config.data_bytes);
    }
    return response;
}

unsigned AxiToTlm::transact(::tlm::tlm_command command, std::uint64_t address, std::vector<unsigned char>& data,
                            std::vector<unsigned char>* byte_enables) {
    ::tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(data.size()));
    payload.set_streaming_width(static_cast<unsigned>(data.size()));
    if (byte_enables) {
        payload.set_byte_enable_ptr(byte_enables->data());
        payload.set_byte_enable_length(static_cast<unsigned>(byte_enables->size()));
    }
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    if (delay > sc_core::SC_ZERO_TIME) wait(delay);
    return response_of(payload.get_response_status());
}

}  // namespace switchyard
