// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/link/pcie_link.h"
#include "switchyard/sw_scheduler/memory_managers/memory_program.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform::dynn_offload_system {

/// A GPU that runs memory programs: a process for each queue, the modelled host link, host memory behind it.
///
/// Modelled: queues that wait for one another; copies as messages of chunk_bytes, in order, on the link that all queues
/// share; setup of a copy. Not modelled: contents of copies (check_program() does that), host memory's bandwidth, what
/// copies take of device memory's bandwidth from kernels.
class TrainingDevice : public sc_core::sc_module {
public:
    TrainingDevice(const sc_core::sc_module_name& name, const hw::PcieLink::Config& link,
                   const memory_managers::TransferTimes& times, double copy_setup_ns, std::uint64_t chunk_bytes,
                   const std::vector<const memory_managers::MemoryProgram*>& programs);

    /// Of each program, in their order.
    const std::vector<memory_managers::Timeline>& timelines() const { return timelines_; }
    bool finished() const { return finished_ == programs_.size(); }

    SimulationRegistry registry;
    hw::PcieLink link;

private:
    void run();
    void run_queue(memory_managers::Queue queue);
    void perform(const memory_managers::Action& action);
    void transfer(bool to_device, std::uint64_t bytes, std::uint32_t transfers);
    void serve_host(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void serve_device(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

    tlm_utils::simple_initiator_socket<TrainingDevice> copies_{"copies"}, host_{"host"};
    tlm_utils::simple_target_socket<TrainingDevice> host_memory_{"host_memory"}, device_memory_{"device_memory"};
    memory_managers::TransferTimes times_;
    double copy_setup_ns_;
    std::uint64_t chunk_bytes_;
    std::vector<const memory_managers::MemoryProgram*> programs_;
    std::vector<memory_managers::Timeline> timelines_;
    const memory_managers::MemoryProgram* program_ = nullptr;
    memory_managers::Timeline* timeline_ = nullptr;
    std::vector<bool> done_;
    sc_core::sc_event changed_;
    sc_core::sc_time begin_;
    std::size_t finished_ = 0;
};

}  // namespace switchyard::platform::dynn_offload_system
