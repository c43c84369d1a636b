// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/multiprocessors.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "switchyard/hw/gpu/cta_multiprocessors.h"
#include "switchyard/hw/gpu/warp_multiprocessors.h"
#include "switchyard/sw_scheduler/base/config_check.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/tlm/borrowed_extension.h"

namespace switchyard::hw {

std::size_t cta_class(std::uint64_t ctas) {
    const auto* above = std::upper_bound(kCtaClasses.begin(), kCtaClasses.end(), ctas);
    return static_cast<std::size_t>(above - kCtaClasses.begin()) - 1;
}

Multiprocessors::Multiprocessors(const sc_core::sc_module_name& module_name, const MultiprocessorConfig& config,
                                 const GpuMemoryConfig& memory, SimulationRegistry& registry)
    : sc_module(module_name),
      ctas("ctas"),
      finished("finished"),
      config_(config),
      memory_(memory),
      l2_(memory.l2_bytes, memory.l2_block_bytes) {
    ctas.register_b_transport(this, &Multiprocessors::b_transport);
    registry.add(*this, "ctas", "1", stats_.ctas);
    registry.add(*this, "compute_ns", "ns", [this] { return stats_.compute_ns; });
    registry.add(*this, "l2_bytes", "bytes", [this] { return stats_.l2_bytes; });
    registry.add(*this, "memory_bytes", "bytes", [this] { return stats_.memory_bytes; });
    registry.add(*this, "warp_ns", "ns", [this] { return stats_.warp_ns; });
    registry.add(*this, "busy_ns", "ns", [this] { return stats_.busy_ns; });
}

void Multiprocessors::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const auto* extension = payload.get_extension<CtaExtension>();
    std::uint32_t count = 0;
    const std::uint64_t multiprocessor = payload.get_address() / sizeof count;
    if (!payload.is_write() || extension == nullptr || payload.get_data_length() != sizeof count) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    if (multiprocessor >= config_.count) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    if (delay != sc_core::SC_ZERO_TIME) {
        sc_core::wait(delay);
        delay = sc_core::SC_ZERO_TIME;
    }
    std::memcpy(&count, payload.get_data_ptr(), sizeof count);
    stats_.ctas += count;
    count_resident();
    resident_ctas_ += count;
    start(extension->kernel, static_cast<unsigned>(multiprocessor), count);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void Multiprocessors::finish(const std::shared_ptr<const KernelLaunch>& kernel, unsigned multiprocessor,
                             std::uint32_t count) {
    count_resident();
    resident_ctas_ -= count;
    ::tlm::tlm_generic_payload payload;
    CtaExtension extension;
    extension.kernel = kernel;
    set_access(payload, true, std::uint64_t{multiprocessor} * sizeof count, &count, sizeof count);
    const BorrowedExtension shown(payload, extension);
    sc_core::sc_time delay;
    finished->b_transport(payload, delay);
    if (payload.is_response_error())
        throw ModelError(*this,
                         fmt::format("expected finished CTAs to be taken, found {}", payload.get_response_string()));
}

void Multiprocessors::count_resident() {
    const double now = sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS);
    stats_.resident_ns[cta_class(resident_ctas_)] += now - counted_ns_;
    counted_ns_ = now;
}

MemoryTraffic Multiprocessors::traffic_of(const KernelLaunch& kernel) {
    const sched::KernelWork& work = kernel.packet.work;
    MemoryTraffic traffic;
    std::uint64_t missed = 0, written_back = 0;
    const auto add = [&](const L2Cache::Traffic& part) {
        missed += part.missed_bytes;
        written_back += part.written_back_bytes;
    };
    for (const sched::MemorySegment& segment : kernel.reads) add(l2_.read(segment));
    for (const sched::MemorySegment& segment : kernel.writes) add(l2_.write(segment));
    // A kernel may read less of its segments than all.
    traffic.read_bytes =
        static_cast<double>(kernel.reads.empty() ? work.read_bytes : std::min(missed, work.read_bytes));
    traffic.written_bytes = static_cast<double>(kernel.writes.empty() ? work.written_bytes : written_back);
    return traffic;
}

std::unique_ptr<Multiprocessors> make_multiprocessors(const std::string& impl, const char* name,
                                                      const MultiprocessorConfig& config, const GpuMemoryConfig& memory,
                                                      SimulationRegistry& registry) {
    if (impl == "cta") return std::make_unique<CtaMultiprocessors>(name, config, memory, registry);
    if (impl == "warp") return std::make_unique<WarpMultiprocessors>(name, config, memory, registry);
    throw InputError(not_among("gpu.impl", {"cta", "warp"}, impl));
}

}  // namespace switchyard::hw
