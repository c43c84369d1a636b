#include "switchyard/hw/pe_array/analytic_pe_array.h"

#include <algorithm>

#include "switchyard/hw/pe_array/block_math.h"

namespace switchyard::hw {

AnalyticPeArray::AnalyticPeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry)
    : PeArray(name, config, registry) {}

std::uint64_t AnalyticPeArray::run(const PeWorkExtension& work, const Traffic& traffic, std::uint64_t) {
    if (work.addresses != nullptr) multiply_blocks(work, acc_fp16(), memory());
    const std::uint64_t passes = std::uint64_t{work.row_outputs} * work.column_outputs;
    const std::uint64_t waves = passes * (work.channelwise ? work.columns : 1);
    const std::uint64_t fill_cycles = work.rows + work.columns - 2, drain_cycles = work.rows * passes;
    const auto cycles_of = [](std::uint64_t bytes, std::uint64_t rate) { return (bytes + rate - 1) / rate; };
    const std::uint64_t block_cycles =
        std::max({work.reduction * waves, drain_cycles, cycles_of(traffic.read_bytes, traffic.read_bytes_per_cycle),
                  cycles_of(traffic.write_bytes, traffic.write_bytes_per_cycle)});
    std::uint64_t cycles = block_cycles * work.repeats;
    if (work.first) cycles += traffic.latency_cycles + fill_cycles;
    if (work.last) cycles += drain_cycles;
    return cycles;
}

}  // namespace switchyard::hw
