// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <systemc>

#include "switchyard/accelerator.h"
#include "switchyard/hw/host/host_registers.h"
#include "switchyard/platform/chip/host_memory.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/testbenches/compliance/port_initiator.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/transactors/axi_checker.h"
#include "switchyard/tlm/transactors/axi_to_tlm.h"
#include "switchyard/tlm/transactors/tlm_to_axi.h"

namespace switchyard::compliance {

namespace regs = hw::host_registers;

inline constexpr auto kRead = ::tlm::TLM_READ_COMMAND;
inline constexpr auto kWrite = ::tlm::TLM_WRITE_COMMAND;

inline sc_core::sc_time ns(double count) {
    return {count, sc_core::SC_NS};
}

/// configs/platforms/mini.yaml with these keys changed.
PlatformConfig mini(std::map<std::string, std::string> overrides = {});

/// The digits network compiled for mini().
const std::vector<std::uint8_t>& digits_image();

/// An accelerator as an integrator mounts it: an initiator on its configuration socket, memory on its host socket, a
/// base-protocol checker on both, a reset line and an interrupt line.
class AcceleratorRig : public sc_core::sc_module {
public:
    using Style = PortInitiator::Style;
    explicit AcceleratorRig(const PlatformConfig& platform, Style style = {},
                            const sc_core::sc_module_name& name = "rig", bool by_wires = false);

    /// `driver` becomes a thread; sc_start() is up to the caller.
    void drive(std::function<void(AcceleratorRig&)> driver) { drivers_.push_back(std::move(driver)); }
    /// drive() and sc_start().
    void run(std::function<void(AcceleratorRig&)> driver);

    // What a driver does.
    std::uint32_t read(std::uint64_t offset) { return port.read(offset); }
    void write(std::uint64_t offset, std::uint32_t value) { port.write(offset, value); }
    void put_image(const std::vector<std::uint8_t>& bytes, unsigned burst = 4096);
    /// Waits for the interrupt; what it has been for is cleared and returned.
    std::uint32_t wait_for_interrupt();
    /// Waits until all of `interrupts` have come; others are kept. Fails on an error interrupt.
    void await(std::uint32_t interrupts);
    void load(const std::vector<std::uint8_t>& image);
    void dma(std::uint64_t host, std::uint64_t chip, std::uint64_t bytes, std::uint32_t direction);
    /// Moves the tensors of a kind ("weights", "input", "output").
    void move(const Image& image, platform::NetworkValues& values, const std::string& kind);
    /// Weights and input have been moved: rings the doorbell, awaits the batch, fetches the output.
    void run_batch(const Image& image, platform::NetworkValues& values);
    void pulse_reset(const sc_core::sc_time& length);

    Accelerator accelerator;
    PortInitiator port;
    platform::HostMemory memory;
    BaseProtocolChecker<> port_checker{"port_checker"}, memory_checker{"memory_checker"};
    sc_core::sc_signal<bool> irq{"irq"}, reset{"reset"};

    /// With `by_wires`: between the checkers and the accelerator, which is a block with AXI ports then.
    struct AxiLink : sc_core::sc_module {
        AxiSignals wires;
        TlmToAxi from_tlm;
        AxiToTlm to_tlm;
        AxiChecker checker;
        AxiLink(const sc_core::sc_module_name& name, const AxiConfig& config, unsigned stall_percent);
        void start(sc_core::sc_signal_in_if<bool>& clock, sc_core::sc_signal_in_if<bool>& aresetn);
    };
    std::unique_ptr<AxiLink> config_link, host_link;

private:
    void threads();

    std::vector<std::function<void(AcceleratorRig&)>> drivers_;
    std::uint32_t pending_ = 0;
    std::unique_ptr<sc_core::sc_clock> clock_;
    sc_core::sc_signal<bool> aresetn_{"aresetn"};
};

/// The logits of the digits network's first batch: load, weights, input, one batch.
platform::NpyArray run_digits(AcceleratorRig& rig);
/// The samples of which the first batch of the digits network has another label than its recorded logits, beyond
/// rounding.
std::size_t wrong_digits(const platform::NpyArray& logits);

}  // namespace switchyard::compliance
