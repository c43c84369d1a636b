// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/memory_map.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

/// Regions taken one after another from one end of the data area.
class Stack {
public:
    Stack(const HardwareDescription& hardware, bool upwards)
        : upwards_(upwards),
          at_(upwards ? hardware.kernel_region_bytes() : hardware.kernel_region_bytes() + hardware.data_bytes()) {}

    std::uint32_t take(std::uint64_t bytes) {
        const auto size = static_cast<std::uint32_t>(bytes);
        at_ = upwards_ ? at_ + size : at_ - size;
        return upwards_ ? at_ - size : at_;
    }

private:
    bool upwards_;
    std::uint32_t at_;
};

void take_buffers(const PlacedOperator& placed, Stack& stack, ScratchpadRegions& regions) {
    for (std::size_t i = 0; i < placed.footprint.slot_bytes.size(); ++i) {
        regions.slots.push_back(stack.take(std::uint64_t{placed.footprint.slot_bytes[i]} * placed.slots.in[i]));
    }
    regions.output = stack.take(std::uint64_t{placed.footprint.out_slot_bytes} * placed.slots.out);
}

/// Operators that may be on the same tiles at the same time: layer by layer, of which each has one on a tile at most.
using Layer = std::vector<const PlacedOperator*>;
using Sharers = std::vector<Layer>;

std::vector<Sharers> sharers_of(const std::vector<PlacedOperator>& operators) {
    std::map<std::pair<std::uint16_t, std::size_t>, std::map<std::size_t, Layer>> by_tile_group;
    for (const PlacedOperator& placed : operators)
        by_tile_group[{placed.segment, placed.tile_group}][placed.layer].push_back(&placed);
    std::vector<Sharers> all;
    for (auto& [tile_group, layers] : by_tile_group) {
        all.emplace_back();
        for (auto& [number, layer] : layers) all.back().push_back(std::move(layer));
    }
    return all;
}

std::uint64_t max_weights(const Layer& layer) {
    std::uint64_t max = 0;
    for (const PlacedOperator* placed : layer) max = std::max<std::uint64_t>(max, placed->footprint.weights);
    return max;
}

std::uint64_t max_buffers(const Layer& layer) {
    std::uint64_t max = 0;
    for (const PlacedOperator* placed : layer) max = std::max(max, placed->footprint.buffers);
    return max;
}

/// All weights from the bottom up, each operator above what its tiles already hold. Empty if they do not fit.
std::vector<ScratchpadRegions> resident_map(const std::vector<PlacedOperator>& operators,
                                            const HardwareDescription& hardware) {
    std::vector<std::uint64_t> held(hardware.tiles(), 0), buffers(hardware.tiles(), 0);
    std::vector<ScratchpadRegions> map(operators.size());
    for (const Sharers& sharers : sharers_of(operators)) {
        Stack layer_stack(hardware, false);
        std::uint64_t layer_bytes = 0;
        for (const Layer& layer : sharers) {
            for (const PlacedOperator* placed : layer) {
                std::uint64_t base = 0;
                for (const std::uint16_t tile : placed->placement.tiles) base = std::max(base, held[tile]);
                for (const std::uint16_t tile : placed->placement.tiles) {
                    held[tile] = base + placed->footprint.weights;
                    buffers[tile] = std::max(buffers[tile], layer_bytes + placed->footprint.buffers);
                    if (held[tile] + buffers[tile] > hardware.data_bytes()) return {};
                }
                ScratchpadRegions& regions = map[placed->op];
                regions.weights = static_cast<std::uint32_t>(hardware.kernel_region_bytes() + base);
                regions.resident = true;
                Stack stack = layer_stack;
                take_buffers(*placed, stack, regions);
            }
            layer_bytes += max_buffers(layer);
            layer_stack.take(max_buffers(layer));
        }
    }
    return map;
}

}  // namespace

bool weights_stay(const std::vector<PlacedOperator>& operators, const HardwareDescription& hardware) {
    return !resident_map(operators, hardware).empty();
}

std::vector<ScratchpadRegions> scratchpad_map(const std::vector<PlacedOperator>& operators,
                                              const HardwareDescription& hardware) {
    std::vector<ScratchpadRegions> map = resident_map(operators, hardware);
    if (!map.empty()) return map;
    map.resize(operators.size());
    for (const Sharers& sharers : sharers_of(operators)) {
        Stack layer_stack(hardware, sharers.front().front()->segment % 2 == 0);
        for (const Layer& layer : sharers) {
            for (const PlacedOperator* placed : layer) {
                Stack stack = layer_stack;
                map[placed->op].weights = stack.take(placed->footprint.weights);
            }
            layer_stack.take(max_weights(layer));
        }
        for (const Layer& layer : sharers) {
            for (const PlacedOperator* placed : layer) {
                Stack stack = layer_stack;
                take_buffers(*placed, stack, map[placed->op]);
            }
            layer_stack.take(max_buffers(layer));
        }
    }
    return map;
}

double PieceTraffic::sum() const {
    double all = 0;
    for (const auto& [segment, count] : bytes) all += count;
    return all;
}

std::vector<unsigned> balanced_interfaces(const HardwareDescription& hardware,
                                          const std::vector<PieceTraffic>& pieces) {
    std::vector<std::size_t> order(pieces.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> weight;
    std::size_t segments = 0;
    for (const PieceTraffic& piece : pieces) {
        weight.push_back(piece.sum());
        for (const auto& [segment, count] : piece.bytes) segments = std::max<std::size_t>(segments, segment + 1u);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weight[a] > weight[b]; });

    std::vector<std::vector<double>> load(segments, std::vector<double>(hardware.memory.size(), 0));
    std::vector<unsigned> chosen(pieces.size(), 0);
    for (const std::size_t i : order) {
        const PieceTraffic& piece = pieces[i];
        double min = std::numeric_limits<double>::infinity();
        unsigned fewest_hops = 0;
        for (unsigned m = 0; m < hardware.memory.size(); ++m) {
            double busiest = 0;
            for (const auto& [segment, count] : piece.bytes) busiest = std::max(busiest, load[segment][m] + count);
            busiest /= hardware.memory[m].bytes_per_cycle;
            const unsigned hops = hardware.hops(piece.tile, hardware.memory[m].router);
            if (busiest > min || (busiest == min && hops >= fewest_hops)) continue;
            min = busiest;
            fewest_hops = hops;
            chosen[i] = m;
        }
        for (const auto& [segment, count] : piece.bytes) load[segment][chosen[i]] += count;
    }
    return chosen;
}

HbmAllocator::HbmAllocator(const HardwareDescription& hardware, std::uint64_t begin)
    : hardware_(hardware), used_(hardware.memory.size(), begin) {}

std::uint64_t HbmAllocator::allocate(unsigned interface, std::uint64_t bytes) {
    const std::uint64_t size = round_up(bytes, kAlignment);
    for (std::size_t tried = 0; tried < used_.size(); ++tried) {
        const std::size_t at = (interface + tried) % used_.size();
        if (used_[at] > hardware_.region_bytes || size > hardware_.region_bytes - used_[at]) continue;
        const std::uint64_t address = at * hardware_.region_bytes + used_[at];
        used_[at] += size;
        return address;
    }
    throw Infeasible(
        fmt::format("{}: expected a memory interface with {} bytes left of its {}, found none; raise "
                    "hbm.region_bytes",
                    hardware_.name, bytes, hardware_.region_bytes));
}

}  // namespace switchyard::sched
