// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/compliance/protocol_rig.h"

namespace switchyard::compliance {
namespace {

struct Note : ::tlm::tlm_extension<Note> {
    ::tlm::tlm_extension_base* clone() const override { return new Note(*this); }
    void copy_from(const ::tlm::tlm_extension_base&) override {}
};

std::array<unsigned char, 2> enables{0xFF, 0x00};

/// The initiator sends a payload with one attribute wrong.
Violation sent(Rule rule, std::function<void(Payload&)> spoil) {
    return {rule, [spoil = std::move(spoil)](Rig& rig) {
                Payload& payload = rig.plain();
                spoil(payload);
                rig.call_b(payload);
                payload.free_all_extensions();
            }};
}

/// The target changes an attribute of a write that is not its to change.
Violation changed(Rule rule, std::function<void(Payload&)> spoil) {
    return {rule, [spoil = std::move(spoil)](Rig& rig) {
                Payload& payload = rig.plain(::tlm::TLM_WRITE_COMMAND);
                payload.set_byte_enable_ptr(enables.data());
                payload.set_byte_enable_length(2);
                rig.b = [&](Payload& arrived, sc_time&) {
                    arrived.set_response_status(::tlm::TLM_OK_RESPONSE);
                    spoil(arrived);
                };
                rig.call_b(payload);
            }};
}

}  // namespace

std::vector<Violation> attribute_violations() {
    return {
        sent(Rule::command_value, [](Payload& p) { p.set_command(static_cast<::tlm::tlm_command>(3)); }),
        sent(Rule::data_pointer_null, [](Payload& p) { p.set_data_ptr(nullptr); }),
        sent(Rule::data_length_zero, [](Payload& p) { p.set_data_length(0); }),
        sent(Rule::byte_enable_length_zero, [](Payload& p) { p.set_byte_enable_ptr(enables.data()); }),
        sent(Rule::byte_enable_value,
             [](Payload& p) {
                 static unsigned char one = 1;
                 p.set_byte_enable_ptr(&one);
                 p.set_byte_enable_length(1);
             }),
        sent(Rule::streaming_width_zero, [](Payload& p) { p.set_streaming_width(0); }),
        sent(Rule::option_not_minimal, [](Payload& p) { p.set_gp_option(::tlm::TLM_FULL_PAYLOAD); }),
        sent(Rule::response_status_initial, [](Payload& p) { p.set_response_status(::tlm::TLM_OK_RESPONSE); }),
        sent(Rule::dmi_hint_initial, [](Payload& p) { p.set_dmi_allowed(true); }),

        changed(Rule::command_modified, [](Payload& p) { p.set_read(); }),
        changed(Rule::data_pointer_modified, [](Payload& p) { p.set_data_ptr(p.get_data_ptr() + 1); }),
        changed(Rule::data_length_modified, [](Payload& p) { p.set_data_length(2); }),
        changed(Rule::byte_enable_modified, [](Payload&) { enables[1] = 0xFF; }),
        changed(Rule::streaming_width_modified, [](Payload& p) { p.set_streaming_width(8); }),
        changed(Rule::option_modified, [](Payload& p) { p.set_gp_option(::tlm::TLM_FULL_PAYLOAD_ACCEPTED); }),
        changed(Rule::address_not_restored, [](Payload& p) { p.set_address(0); }),
        changed(Rule::write_data_modified, [](Payload& p) { ++p.get_data_ptr()[3]; }),
        changed(Rule::response_status_missing,
                [](Payload& p) { p.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE); }),
        changed(Rule::response_status_value,
                [](Payload& p) { p.set_response_status(static_cast<::tlm::tlm_response_status>(5)); }),

        {Rule::response_modified_late,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, ::tlm::BEGIN_REQ);
             payload.set_response_status(::tlm::TLM_OK_RESPONSE);
             rig.call_bw(payload, ::tlm::BEGIN_RESP);
             payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
             rig.call_fw(payload, ::tlm::END_RESP);
         }},
        {Rule::memory_manager_missing,
         [](Rig& rig) {
             rig.fw = [](Payload& p, ::tlm::tlm_phase&, sc_time&) {
                 p.set_response_status(::tlm::TLM_OK_RESPONSE);
                 return ::tlm::TLM_COMPLETED;
             };
             rig.call_fw(rig.plain(), ::tlm::BEGIN_REQ);
         }},
        {Rule::memory_manager_changed,
         [](Rig& rig) {
             struct Manager : ::tlm::tlm_mm_interface {
                 void free(Payload*) override {}
             };
             static Manager manager;
             rig.b = [](Payload& p, sc_time&) {
                 p.set_response_status(::tlm::TLM_OK_RESPONSE);
                 p.set_mm(&manager);
             };
             rig.call_b(rig.plain());
         }},
        {Rule::reference_count_zero,
         [](Rig& rig) {
             struct Manager : ::tlm::tlm_mm_interface {
                 void free(Payload*) override {}
             };
             static Manager manager;
             Payload& payload = rig.plain();
             payload.set_mm(&manager);
             rig.call_b(payload);
         }},
        {Rule::extension_left_behind,
         [](Rig& rig) {
             static Note note;
             rig.b = [](Payload& p, sc_time&) {
                 p.set_response_status(::tlm::TLM_OK_RESPONSE);
                 p.set_extension(&note);
             };
             Payload& payload = rig.plain();
             rig.call_b(payload);
             payload.clear_extension(&note);
         }},
    };
}

TEST_CASE("each rule about attributes fires", "[compliance]") {
    expect_violations(attribute_violations());
}

}  // namespace switchyard::compliance
