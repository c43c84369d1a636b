// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/gpu/packet.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform::ace {

/// A bound for all designs: it knows the whole graph of kernels and hands each to the CTA scheduler when those that it
/// waits for are complete. No host, no latency but that of the reads of the kernels' segments.
class FullGraphSource : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<FullGraphSource> kernels;
    tlm_utils::simple_target_socket<FullGraphSource> completed;

    explicit FullGraphSource(const sc_core::sc_module_name& name);

    /// From a thread: returns when all kernels are complete. `graph`: those that each waits for.
    void run(const std::vector<std::vector<std::uint64_t>>& graph, std::vector<hw::GpuPacketBytes> packets);
    std::size_t unfinished() const { return unfinished_; }

private:
    static constexpr unsigned kDispatchers = 16;

    void dispatch();
    void take_completion(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

    std::vector<hw::GpuPacketBytes> packets_;
    std::vector<std::size_t> waits_;               ///< by kernel: how many it waits for
    std::vector<std::vector<std::size_t>> after_;  ///< by kernel: who waits for it
    std::deque<std::size_t> ready_;
    std::size_t unfinished_ = 0;
    sc_core::sc_event work_, done_;
};

}  // namespace switchyard::platform::ace
