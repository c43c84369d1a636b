// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/base_protocol_monitor.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace switchyard {

using Rule = BaseProtocolRule;
using sc_core::sc_time;

BaseProtocolMonitor::Attributes BaseProtocolMonitor::b_transport_called(Payload& payload, const Call&) {
    ++transactions_;
    if (sc_core::sc_get_current_process_handle().proc_kind() == sc_core::SC_METHOD_PROC_)
        report(Rule::b_transport_in_method, describe(payload));
    if (find(payload)) report(Rule::b_and_nb_mixed, describe(payload));
    if (!in_b_transport_.insert(&payload).second) report(Rule::b_transport_reentered, describe(payload));
    check_request(payload);
    return attributes_of(payload);
}

void BaseProtocolMonitor::b_transport_returned(Payload& payload, const Attributes& before, const Call& call,
                                               const sc_time& delay) {
    in_b_transport_.erase(&payload);
    check_unmodified(payload, before);
    check_response(payload);
    check_extensions(payload, before);
    if (payload.get_address() != before.address) report(Rule::address_not_restored, describe(payload));
    if (payload.has_mm() != before.has_mm) report(Rule::memory_manager_changed, describe(payload));
    const sc_time local_time = sc_core::sc_time_stamp() + delay;
    if (local_time < call.local_time) {
        report(Rule::time_decreased, fmt::format("from {} to {}, {}", call.local_time.to_string(),
                                                 local_time.to_string(), describe(payload)));
    }
}

BaseProtocolMonitor::Attributes BaseProtocolMonitor::dmi_called(const Payload& payload, const ::tlm::tlm_dmi& dmi) {
    if (invalidate_calls_ > 0) report(Rule::dmi_in_invalidate, describe(payload));
    if (!payload.is_read() && !payload.is_write()) report(Rule::dmi_command, describe(payload));
    const bool is_default = !dmi.get_dmi_ptr() && dmi.is_none_allowed() && dmi.get_start_address() == 0 &&
                            dmi.get_end_address() == std::numeric_limits<sc_dt::uint64>::max() &&
                            dmi.get_read_latency() == sc_core::SC_ZERO_TIME &&
                            dmi.get_write_latency() == sc_core::SC_ZERO_TIME;
    if (!is_default) report(Rule::dmi_descriptor_initial, describe(payload));
    Attributes before;  // the others need not be set: 11.3.4 k
    before.command = payload.get_command();
    before.address = payload.get_address();
    return before;
}

void BaseProtocolMonitor::dmi_returned(const Payload& payload, const Attributes& before, const Call& call, bool granted,
                                       const ::tlm::tlm_dmi& dmi) {
    check_no_wait(call, "get_direct_mem_ptr");
    const Region region{dmi.get_start_address(), dmi.get_end_address(), static_cast<unsigned>(dmi.get_granted_access()),
                        granted};
    const std::string text = fmt::format("{}, {} [{:#x}, {:#x}]", describe(payload), granted ? "allowed" : "disallowed",
                                         region.start, region.end);
    if (payload.get_command() != before.command || payload.get_address() != before.address)
        report(Rule::dmi_request_modified, text);
    if (region.start > region.end)
        report(Rule::dmi_range_order, text);
    else if (before.address < region.start || before.address > region.end)
        report(Rule::dmi_range_address, text);
    if (granted && !dmi.get_dmi_ptr()) report(Rule::dmi_pointer_null, text);
    const bool included = before.command == ::tlm::TLM_READ_COMMAND ? dmi.is_read_allowed() : dmi.is_write_allowed();
    if (granted && !included) report(Rule::dmi_access, text);
    const bool contradicted = std::any_of(regions_.begin(), regions_.end(), [&](const Region& other) {
        return other.allowed != granted && (other.access & region.access) != 0 && other.start <= region.end &&
               region.start <= other.end;
    });
    if (contradicted) report(Rule::dmi_overlap, text);
    regions_.push_back(region);
}

void BaseProtocolMonitor::invalidate_called(std::uint64_t start, std::uint64_t end) {
    ++invalidate_calls_;
    if (start > end) report(Rule::invalidate_range_order, fmt::format("[{:#x}, {:#x}]", start, end));
    const auto overlaps = [&](const Region& region) { return region.start <= end && start <= region.end; };
    regions_.erase(std::remove_if(regions_.begin(), regions_.end(), overlaps), regions_.end());
}

void BaseProtocolMonitor::invalidate_returned(const Call& call) {
    --invalidate_calls_;
    check_no_wait(call, "invalidate_direct_mem_ptr");
}

BaseProtocolMonitor::Attributes BaseProtocolMonitor::debug_called(const Payload& payload) {
    const ::tlm::tlm_command command = payload.get_command();
    const bool moves_data = command != ::tlm::TLM_IGNORE_COMMAND;
    if (moves_data && !payload.is_read() && !payload.is_write()) report(Rule::debug_command, describe(payload));
    if (moves_data && payload.get_data_length() > 0 && !payload.get_data_ptr())
        report(Rule::debug_data_pointer_null, describe(payload));
    return attributes_of(payload);
}

void BaseProtocolMonitor::debug_returned(const Payload& payload, const Attributes& before, const Call& call,
                                         unsigned count) {
    check_no_wait(call, "transport_dbg");
    if (payload.get_command() != before.command || payload.get_address() != before.address ||
        payload.get_data_length() != before.length || payload.get_data_ptr() != before.data)
        report(Rule::debug_request_modified, describe(payload));
    if (before.command != ::tlm::TLM_IGNORE_COMMAND && count > before.length)
        report(Rule::debug_count, fmt::format("{}, returned {}", describe(payload), count));
    check_constant_data(payload, before, Rule::debug_write_data_modified);
    check_extensions(payload, before);
}

void BaseProtocolMonitor::check_no_wait(const Call& call, const std::string& what) {
    if (sc_core::sc_delta_count() != call.delta) report(Rule::wait_forbidden, what);
}

void BaseProtocolMonitor::report(BaseProtocolRule rule, const std::string& detail) {
    if (waived_.count(rule)) return;
    ++counts_[static_cast<unsigned>(rule)];
    const BaseProtocolRuleText& text = rule_text(rule);
    const std::string message = fmt::format("{}: not so: {} (IEEE 1666 {}): {}", link_, text.text, text.clause, detail);
    if (handler_)
        handler_({rule, link_, message});
    else
        SC_REPORT_ERROR((std::string("switchyard/base_protocol/") + text.id).c_str(), message.c_str());
}

}  // namespace switchyard
