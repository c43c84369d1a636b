// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/base_protocol_rules.h"

namespace switchyard {
namespace {

constexpr BaseProtocolRuleText kTexts[] = {
    {"command_value", "14.9", "the command is read, write or ignore"},
    {"data_pointer_null", "14.11 e", "a read or write has a data pointer"},
    {"data_length_zero", "14.12 d, i", "a read or write, and any payload with a data pointer, has a data length"},
    {"byte_enable_length_zero", "14.14 f", "a byte enable pointer comes with a byte enable length"},
    {"byte_enable_value", "14.13 b", "a byte enable is 0 or 0xff"},
    {"streaming_width_zero", "14.15 f", "a read or write has a streaming width"},
    {"option_not_minimal", "14.8 g", "the option attribute is TLM_MIN_PAYLOAD in a transport call"},
    {"response_status_initial", "14.17.1 e", "the initiator sets the response status to TLM_INCOMPLETE_RESPONSE"},
    {"dmi_hint_initial", "14.7, 15.2.13.2 d", "the initiator clears DMI allowed"},

    {"command_modified", "14.9 k", "the command is not overwritten"},
    {"data_pointer_modified", "14.11 h", "the data pointer is not overwritten"},
    {"data_length_modified", "14.12 c", "the data length is not overwritten"},
    {"byte_enable_modified", "14.13 g, 14.14 c", "byte enable pointer, length and array are not overwritten"},
    {"streaming_width_modified", "14.15 k", "the streaming width is not overwritten"},
    {"option_modified", "14.8 g, h", "the option attribute is not overwritten in a transport call"},
    {"address_not_restored", "14.7 d; house rule",
     "targets leave the address alone; interconnects restore it before the response (stricter than the standard)"},
    {"write_data_modified", "14.7 f", "the data array of a write or ignore command is not overwritten"},

    {"response_status_missing", "14.17.1 e, k", "the target sets the response status before the response"},
    {"response_status_value", "14.17", "the response status is one of the seven that exist"},
    {"response_modified_late", "14.7 g", "response status and DMI allowed stay as they are after the response"},
    {"memory_manager_missing", "14.5 i", "a payload given to nb_transport has a memory manager"},
    {"memory_manager_changed", "14.5 j, m", "a memory manager that was added is removed before the call returns"},
    {"reference_count_zero", "14.5 t", "the initiator holds a reference to a payload with a memory manager"},
    {"extension_left_behind", "14.5 aa", "without a memory manager, who adds an extension removes it before returning"},

    {"b_transport_in_method", "11.2.2.4 b", "b_transport is not called from a method process"},
    {"b_transport_reentered", "15.2.8 d", "b_transport is not called again for a payload that is inside it"},
    {"b_and_nb_mixed", "15.2.10 c", "one transaction uses b_transport or nb_transport, not both"},
    {"nb_nested", "11.2.3.4 c", "nb_transport_fw does not call nb_transport_bw, nor the other way round"},
    {"wait_forbidden", "11.2.3.4 d, 11.3.3 o, 11.3.6 l, 11.4.4 t", "only b_transport may wait"},
    {"time_decreased", "11.2.4.2 d, 15.2.7 c", "sc_time_stamp() + delay of a transaction never decreases"},
    {"sync_value", "11.2.3.7", "nb_transport returns a value of tlm_sync_enum"},
    {"accepted_but_changed", "11.2.3.7", "with TLM_ACCEPTED, phase and delay are as they were"},
    {"updated_phase", "15.2.3 e, 15.2.4", "TLM_UPDATED comes with the next phase of Table 57"},
    {"completed_phase", "15.2.3 f", "TLM_COMPLETED answers BEGIN_REQ, BEGIN_RESP or END_RESP only"},

    {"phase_path", "15.2.3 c", "BEGIN_REQ and END_RESP travel forward, END_REQ and BEGIN_RESP backward"},
    {"phase_order", "15.2.3 b, 15.2.4", "phases come in the order of Table 57"},
    {"phase_repeated", "15.2.3 e", "two calls in a row for one transaction have different phases"},
    {"transaction_unknown", "15.2.3 j, 11.2.3.7",
     "a call after BEGIN_REQ belongs to a transaction that is under way here"},
    {"extended_phase", "15.2.5 e", "extended phases stay between BEGIN_REQ and END_RESP"},
    {"request_exclusion", "15.2.6 e", "no BEGIN_REQ before the request before it has ended"},
    {"response_exclusion", "15.2.6 f, 15.2.3 i", "no response before the response before it has ended"},

    {"dmi_command", "11.3.4 g", "a DMI request is for read or write"},
    {"dmi_descriptor_initial", "11.3.5 d", "the DMI descriptor comes in its default state"},
    {"dmi_range_order", "11.3.5 r", "start address of a DMI region <= end address"},
    {"dmi_range_address", "11.3.5 g, r", "a DMI region holds the address that was asked for"},
    {"dmi_pointer_null", "11.3.5 g", "granted DMI comes with a pointer"},
    {"dmi_access", "11.3.5 m", "granted DMI includes the access that was asked for"},
    {"dmi_request_modified", "11.3.4 f; house rule", "the command of a DMI request stays, its address is restored"},
    {"dmi_overlap", "11.3.5 y", "no address is both allowed and disallowed without an invalidation in between"},
    {"dmi_in_invalidate", "11.3.6 k", "invalidate_direct_mem_ptr does not call get_direct_mem_ptr"},
    {"invalidate_range_order", "11.3.6 c", "start of an invalidated range <= end"},

    {"debug_command", "11.4.4 d", "the command is read, write or ignore"},
    {"debug_data_pointer_null", "11.4.4 l", "a debug read or write of some bytes has a data pointer"},
    {"debug_count", "11.4.4 s", "transport_dbg returns no more than the data length"},
    {"debug_request_modified", "11.4.4 d, k, l; house rule",
     "command, data length and data pointer stay, the address is restored"},
    {"debug_write_data_modified", "11.4.4 m", "the data array of a debug write is not overwritten"},
};
static_assert(sizeof kTexts / sizeof kTexts[0] == kBaseProtocolRules);

}  // namespace

std::string base_protocol_rules_markdown() {
    std::string table = "| rule | IEEE 1666-2023 | what must be so |\n| --- | --- | --- |\n";
    for (const BaseProtocolRuleText& rule : kTexts)
        table += std::string("| `") + rule.id + "` | " + rule.clause + " | " + rule.text + " |\n";
    return table;
}

const BaseProtocolRuleText& rule_text(BaseProtocolRule rule) {
    return kTexts[static_cast<unsigned>(rule)];
}

}  // namespace switchyard
