#include "switchyard/sw_scheduler/backend/alignment.h"

#include <algorithm>

namespace switchyard::sched {

namespace {

struct Range {
    std::uint32_t first = 0, last = 0;
};

/// Share `index` of `size` cut into `ways` equal blocks.
Range block_of(std::uint32_t size, std::uint32_t ways, std::uint32_t index) {
    const std::uint32_t block = (size + ways - 1) / ways;
    return {std::min(size, block * index), std::min(size, block * (index + 1))};
}

bool overlap(const Range& a, const Range& b) {
    return std::max(a.first, b.first) < std::min(a.last, b.last);
}

std::uint64_t overlapping_blocks(std::uint32_t size, std::uint32_t ways_a, std::uint32_t ways_b) {
    std::uint64_t pairs = 0;
    for (std::uint32_t a = 0; a < ways_a; ++a) {
        for (std::uint32_t b = 0; b < ways_b; ++b)
            pairs += overlap(block_of(size, ways_a, a), block_of(size, ways_b, b));
    }
    return pairs;
}

bool needs_everything(const Source& source, const OperatorShape& shape) {
    const std::uint32_t rows = source.reduce == EdgeReduce::global_pool ? 1 : source.shape.rows;
    return needs_whole_input(shape, source.shape.channels, rows, source.role == OperandRole::second_operand);
}

/// Each rank needs channels of its own, so no two share a packet.
bool by_channel(const Source& source, const OperatorShape& shape) {
    return source.role == OperandRole::second_operand || (shape.channelwise() && !needs_everything(source, shape));
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
    if (by_channel(source, consumer.shape)) {
        return 2 * boxes * overlapping_blocks(source.shape.channels, producer.k_ways, consumer.k_ways);
    }
    return boxes * producer.k_ways * (1 + consumer.k_ways);
}

std::uint64_t packets_from_memory(const Source& source, const Spread& consumer) {
    const std::uint64_t boxes = std::uint64_t{consumer.partition.n} * consumer.partition.p;
    constexpr unsigned kRequestAndData = 2, kProbeAndAcknowledge = 2;
    if (by_channel(source, consumer.shape)) return kRequestAndData * boxes * consumer.k_ways;
    return boxes * (kRequestAndData + kProbeAndAcknowledge * (consumer.k_ways - 1));
}

std::uint64_t packets_to_memory(const Spread& producer) {
    return std::uint64_t{2} * producer.partition.n * producer.partition.p * producer.k_ways;
}

}  // namespace switchyard::sched
