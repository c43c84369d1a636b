// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/compliance/port_initiator.h"

#include <cstring>
#include <utility>

#include "switchyard/testbenches/sim_test.h"

namespace switchyard::compliance {

using sc_core::sc_time;
using Payload = ::tlm::tlm_generic_payload;

namespace {

constexpr char letter(unsigned phase) {
    return " QqRr"[phase];
}

}  // namespace

PortInitiator::PortInitiator(const sc_core::sc_module_name& module_name, Style style)
    : sc_module(module_name), socket("socket"), style_(std::move(style)), pool_(std::string(name()) + ".pool") {
    socket.register_nb_transport_bw(this, &PortInitiator::backward);
    socket.register_invalidate_direct_mem_ptr(this, &PortInitiator::invalidate);
}

void PortInitiator::fill(Payload& payload, const Access& access) const {
    payload.set_command(access.command);
    payload.set_address(access.address);
    payload.set_data_ptr(access.data);
    payload.set_data_length(access.length);
    payload.set_streaming_width(access.streaming_width ? access.streaming_width : access.length);
    if (access.byte_enables) {
        payload.set_byte_enable_ptr(const_cast<unsigned char*>(access.byte_enables->data()));
        payload.set_byte_enable_length(static_cast<unsigned>(access.byte_enables->size()));
    }
}

PortInitiator::Answer PortInitiator::access(const Access& access) {
    ++transactions;
    return style_.at ? access_at(access) : access_lt(access);
}

PortInitiator::Answer PortInitiator::access_lt(const Access& access) {
    if (style_.dmi && access_directly(access)) return {::tlm::TLM_OK_RESPONSE, true};
    Payload payload;
    fill(payload, access);
    const sc_time before = sc_core::sc_time_stamp() + local_;
    socket->b_transport(payload, local_);
    if (sc_core::sc_time_stamp() + local_ < before) FAIL_CHECK("time has gone back");
    if (local_ >= style_.quantum) sync();
    return {payload.get_response_status(), payload.is_dmi_allowed()};
}

bool PortInitiator::access_directly(const Access& access) {
    if (access.byte_enables || access.streaming_width) return false;
    const auto covered = [&] {
        return granted_ && access.address >= region_.get_start_address() &&
               access.address + access.length - 1 <= region_.get_end_address();
    };
    if (!covered()) granted_ = direct(access.address, region_);
    if (!covered()) return false;
    unsigned char* const memory = region_.get_dmi_ptr() + (access.address - region_.get_start_address());
    if (access.command == ::tlm::TLM_READ_COMMAND) {
        std::memcpy(access.data, memory, access.length);
        local_ += access.length * region_.get_read_latency();
    } else {
        std::memcpy(memory, access.data, access.length);
        local_ += access.length * region_.get_write_latency();
    }
    ++direct_accesses;
    if (local_ >= style_.quantum) sync();
    return true;
}

PortInitiator::Answer PortInitiator::access_at(const Access& access) {
    while (requesting_ != nullptr) wait(request_ended_);
    PooledPayload payload(pool_);
    fill(*payload, access);
    Pending pending;
    pending_[&*payload] = &pending;
    ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
    sc_time delay = style_.request_delay;
    bool completed = false;
    requesting_ = &*payload;
    phases += 'Q';
    switch (socket->nb_transport_fw(*payload, phase, delay)) {
        case ::tlm::TLM_COMPLETED:
            phases += 'C';
            end_request(*payload);
            pending.done = completed = true;
            pending.end = sc_core::sc_time_stamp() + delay;
            break;
        case ::tlm::TLM_UPDATED:
            phases += 'u';
            backward(*payload, phase, delay);
            break;
        default:
            break;
    }
    while (!pending.done) wait(pending.responded);
    if (pending.end > sc_core::sc_time_stamp()) wait(pending.end - sc_core::sc_time_stamp());
    pending_.erase(&*payload);
    if (!completed && style_.response == Response::accepted) {
        wait(style_.accept);
        phase = ::tlm::END_RESP;
        delay = sc_core::SC_ZERO_TIME;
        phases += 'r';
        CHECK(socket->nb_transport_fw(*payload, phase, delay) == ::tlm::TLM_COMPLETED);
    }
    return {payload->get_response_status(), payload->is_dmi_allowed()};
}

::tlm::tlm_sync_enum PortInitiator::backward(Payload& payload, ::tlm::tlm_phase& phase, sc_time& delay) {
    phases += letter(phase);
    end_request(payload);
    if (phase == ::tlm::END_REQ) return ::tlm::TLM_ACCEPTED;
    REQUIRE(phase == ::tlm::BEGIN_RESP);
    Pending& pending = *pending_.at(&payload);
    pending.done = true;
    pending.end = sc_core::sc_time_stamp() + delay;
    pending.responded.notify(sc_core::SC_ZERO_TIME);
    switch (style_.response) {
        case Response::completed:
            return ::tlm::TLM_COMPLETED;
        case Response::updated:
            phase = ::tlm::END_RESP;
            delay += style_.accept;
            return ::tlm::TLM_UPDATED;
        case Response::accepted:
            break;
    }
    return ::tlm::TLM_ACCEPTED;
}

void PortInitiator::end_request(const Payload& payload) {
    if (requesting_ != &payload) return;
    requesting_ = nullptr;
    request_ended_.notify(sc_core::SC_ZERO_TIME);
}

void PortInitiator::invalidate(sc_dt::uint64 start, sc_dt::uint64 end) {
    ++invalidations;
    if (granted_ && start <= region_.get_end_address() && end >= region_.get_start_address()) granted_ = false;
}

unsigned PortInitiator::debug(::tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned length) {
    Payload payload;
    fill(payload, {command, address, data, length, nullptr, 0});
    return socket->transport_dbg(payload);
}

bool PortInitiator::direct(std::uint64_t address, ::tlm::tlm_dmi& region) {
    Payload payload;
    unsigned char byte = 0;
    fill(payload, {::tlm::TLM_READ_COMMAND, address, &byte, 1, nullptr, 0});
    region.init();
    return socket->get_direct_mem_ptr(payload, region);
}

void PortInitiator::sync() {
    const sc_time ahead = std::exchange(local_, sc_core::SC_ZERO_TIME);
    wait(ahead);
}

std::uint32_t PortInitiator::read(std::uint64_t address) {
    unsigned char data[4] = {};
    INFO("read of " << address);
    CHECK(access({::tlm::TLM_READ_COMMAND, address, data, 4, nullptr, 0}).status == ::tlm::TLM_OK_RESPONSE);
    return data[0] | data[1] << 8 | data[2] << 16 | std::uint32_t{data[3]} << 24;
}

void PortInitiator::write(std::uint64_t address, std::uint32_t value) {
    unsigned char data[4];
    for (unsigned byte = 0; byte < 4; ++byte) data[byte] = static_cast<unsigned char>(value >> 8 * byte);
    INFO("write of " << address);
    CHECK(access({::tlm::TLM_WRITE_COMMAND, address, data, 4, nullptr, 0}).status == ::tlm::TLM_OK_RESPONSE);
}

std::vector<PortInitiator::Style> port_styles() {
    const auto ns = [](double count) { return sc_time(count, sc_core::SC_NS); };
    std::vector<PortInitiator::Style> styles;
    for (const double quantum : {0.0, 10.0, 1000.0, 10000.0}) {
        PortInitiator::Style style;
        style.name = "LT, quantum " + std::to_string(static_cast<int>(quantum));
        style.quantum = ns(quantum);
        styles.push_back(style);
    }
    PortInitiator::Style direct = styles[2];
    direct.name = "LT, quantum 1000, DMI";
    direct.dmi = true;
    styles.push_back(direct);
    for (const PortInitiator::Response response :
         {PortInitiator::Response::completed, PortInitiator::Response::updated, PortInitiator::Response::accepted}) {
        PortInitiator::Style style;
        style.name = "AT, response " + std::to_string(static_cast<int>(response));
        style.at = true;
        style.response = response;
        style.request_delay = ns(3);
        style.accept = ns(5);
        styles.push_back(style);
    }
    return styles;
}

}  // namespace switchyard::compliance
