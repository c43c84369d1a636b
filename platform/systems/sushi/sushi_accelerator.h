// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <systemc>
#include <tlm>

#include "switchyard/sw_scheduler/sushi/supernet.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform::sushi {

class SushiChip;
struct SupernetMemory;

/// SUSHI's accelerator on a bus of a virtual prototype: serves the SubNets of a supernet, and keeps a SubGraph in its
/// persistent buffer.
///
/// `registers`: a command queue (hw::CommandPort). Operation hw::LayerController::kServe runs the SubNet of the
/// argument, kCache fetches the SubGraph of the argument into the persistent buffer. `memory`: the accelerator's DRAM
/// from address 0 on, where the host puts an input and finds a result; b_transport takes the DRAM's time, transport_dbg
/// none. `irq`: high while a command has ended and IRQ_STATUS has not been cleared, if IRQ_ENABLE has the bit.
///
/// With `accelerator.functional: yes` the weights are in DRAM from the first moment of simulation on. Modelled and not
/// modelled: docs/sushi.md. Both sockets must be bound.
class SushiAccelerator : public sc_core::sc_module {
public:
    ::tlm::tlm_target_socket<> registers{"registers"}, memory{"memory"};
    sc_core::sc_out<bool> irq{"irq"};

    /// `platform`: a file with `system: sushi`; `supernet`: a file as docs/sushi.md has it; `overrides` of the
    /// platform's keys, as `--set`. Throws InputError, and Infeasible if no SubGraph fits the persistent buffer.
    SushiAccelerator(const sc_core::sc_module_name& name, const std::string& platform, const std::string& supernet,
                     std::map<std::string, std::string> overrides = {});
    ~SushiAccelerator() override;

    const sched::sushi::Supernet& supernet() const;
    /// SubGraphs that kCache may name: 0 to this less one.
    std::size_t subgraphs() const;
    /// Where a SubNet reads its input, int8, and writes its result, int32.
    std::uint64_t input_address() const;
    std::uint64_t output_address(std::size_t subnet) const;
    /// Counters, and the errors of models. A command that fails sets FAILED in STATUS; its cause is here.
    const SimulationRegistry& registry() const;

protected:
    void start_of_simulation() override;

private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
    std::unique_ptr<SushiChip> chip_;
};

}  // namespace switchyard::platform::sushi
