// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <systemc>

#include "switchyard/accelerator.h"
#include "switchyard/platform/chip/host_memory.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/testbenches/integration/vp/bus.h"
#include "switchyard/testbenches/integration/vp/elf_file.h"
#include "switchyard/testbenches/integration/vp/peripherals.h"
#include "switchyard/testbenches/integration/vp/rv32_cpu.h"
#include "switchyard/tlm/base_protocol_checker.h"

namespace switchyard::testing {

/// A system on a chip around the accelerator: one RV32IM core, a bus, RAM, interrupt controller, UART and system
/// control. The accelerator's DMA goes to the same RAM through the same bus. A base-protocol checker is on every link.
class Prototype : public sc_core::sc_module {
public:
    static constexpr std::uint32_t kSystem = 0x0010'0000, kInterrupts = 0x0C00'0000, kAccelerator = 0x1000'0000,
                                   kUart = 0x2000'0000, kRam = 0x8000'0000, kRamBytes = 16u << 20;

    Prototype(const sc_core::sc_module_name& name, const platform::PlatformConfig& platform, bool uses_dmi = true,
              bool edge_triggered = false);

    /// Before the simulation, and after it.
    void put(const ElfFile& program);
    void put(std::uint32_t address, const std::vector<std::uint8_t>& bytes);
    std::vector<std::uint8_t> get(std::uint32_t address, std::size_t bytes);

    Rv32Cpu cpu;
    Bus bus;
    platform::HostMemory ram;
    InterruptController interrupts;
    Uart uart;
    SystemControl system;
    Accelerator accelerator;

private:
    BaseProtocolChecker<> cpu_checker_, dma_checker_, ram_checker_, interrupts_checker_, uart_checker_, system_checker_,
        accelerator_checker_;
    sc_core::sc_signal<bool> accelerator_irq_, accelerator_reset_, external_irq_, timer_irq_;
};

}  // namespace switchyard::testing
