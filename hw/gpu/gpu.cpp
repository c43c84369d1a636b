// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/gpu.h"

#include <fmt/format.h>

namespace switchyard::hw {

/// Two ways in, one out, in no time.
class Gpu::Merge : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<Merge> first, second;
    tlm_utils::simple_initiator_socket<Merge> out;

    explicit Merge(const sc_core::sc_module_name& module_name)
        : sc_module(module_name), first("first"), second("second"), out("out") {
        first.register_b_transport(this, &Merge::b_transport);
        second.register_b_transport(this, &Merge::b_transport);
    }

private:
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) { out->b_transport(payload, delay); }
};

Gpu::Gpu(const sc_core::sc_module_name& module_name, const Config& config, SimulationRegistry& registry)
    : sc_module(module_name),
      registers("registers"),
      window("window"),
      host_memory("host_memory"),
      device_memory("device_memory"),
      kernels("kernels", config.kernel_sources),
      completions("completions", config.kernel_sources),
      irq("irq"),
      command_processor_("command_processor", config.command_processor, registry),
      cta_scheduler_("cta_scheduler", config.cta_scheduler, config.multiprocessors, 1 + config.kernel_sources,
                     registry),
      multiprocessors_(
          make_multiprocessors(config.impl, "multiprocessors", config.multiprocessors, config.memory, registry)),
      copy_engines_("copy_engines", config.copy_engines, registry),
      hub_("hub", kInitiators,
           [this](unsigned initiator) {
               if (initiator != kSegments) command_processor_.memory_written();
           }),
      merge_(std::make_unique<Merge>("merge")) {
    const std::string message = validation_error(config);
    if (!message.empty()) throw ModelError(*this, message);

    registers.bind(command_processor_.registers);
    command_processor_.irq.bind(irq);
    command_processor_.memory.bind(hub_.in[kCommands]);
    cta_scheduler_.memory.bind(hub_.in[kSegments]);
    copy_engines_.device_memory.bind(hub_.in[kCopies]);
    window.bind(hub_.in[kWindow]);
    hub_.out.bind(device_memory);
    copy_engines_.host_memory.bind(host_memory);

    command_processor_.kernels.bind(cta_scheduler_.kernels[0]);
    command_processor_.copies.bind(copy_engines_.copies);
    cta_scheduler_.completions[0].bind(merge_->first);
    copy_engines_.completions.bind(merge_->second);
    merge_->out.bind(command_processor_.completed);
    for (unsigned i = 0; i < config.kernel_sources; ++i) {
        kernels[i].bind(cta_scheduler_.kernels[i + 1]);
        cta_scheduler_.completions[i + 1].bind(completions[i]);
    }
    cta_scheduler_.start.bind(multiprocessors_->ctas);
    multiprocessors_->finished.bind(cta_scheduler_.finished);
}

Gpu::~Gpu() = default;

std::string validation_error(const Gpu::Config& config) {
    std::string message = validation_error(config.multiprocessors);
    if (!message.empty()) return message;
    const unsigned block = config.memory.l2_block_bytes;
    if ((block & (block - 1)) != 0) return fmt::format("l2_block_bytes: expected a power of two, found {}", block);
    if (config.memory.memory_latency_ns < config.memory.l2_latency_ns)
        return fmt::format("memory_latency_ns: expected at least l2_latency_ns, {}, found {}",
                           config.memory.l2_latency_ns, config.memory.memory_latency_ns);
    return "";
}

}  // namespace switchyard::hw
