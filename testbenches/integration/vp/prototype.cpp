// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/vp/prototype.h"

#include "switchyard/hw/host/host_registers.h"

namespace switchyard::testing {

namespace {

Rv32Cpu::Config cpu_config(bool uses_dmi) {
    Rv32Cpu::Config config;
    config.reset_pc = Prototype::kRam;
    config.uses_dmi = uses_dmi;
    return config;
}

platform::HostMemory::Config ram_config() {
    platform::HostMemory::Config config;
    config.memory_bytes = Prototype::kRamBytes;
    config.memory_latency_ns = 20;
    config.memory_gb_per_s = 10;
    return config;
}

}  // namespace

Prototype::Prototype(const sc_core::sc_module_name& name, const platform::PlatformConfig& platform, bool uses_dmi,
                     bool edge_triggered)
    : sc_module(name),
      cpu("cpu", cpu_config(uses_dmi)),
      bus("bus", sc_core::sc_time(5, sc_core::SC_NS)),
      ram("ram", ram_config()),
      interrupts("interrupts", edge_triggered),
      uart("uart"),
      system("system"),
      accelerator("accelerator", platform),
      cpu_checker_("cpu_checker"),
      dma_checker_("dma_checker"),
      ram_checker_("ram_checker"),
      interrupts_checker_("interrupts_checker"),
      uart_checker_("uart_checker"),
      system_checker_("system_checker"),
      accelerator_checker_("accelerator_checker"),
      accelerator_irq_("accelerator_irq"),
      accelerator_reset_("accelerator_reset"),
      external_irq_("external_irq"),
      timer_irq_("timer_irq") {
    cpu.bus.bind(cpu_checker_.target_socket);
    cpu_checker_.initiator_socket.bind(bus.from);
    accelerator.host_socket.bind(dma_checker_.target_socket);
    dma_checker_.initiator_socket.bind(bus.from);

    const auto attach = [this](BaseProtocolChecker<>& checker, const char* target, std::uint32_t begin,
                               std::uint32_t bytes) {
        bus.to.bind(checker.target_socket);
        bus.map(target, begin, bytes);
    };
    attach(ram_checker_, "ram", kRam, kRamBytes);
    ram_checker_.initiator_socket.bind(ram.port);
    attach(interrupts_checker_, "interrupts", kInterrupts, 0x1000);
    interrupts_checker_.initiator_socket.bind(interrupts.socket);
    attach(uart_checker_, "uart", kUart, 0x1000);
    uart_checker_.initiator_socket.bind(uart.socket);
    attach(system_checker_, "system", kSystem, 0x1000);
    system_checker_.initiator_socket.bind(system.socket);
    attach(accelerator_checker_, "accelerator", kAccelerator, hw::host_registers::kAddressSpan);
    accelerator_checker_.initiator_socket.bind(accelerator.config_socket);

    accelerator.irq.bind(accelerator_irq_);
    accelerator.reset.bind(accelerator_reset_);
    interrupts.accelerator.bind(accelerator_irq_);
    interrupts.irq.bind(external_irq_);
    cpu.external_irq.bind(external_irq_);
    system.irq.bind(timer_irq_);
    cpu.timer_irq.bind(timer_irq_);
}

void Prototype::put(const ElfFile& program) {
    for (const ElfFile::Segment& segment : program.segments) put(segment.address, segment.bytes);
}

void Prototype::put(std::uint32_t address, const std::vector<std::uint8_t>& bytes) {
    ram.write(address - kRam, bytes.data(), bytes.size());
}

std::vector<std::uint8_t> Prototype::get(std::uint32_t address, std::size_t bytes) {
    return ram.read(address - kRam, bytes);
}

}  // namespace switchyard::testing
