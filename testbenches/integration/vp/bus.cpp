// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/vp/bus.h"

#include <algorithm>

#include "switchyard/tlm/memory_access.h"

namespace switchyard::testing {

Bus::Bus(const sc_core::sc_module_name& module_name, const sc_core::sc_time& latency)
    : sc_module(module_name), from("from"), to("to"), latency_(latency) {
    from.register_b_transport(this, &Bus::b_transport);
    from.register_transport_dbg(this, &Bus::transport_dbg);
    from.register_get_direct_mem_ptr(this, &Bus::get_direct_mem_ptr);
    to.register_invalidate_direct_mem_ptr(this, &Bus::invalidate);
}

void Bus::map(const std::string& target, std::uint64_t begin, std::uint64_t bytes) {
    map_.add({target, begin, bytes, targets_++});
}

void Bus::b_transport(int, Payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const unsigned span = payload.get_command() == ::tlm::TLM_IGNORE_COMMAND ? 1 : memory_span(payload);
    const AddressMap::Range* const range = map_.find(address, span);
    delay += latency_;
    if (!range) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    payload.set_address(address - range->begin);
    to[range->target]->b_transport(payload, delay);
    payload.set_address(address);
}

unsigned Bus::transport_dbg(int, Payload& payload) {
    const std::uint64_t address = payload.get_address();
    const AddressMap::Range* const range = map_.find(address);
    if (!range) return 0;
    payload.set_address(address - range->begin);
    const unsigned bytes = to[range->target]->transport_dbg(payload);
    payload.set_address(address);
    return bytes;
}

bool Bus::get_direct_mem_ptr(int, Payload& payload, ::tlm::tlm_dmi& dmi) {
    const std::uint64_t address = payload.get_address();
    const AddressMap::Range* const range = map_.find(address);
    if (!range) {
        dmi.allow_none();
        dmi.set_start_address(address);
        dmi.set_end_address(address);
        return false;
    }
    payload.set_address(address - range->begin);
    const bool granted = to[range->target]->get_direct_mem_ptr(payload, dmi);
    payload.set_address(address);
    // A target may speak of more addresses than the bus has given it.
    const std::uint64_t last = std::min<std::uint64_t>(dmi.get_end_address(), range->bytes - 1);
    dmi.set_start_address(range->begin + dmi.get_start_address());
    dmi.set_end_address(range->begin + last);
    dmi.set_read_latency(dmi.get_read_latency() + latency_);
    dmi.set_write_latency(dmi.get_write_latency() + latency_);
    return granted;
}

void Bus::invalidate(int target, sc_dt::uint64 begin, sc_dt::uint64 end) {
    for (const AddressMap::Range& range : map_.ranges()) {
        if (range.target != static_cast<unsigned>(target) || begin >= range.bytes) continue;
        const std::uint64_t last = std::min<std::uint64_t>(end, range.bytes - 1);
        for (unsigned initiator = 0; initiator < from.size(); ++initiator)
            from[static_cast<int>(initiator)]->invalidate_direct_mem_ptr(range.begin + begin, range.begin + last);
    }
}

}  // namespace switchyard::testing
