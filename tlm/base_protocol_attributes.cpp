// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "switchyard/tlm/base_protocol_monitor.h"

namespace switchyard {

using Payload = ::tlm::tlm_generic_payload;
using Rule = BaseProtocolRule;

namespace {

bool exists(::tlm::tlm_command command) {
    return command == ::tlm::TLM_READ_COMMAND || command == ::tlm::TLM_WRITE_COMMAND ||
           command == ::tlm::TLM_IGNORE_COMMAND;
}

std::vector<unsigned char> copy(const unsigned char* bytes, unsigned length) {
    return bytes ? std::vector<unsigned char>(bytes, bytes + std::min(length, BaseProtocolMonitor::kComparedBytes))
                 : std::vector<unsigned char>();
}

bool equal(const std::vector<unsigned char>& before, const unsigned char* now) {
    return std::equal(before.begin(), before.end(), now);
}

}  // namespace

std::string describe(const Payload& payload) {
    return fmt::format("command {} at {:#x}, {} bytes", static_cast<int>(payload.get_command()), payload.get_address(),
                       payload.get_data_length());
}

BaseProtocolMonitor::Attributes attributes_of(const Payload& payload) {
    BaseProtocolMonitor::Attributes now;
    now.command = payload.get_command();
    now.address = payload.get_address();
    now.data = payload.get_data_ptr();
    now.length = payload.get_data_length();
    now.byte_enables = payload.get_byte_enable_ptr();
    now.byte_enable_length = payload.get_byte_enable_length();
    now.streaming_width = payload.get_streaming_width();
    now.option = payload.get_gp_option();
    now.has_mm = payload.has_mm();
    if (!payload.is_read()) now.constant_data = copy(now.data, now.length);
    now.byte_enable_array = copy(now.byte_enables, now.byte_enable_length);
    for (unsigned id = 0; id < ::tlm::max_num_extensions(); ++id) now.extensions.push_back(payload.get_extension(id));
    return now;
}

void BaseProtocolMonitor::check_request(const Payload& payload) {
    const std::string text = describe(payload);
    const bool moves_data = payload.get_command() != ::tlm::TLM_IGNORE_COMMAND;
    if (!exists(payload.get_command())) report(Rule::command_value, text);
    if (moves_data && !payload.get_data_ptr()) report(Rule::data_pointer_null, text);
    if ((moves_data || payload.get_data_ptr()) && payload.get_data_length() == 0) report(Rule::data_length_zero, text);
    if (moves_data && payload.get_streaming_width() == 0) report(Rule::streaming_width_zero, text);
    if (const unsigned char* const enables = payload.get_byte_enable_ptr()) {
        const unsigned length = payload.get_byte_enable_length();
        if (length == 0) report(Rule::byte_enable_length_zero, text);
        const bool defined = std::all_of(enables, enables + std::min(length, kComparedBytes), [](unsigned char enable) {
            return enable == TLM_BYTE_ENABLED || enable == TLM_BYTE_DISABLED;
        });
        if (!defined) report(Rule::byte_enable_value, text);
    }
    if (payload.get_gp_option() != ::tlm::TLM_MIN_PAYLOAD) report(Rule::option_not_minimal, text);
    if (payload.get_response_status() != ::tlm::TLM_INCOMPLETE_RESPONSE)
        report(Rule::response_status_initial, text + ", " + payload.get_response_string());
    if (payload.is_dmi_allowed()) report(Rule::dmi_hint_initial, text);
    if (payload.has_mm() && payload.get_ref_count() == 0) report(Rule::reference_count_zero, text);
}

void BaseProtocolMonitor::check_unmodified(const Payload& payload, const Attributes& before) {
    const std::string text = describe(payload);
    if (payload.get_command() != before.command) report(Rule::command_modified, text);
    if (payload.get_data_ptr() != before.data) report(Rule::data_pointer_modified, text);
    if (payload.get_data_length() != before.length) report(Rule::data_length_modified, text);
    if (payload.get_streaming_width() != before.streaming_width) report(Rule::streaming_width_modified, text);
    if (payload.get_gp_option() != before.option) report(Rule::option_modified, text);
    const bool same_enables = payload.get_byte_enable_ptr() == before.byte_enables &&
                              (!before.byte_enables || payload.get_byte_enable_length() == before.byte_enable_length) &&
                              equal(before.byte_enable_array, before.byte_enables);
    if (!same_enables) report(Rule::byte_enable_modified, text);
    check_constant_data(payload, before, Rule::write_data_modified);
}

void BaseProtocolMonitor::check_constant_data(const Payload& payload, const Attributes& before, Rule rule) {
    if (!equal(before.constant_data, before.data)) report(rule, describe(payload));
}

void BaseProtocolMonitor::check_response(const Payload& payload) {
    const ::tlm::tlm_response_status status = payload.get_response_status();
    if (status == ::tlm::TLM_INCOMPLETE_RESPONSE) report(Rule::response_status_missing, describe(payload));
    if (status > ::tlm::TLM_OK_RESPONSE || status < ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE)
        report(Rule::response_status_value, fmt::format("{}, status {}", describe(payload), static_cast<int>(status)));
}

void BaseProtocolMonitor::check_extensions(const Payload& payload, const Attributes& before) {
    if (before.has_mm) return;
    for (unsigned id = 0; id < before.extensions.size(); ++id) {
        const ::tlm::tlm_extension_base* const now = payload.get_extension(id);
        if (now && now != before.extensions[id])
            report(Rule::extension_left_behind, fmt::format("{}, extension {}", describe(payload), id));
    }
}

}  // namespace switchyard
