// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/alignment.h"

#include <algorithm>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

struct Range {
    std::uint32_t first = 0, last = 0;
};

/// Share `index` of `size` cut into `factor` equal blocks.
Range block_of(std::uint32_t size, std::uint32_t factors, std::uint32_t index) {
    const std::uint32_t block = ceil_div(size, factors);
    return {std::min(size, block * index), std::min(size, block * (index + 1))};
}

bool overlap(const Range& a, const Range& b) {
    return std::max(a.first, b.first) < std::min(a.last, b.last);
}

std::uint64_t overlapping_blocks(std::uint32_t size, std::uint32_t factor_a, std::uint32_t factor_b) {
    std::uint64_t pairs = 0;
    for (std::uint32_t a = 0; a < factor_a; ++a) {
        for (std::uint32_t b = 0; b < factor_b; ++b)
            pairs += overlap(block_of(size, factor_a, a), block_of(size, factor_b, b));
    }
    return pairs;
}

bool needs_everything(const Source& source, const OperatorShape& shape) {
    const std::uint32_t rows = source.reduce == EdgeReduce::global_pool ? 1 : source.shape.rows;
    return source.role == OperandRole::factor ||
           needs_whole_input(shape, source.taken_channels(), rows, source.role == OperandRole::second_operand);
}

/// Channels of the source's result that way `index` over the consumer's output channels needs.
Range channels_needed(const Source& source, const Spread& consumer, std::uint32_t index) {
    const std::uint32_t first = source.first_channel();
    if (needs_everything(source, consumer.shape)) return {first, first + source.taken_channels()};
    const Range out = block_of(consumer.shape.out_channels, consumer.k_factor, index);
    const Box in =
        input_box(consumer.shape, Box{0, 1, out.first, out.last, 0, 1}, source.role == OperandRole::second_operand);
    return {first + in.k0, first + in.k1};
}

/// Calls visit(channels, true if the part before needs the same) for the parts over the consumer's output channels.
template <class Visit>
void for_each_way(const Source& source, const Spread& consumer, Visit&& visit) {
    Range before;
    for (std::uint32_t way = 0; way < consumer.k_factor; ++way) {
        const Range needed = channels_needed(source, consumer, way);
        visit(needed, needed.first == before.first && needed.last == before.last);
        before = needed;
    }
}

/// Pairs of row blocks of which the consumer's needs some of the producer's.
std::uint64_t row_pairs(const Source& source, const Spread& producer, const Spread& consumer) {
    if (source.reduce == EdgeReduce::global_pool || needs_everything(source, consumer.shape)) {
        return std::uint64_t{producer.partition.p} * consumer.partition.p;
    }
    std::uint64_t pairs = 0;
    for (std::uint32_t to = 0; to < consumer.partition.p; ++to) {
        const Range out = block_of(consumer.shape.out_rows, consumer.partition.p, to);
        const Box in =
            input_box(consumer.shape, Box{0, 1, 0, 1, out.first, out.last}, source.role == OperandRole::second_operand);
        for (std::uint32_t from = 0; from < producer.partition.p; ++from) {
            const Range made = block_of(source.shape.rows, producer.partition.p, from);
            pairs += overlap(made, {in.p0, in.p1});
        }
    }
    return pairs;
}

}  // namespace

std::uint64_t packets_between(const Source& source, const Spread& producer, const Spread& consumer) {
    const std::uint64_t boxes =
        overlapping_blocks(producer.partition.dyn_dim, producer.partition.n, consumer.partition.n) *
        row_pairs(source, producer, consumer);
    std::uint64_t packets = 0;
    for_each_way(source, consumer, [&](const Range& needed, bool shared) {
        std::uint64_t senders = 0;
        for (std::uint32_t from = 0; from < producer.k_factor; ++from)
            senders += overlap(block_of(source.shape.channels, producer.k_factor, from), needed);
        packets += senders * (shared ? 1 : 2);
    });
    return boxes * packets;
}

std::uint64_t packets_from_memory(const Source& source, const Spread& consumer) {
    const std::uint64_t boxes = std::uint64_t{consumer.partition.n} * consumer.partition.p;
    constexpr unsigned kRequestAndData = 2, kProbeAndAcknowledge = 2;
    std::uint64_t packets = 0;
    for_each_way(source, consumer,
                 [&](const Range&, bool shared) { packets += shared ? kProbeAndAcknowledge : kRequestAndData; });
    return boxes * packets;
}

std::uint64_t packets_to_memory(const Spread& producer) {
    return std::uint64_t{2} * producer.partition.n * producer.partition.p * producer.k_factor;
}

}  // namespace switchyard::sched
