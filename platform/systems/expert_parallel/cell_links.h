// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/sw_scheduler/collectives/program.h"

namespace switchyard::platform::expert_parallel {

/// An all-to-all under way.
class CellExchange;

/// The chips' ends of the links: writes of a chip's cells and results to the memory of another one.
///
/// Sockets: to_links[d] and from_links[d], to be bound to in[d] and out[d] of a LinkNetwork. Several exchanges may be
/// under way. Modelled: a message a transfer, sent when its sender is ready, when what it waits for has come, and
/// behind its software's time. Not modelled: contents, bandwidth of the chips' memory.
class CellLinks : public sc_core::sc_module {
public:
    struct Stats {
        std::uint64_t sent_bytes = 0, received_bytes = 0;
    };
    using Exchange = std::shared_ptr<CellExchange>;
    using Complete = std::function<void(unsigned device)>;

    sc_core::sc_vector<tlm_utils::simple_initiator_socket<CellLinks>> to_links;
    sc_core::sc_vector<tlm_utils::simple_target_socket<CellLinks>> from_links;

    CellLinks(const sc_core::sc_module_name& name, unsigned devices);

    /// `complete`: called once a device, when it is ready itself and all that it receives has come.
    Exchange begin(sched::CollectiveProgram program, Complete complete);
    /// The device has what it sends.
    void sender_ready(const Exchange& exchange, unsigned device);

    const Stats& stats() const { return stats_; }

private:
    void start(const Exchange& exchange, std::uint32_t transfer);
    void arrived(const Exchange& exchange, std::uint32_t transfer);
    static void count_down(const Exchange& exchange, unsigned device);
    void carry(const sched::Transfer& transfer);
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

    Stats stats_;
};

}  // namespace switchyard::platform::expert_parallel
