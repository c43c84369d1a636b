// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>
#include <set>

#include "switchyard/testbenches/compliance/protocol_rig.h"

namespace switchyard::compliance {
namespace {

/// The target answers a DMI request for reading 0x40 with a region that `spoil` has changed.
Violation granted(Rule rule, std::function<void(Payload&, ::tlm::tlm_dmi&)> spoil) {
    return {rule, [spoil = std::move(spoil)](Rig& rig) {
                rig.dmi = [good = rig.dmi, spoil](Payload& payload, ::tlm::tlm_dmi& region) {
                    good(payload, region);
                    spoil(payload, region);
                    return true;
                };
                rig.call_dmi();
            }};
}

Violation debugged(Rule rule, ::tlm::tlm_command command, std::function<unsigned(Payload&)> target) {
    return {rule, [command, target = std::move(target)](Rig& rig) {
                rig.dbg = target;
                rig.call_dbg(rig.plain(command));
            }};
}

}  // namespace

std::vector<Violation> direct_violations() {
    return {
        {Rule::dmi_command, [](Rig& rig) { rig.call_dmi(::tlm::TLM_IGNORE_COMMAND); }},
        {Rule::dmi_descriptor_initial,
         [](Rig& rig) {
             ::tlm::tlm_dmi used;
             used.set_end_address(0x100);
             rig.call_dmi(rig.plain(), used);
         }},
        granted(Rule::dmi_range_order,
                [](Payload&, ::tlm::tlm_dmi& region) {
                    region.set_start_address(0x50);
                    region.set_end_address(0x3F);
                }),
        granted(Rule::dmi_range_address, [](Payload&, ::tlm::tlm_dmi& region) { region.set_start_address(0x41); }),
        granted(Rule::dmi_pointer_null, [](Payload&, ::tlm::tlm_dmi& region) { region.set_dmi_ptr(nullptr); }),
        granted(Rule::dmi_access, [](Payload&, ::tlm::tlm_dmi& region) { region.allow_write(); }),
        granted(Rule::dmi_request_modified, [](Payload& payload, ::tlm::tlm_dmi&) { payload.set_address(0x44); }),
        {Rule::dmi_overlap,
         [](Rig& rig) {
             rig.call_dmi();
             rig.dmi = [good = rig.dmi](Payload& payload, ::tlm::tlm_dmi& region) {
                 good(payload, region);
                 return false;
             };
             rig.call_dmi();
         }},
        {Rule::dmi_in_invalidate,
         [](Rig& rig) {
             rig.invalidate = [&](std::uint64_t, std::uint64_t) { rig.call_dmi(); };
             rig.call_invalidate(0x40, 0x4F);
         }},
        {Rule::invalidate_range_order, [](Rig& rig) { rig.call_invalidate(0x4F, 0x40); }},

        {Rule::debug_command, [](Rig& rig) { rig.call_dbg(rig.plain(static_cast<::tlm::tlm_command>(3))); }},
        {Rule::debug_data_pointer_null,
         [](Rig& rig) {
             Payload& payload = rig.plain();
             payload.set_data_ptr(nullptr);
             rig.call_dbg(payload);
         }},
        debugged(Rule::debug_count, ::tlm::TLM_READ_COMMAND, [](Payload& p) { return p.get_data_length() + 1; }),
        debugged(Rule::debug_request_modified, ::tlm::TLM_READ_COMMAND,
                 [](Payload& p) {
                     p.set_data_length(2);
                     return 2;
                 }),
        debugged(Rule::debug_write_data_modified, ::tlm::TLM_WRITE_COMMAND,
                 [](Payload& p) {
                     ++p.get_data_ptr()[0];
                     return 4;
                 }),
    };
}

TEST_CASE("each rule about direct memory and debug access fires", "[compliance]") {
    expect_violations(direct_violations());
}

TEST_CASE("the other calls must not wait either", "[compliance]") {
    expect_violations({
        {Rule::wait_forbidden,
         [](Rig& rig) {
             rig.dbg = [](Payload& payload) {
                 sc_core::wait(kNs);
                 return payload.get_data_length();
             };
             rig.call_dbg(rig.plain());
         }},
        {Rule::wait_forbidden,
         [](Rig& rig) {
             rig.dmi = [good = rig.dmi](Payload& payload, ::tlm::tlm_dmi& region) {
                 sc_core::wait(kNs);
                 return good(payload, region);
             };
             rig.call_dmi();
         }},
        {Rule::wait_forbidden,
         [](Rig& rig) {
             rig.invalidate = [](std::uint64_t, std::uint64_t) { sc_core::wait(kNs); };
             rig.call_invalidate(0, 1);
         }},
    });
}

TEST_CASE("every rule has a test in which it fires", "[compliance]") {
    std::multiset<Rule> tested;
    for (const auto& table : {attribute_violations(), transport_violations(), direct_violations()})
        for (const Violation& violation : table) tested.insert(violation.rule);
    for (unsigned i = 0; i < kBaseProtocolRules; ++i) {
        INFO(rule_text(static_cast<Rule>(i)).id);
        CHECK(tested.count(static_cast<Rule>(i)) == 1);
    }
}

TEST_CASE("docs/tlm.md lists the rules as they are", "[compliance][docs]") {
    std::ifstream file("docs/tlm.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK_THAT(text, Catch::Matchers::ContainsSubstring(base_protocol_rules_markdown()));
}

}  // namespace switchyard::compliance
