// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace switchyard {

/// What BaseProtocolChecker watches; base_protocol_rules.cpp has the text and clause of each.
enum class BaseProtocolRule : unsigned {
    // Attributes that the initiator sets.
    command_value,
    data_pointer_null,
    data_length_zero,
    byte_enable_length_zero,
    byte_enable_value,
    streaming_width_zero,
    option_not_minimal,
    response_status_initial,
    dmi_hint_initial,
    // Attributes that others leave alone.
    command_modified,
    data_pointer_modified,
    data_length_modified,
    byte_enable_modified,
    streaming_width_modified,
    option_modified,
    address_not_restored,
    write_data_modified,
    // Response, memory management, extensions.
    response_status_missing,
    response_status_value,
    response_modified_late,
    memory_manager_missing,
    memory_manager_changed,
    reference_count_zero,
    extension_left_behind,
    // Transport interfaces.
    b_transport_in_method,
    b_transport_reentered,
    b_and_nb_mixed,
    nb_nested,
    wait_forbidden,
    time_decreased,
    sync_value,
    accepted_but_changed,
    updated_phase,
    completed_phase,
    // Phases.
    phase_path,
    phase_order,
    phase_repeated,
    transaction_unknown,
    extended_phase,
    request_exclusion,
    response_exclusion,
    // Direct memory interface.
    dmi_command,
    dmi_descriptor_initial,
    dmi_range_order,
    dmi_range_address,
    dmi_pointer_null,
    dmi_access,
    dmi_request_modified,
    dmi_overlap,
    dmi_in_invalidate,
    invalidate_range_order,
    // Debug transport interface.
    debug_command,
    debug_data_pointer_null,
    debug_count,
    debug_request_modified,
    debug_write_data_modified,
};

inline constexpr std::size_t kBaseProtocolRules =
    static_cast<std::size_t>(BaseProtocolRule::debug_write_data_modified) + 1;

struct BaseProtocolRuleText {
    const char* id;      ///< report type: "switchyard/base_protocol/" + id
    const char* clause;  ///< of IEEE Std 1666-2023
    const char* text;    ///< what must be so
};

const BaseProtocolRuleText& rule_text(BaseProtocolRule rule);
/// All of them as a Markdown table, for docs/tlm.md.
std::string base_protocol_rules_markdown();

}  // namespace switchyard
