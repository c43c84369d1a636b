// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/address_map.h"

namespace switchyard::testing {

/// A bus of any number of initiators and targets, loosely timed: an access takes `latency` and goes to the target
/// behind its address, which sees addresses from 0 on; the payload's address is restored before the response. Modelled:
/// holes (address errors), DMI and its invalidation in the initiators' addresses, debug access. Not modelled:
/// arbitration, widths, splitting of bursts.
class Bus : public sc_core::sc_module {
public:
    tlm_utils::multi_passthrough_target_socket<Bus> from;
    tlm_utils::multi_passthrough_initiator_socket<Bus> to;

    Bus(const sc_core::sc_module_name& name, const sc_core::sc_time& latency);

    /// The targets in the order in which they are bound to `to`.
    void map(const std::string& target, std::uint64_t begin, std::uint64_t bytes);

private:
    using Payload = ::tlm::tlm_generic_payload;

    void b_transport(int id, Payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(int id, Payload& payload);
    bool get_direct_mem_ptr(int id, Payload& payload, ::tlm::tlm_dmi& dmi);
    void invalidate(int id, sc_dt::uint64 begin, sc_dt::uint64 end);

    AddressMap map_;
    unsigned targets_ = 0;
    sc_core::sc_time latency_;
};

}  // namespace switchyard::testing
