// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/protocol_repair_adapter.h"

#include "switchyard/tlm/base_protocol_monitor.h"

namespace switchyard {

BoundaryRepairs::Original BoundaryRepairs::repair_request(Payload& payload) {
    const Original original{payload.get_address(), payload.get_streaming_width(), payload.get_byte_enable_ptr()};
    const bool moves_data = payload.get_command() != ::tlm::TLM_IGNORE_COMMAND;
    if (payload.get_streaming_width() == 0 && moves_data) {
        report(Repair::streaming_width_zero, &payload);
        payload.set_streaming_width(payload.get_data_length());
    }
    if (payload.get_byte_enable_ptr() && payload.get_byte_enable_length() == 0) {
        report(Repair::byte_enable_length_zero, &payload);
        payload.set_byte_enable_ptr(nullptr);
    }
    if (payload.get_response_status() != ::tlm::TLM_INCOMPLETE_RESPONSE) {
        report(Repair::response_status_initial, &payload);
        payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    }
    if (payload.is_dmi_allowed()) {
        report(Repair::dmi_hint_initial, &payload);
        payload.set_dmi_allowed(false);
    }
    return original;
}

void BoundaryRepairs::repair_response(Payload& payload, const Original& original) {
    repair_address(payload, original.address);
    payload.set_streaming_width(original.streaming_width);
    payload.set_byte_enable_ptr(original.byte_enables);
    if (payload.get_response_status() == ::tlm::TLM_INCOMPLETE_RESPONSE) {
        report(Repair::response_status_missing, &payload);
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
}

void BoundaryRepairs::repair_address(Payload& payload, std::uint64_t address) {
    if (payload.get_address() == address) return;
    report(Repair::address_not_restored, &payload);
    payload.set_address(address);
}

void BoundaryRepairs::repair_delay(sc_core::sc_time& delay, const sc_core::sc_time& before) {
    if (delay >= before) return;
    report(Repair::time_decreased, nullptr);
    delay = before;
}

void BoundaryRepairs::report(Repair repair, const Payload* payload) {
    if (++counts_[static_cast<unsigned>(repair)] > 1) return;
    std::string text = link_ + ": repaired " + to_string(repair);
    if (payload) text += ": " + describe(*payload);
    SC_REPORT_WARNING((std::string("switchyard/protocol_repair_adapter/") + to_string(repair)).c_str(), text.c_str());
}

std::string BoundaryRepairs::summary() const {
    std::string text;
    for (unsigned i = 0; i < kRepairs; ++i) {
        if (counts_[i] > 0)
            text += link_ + ": " + to_string(static_cast<Repair>(i)) + ", " + std::to_string(counts_[i]) + " times\n";
    }
    return text;
}

const char* to_string(BoundaryRepairs::Repair repair) {
    switch (repair) {
        case BoundaryRepairs::Repair::streaming_width_zero:
            return "streaming_width_zero";
        case BoundaryRepairs::Repair::byte_enable_length_zero:
            return "byte_enable_length_zero";
        case BoundaryRepairs::Repair::response_status_initial:
            return "response_status_initial";
        case BoundaryRepairs::Repair::dmi_hint_initial:
            return "dmi_hint_initial";
        case BoundaryRepairs::Repair::response_status_missing:
            return "response_status_missing";
        case BoundaryRepairs::Repair::address_not_restored:
            return "address_not_restored";
        case BoundaryRepairs::Repair::time_decreased:
            return "time_decreased";
    }
    return "";
}

}  // namespace switchyard
