// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/hw/dot_product_array/dot_product_array.h"
#include "switchyard/hw/host/command_port.h"
#include "switchyard/hw/layer_controller/layer_controller.h"
#include "switchyard/hw/memory/dram_target.h"
#include "switchyard/hw/on_chip_buffer/on_chip_buffer.h"
#include "switchyard/platform/systems/sushi/supernet_memory.h"
#include "switchyard/platform/systems/sushi/sushi_config.h"

namespace switchyard::platform::sushi {

/// Two initiators in front of one memory: passes their calls on and adds no time. The memory's model arbitrates. The
/// controller may use nb_transport; the host's calls of it become b_transport.
class SharedMemory : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<SharedMemory> from_controller;
    tlm_utils::simple_target_socket_optional<SharedMemory> from_host;
    tlm_utils::simple_initiator_socket<SharedMemory> memory;

    explicit SharedMemory(const sc_core::sc_module_name& name);

private:
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    ::tlm::tlm_sync_enum forward(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay);
    ::tlm::tlm_sync_enum backward(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);
    unsigned debug_transport(::tlm::tlm_generic_payload& payload);
};

/// SushiAccel: command port, controller, dot-product array, buffers, DRAM. Its sockets: registers(), and the DRAM from
/// address 0 on in memory(), which need not be bound.
class SushiChip : public sc_core::sc_module {
public:
    /// `buffers` as the design has them. Throws InputError for an array that there is not in RTL.
    SushiChip(const sc_core::sc_module_name& name, const SushiConfig& config, const BufferConfig& buffers,
              const SupernetMemory& memory);

    tlm_utils::simple_target_socket<hw::CommandPort>& registers() { return port.registers; }
    tlm_utils::simple_target_socket_optional<SharedMemory>& memory() { return shared.from_host; }
    sc_core::sc_out<bool> irq{"irq"};

    /// Bytes of DRAM, without time. Throws std::runtime_error.
    void write_dram(std::uint64_t address, std::vector<std::uint8_t> bytes);
    std::vector<std::uint8_t> read_dram(std::uint64_t address, std::uint64_t bytes);

    SimulationRegistry registry;
    hw::CommandPort port;
    hw::LayerController controller;
    hw::DotProductArray array;
    hw::OnChipBuffer persistent, dynamic, streaming, parameters, output;
    SharedMemory shared;
    hw::DramTarget dram;

private:
    void access_dram(bool writes, std::uint64_t address, std::vector<std::uint8_t>& bytes);
};

/// A server of commands whose times are known: what a DPU or a CPU is here. Argument: number of the SubNet.
class RateServer : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<RateServer> commands;
    RateServer(const sc_core::sc_module_name& name, std::vector<double> us);

private:
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    std::vector<double> us_;
};

}  // namespace switchyard::platform::sushi
