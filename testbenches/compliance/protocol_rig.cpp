// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/compliance/protocol_rig.h"
#include "switchyard/tlm/has_process.h"

#include <memory>
#include <utility>

namespace switchyard::compliance {

std::array<unsigned char, 16> Rig::memory{};

Rig::Rig(const sc_core::sc_module_name& module_name)
    : sc_module(module_name), checker("checker"), initiator_("initiator", *this), target_("target", *this) {
    initiator_.socket.bind(checker.target_socket);
    checker.initiator_socket.bind(target_.socket);
    checker.monitor().set_handler([this](const BaseProtocolViolation& violation) { broken_.insert(violation.rule); });

    b = [](Payload& payload, sc_time& delay) {
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
        delay += 10 * kNs;
    };
    fw = [](Payload&, ::tlm::tlm_phase&, sc_time&) { return ::tlm::TLM_ACCEPTED; };
    bw = [](Payload&, ::tlm::tlm_phase&, sc_time&) { return ::tlm::TLM_ACCEPTED; };
    dmi = [](Payload&, ::tlm::tlm_dmi& region) {
        region.set_dmi_ptr(memory.data());
        region.set_start_address(0x40);
        region.set_end_address(0x4F);
        region.allow_read_write();
        return true;
    };
    dbg = [](Payload& payload) { return payload.get_data_length(); };
    invalidate = [](std::uint64_t, std::uint64_t) {};

    SWITCHYARD_HAS_PROCESS(Rig);
    SC_THREAD(thread);
    SC_METHOD(method);
    sensitive << method_start_;
    dont_initialize();
}

void Rig::fill(Payload& payload, ::tlm::tlm_command command) {
    payload.set_command(command);
    payload.set_address(0x40);
    payload.set_data_ptr(memory.data());
    payload.set_data_length(kBytes);
    payload.set_streaming_width(kBytes);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
}

Payload& Rig::plain(::tlm::tlm_command command) {
    Payload& payload = *plain_.emplace_back(std::make_unique<Payload>());
    fill(payload, command);
    return payload;
}

Payload& Rig::pooled(::tlm::tlm_command command) {
    Payload& payload = *held_.emplace_back(pool_);
    fill(payload, command);
    return payload;
}

sc_time Rig::call_b(Payload& payload, sc_time delay) {
    initiator_.socket->b_transport(payload, delay);
    return delay;
}

::tlm::tlm_sync_enum Rig::call_fw(Payload& payload, const ::tlm::tlm_phase& phase, sc_time delay) {
    ::tlm::tlm_phase argument = phase;
    return initiator_.socket->nb_transport_fw(payload, argument, delay);
}

::tlm::tlm_sync_enum Rig::call_bw(Payload& payload, const ::tlm::tlm_phase& phase, sc_time delay) {
    ::tlm::tlm_phase argument = phase;
    return target_.socket->nb_transport_bw(payload, argument, delay);
}

bool Rig::call_dmi(Payload& payload, ::tlm::tlm_dmi& region) {
    return initiator_.socket->get_direct_mem_ptr(payload, region);
}

bool Rig::call_dmi(::tlm::tlm_command command, std::uint64_t address) {
    Payload& payload = plain(command);
    payload.set_address(address);
    ::tlm::tlm_dmi region;
    return call_dmi(payload, region);
}

unsigned Rig::call_dbg(Payload& payload) {
    return initiator_.socket->transport_dbg(payload);
}

void Rig::call_invalidate(std::uint64_t start, std::uint64_t end) {
    target_.socket->invalidate_direct_mem_ptr(start, end);
}

void Rig::run(std::function<void(Rig&)> body) {
    thread_body_ = std::move(body);
    sc_core::sc_start();
}

void Rig::run_in_method(std::function<void(Rig&)> body) {
    method_body_ = std::move(body);
    method_start_.notify(sc_core::SC_ZERO_TIME);
}

void Rig::thread() {
    thread_body_(*this);
}
void Rig::method() {
    method_body_(*this);
}

void expect_violations(const std::vector<Violation>& violations) {
    for (const Violation& violation : violations) {
        const std::string id = rule_text(violation.rule).id;
        INFO("rule " << id);
        testing::in_child([&] {
            INFO("rule " << id);
            Rig rig("rig");
            rig.run(violation.scenario);
            std::set<std::string> broken, expected{id};
            for (const Rule rule : rig.broken()) broken.insert(rule_text(rule).id);
            for (const Rule rule : violation.also) expected.insert(rule_text(rule).id);
            CHECK(broken == expected);
            CHECK(rig.checker.monitor().violations(violation.rule) > 0);
        });
    }
}

}  // namespace switchyard::compliance
