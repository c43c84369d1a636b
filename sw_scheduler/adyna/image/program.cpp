// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/program.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/image/program_records.h"

namespace switchyard {

namespace {

/// The item whose `id` member is `wanted` in a list sorted by it.
template <class Item, class Id>
const Item& find_sorted(const std::vector<Item>& items, Id Item::*id, Id wanted, const char* what) {
    const auto found = std::lower_bound(items.begin(), items.end(), wanted,
                                        [id](const Item& item, Id value) { return item.*id < value; });
    if (found == items.end() || (*found).*id != wanted)
        throw std::out_of_range(fmt::format("expected the id of an {} in the tile's program, found {}", what, wanted));
    return *found;
}

template <class Item, class Id>
void check_sorted(const ByteReader& reader, const std::vector<Item>& items, Id Item::*id, const char* what) {
    const auto found =
        std::adjacent_find(items.begin(), items.end(), [id](const Item& a, const Item& b) { return a.*id >= b.*id; });
    if (found != items.end())
        reader.fail(fmt::format("expected {} in strictly rising order, found {} before {}", what, (*found).*id,
                                (*(found + 1)).*id));
}

template <class Body>
auto named(const char* record, Body body) {
    try {
        return body();
    } catch (const InputError& error) {
        throw InputError(std::string(record) + ": " + error.what());
    }
}

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max() / 2;

std::uint64_t cycles_of(const std::vector<UnitCycles>& costs, std::uint32_t dyn_dim) {
    if (dyn_dim == 0) return 0;
    const auto found =
        std::lower_bound(costs.begin(), costs.end(), dyn_dim,
                         [](const UnitCycles& cost, std::uint32_t value) { return cost.dyn_dim < value; });
    return found == costs.end() ? kNever : found->cycles;
}

}  // namespace

unsigned OperatorPlacement::allocation_for(std::uint32_t own, std::uint32_t partner) const {
    unsigned best = 0;
    std::pair<std::uint64_t, std::uint64_t> min{kNever, kNever};  // the slower branch, both together
    for (unsigned i = 0; i < allocations.size(); ++i) {
        const std::uint64_t here = cycles_of(allocations[i].own, own),
                            there = cycles_of(allocations[i].partner, partner);
        const std::pair<std::uint64_t, std::uint64_t> cycles{std::max(here, there), here + there};
        if (cycles >= min) continue;
        min = cycles;
        best = i;
    }
    return best;
}

unsigned OperatorPlacement::allocation_for(const SampleIndexList& index_list) const {
    return allocation_for(index_list.invocation_samples(), index_list.invocation_partner());
}

int OperatorPlacement::best_fit(unsigned allocation, std::uint32_t dyn_dim) const {
    return switchyard::best_fit(partitions, dyn_dim, first_partition(allocation), last_partition(allocation));
}

Partition OperatorPlacement::unit_partition(std::size_t kernel) const {
    Partition partition = partitions.at(kernel);
    partition.dyn_dim = static_cast<std::uint16_t>(std::min<std::uint32_t>(partition.dyn_dim, unit_samples));
    return partition;
}

Box piece_box(const OperatorPlacement& tensor, std::uint32_t piece) {
    const Partition& cut = tensor.partitions.front();
    return output_box(tensor.shape, cut, tensor.k_factor, piece, cut.dyn_dim);
}

std::uint64_t piece_bytes(const OperatorPlacement& tensor, std::uint32_t piece) {
    const Box box = piece_box(tensor, piece);
    return std::uint64_t{tensor.shape.element_bytes} * (box.n1 - box.n0) * (box.k1 - box.k0) * (box.p1 - box.p0) *
           tensor.shape.out_columns;
}

const OperatorPlacement& TileProgram::placement(std::uint16_t op_id) const {
    return find_sorted(placements, &OperatorPlacement::op_id, op_id, "operator");
}

const Edge& TileProgram::edge(std::uint16_t id) const {
    return find_sorted(edges, &Edge::id, id, "edge");
}

const SegmentOrder* TileProgram::order(std::uint16_t segment) const {
    const auto found = std::find_if(orders.begin(), orders.end(),
                                    [segment](const SegmentOrder& one) { return one.segment == segment; });
    return found == orders.end() ? nullptr : &*found;
}

std::vector<std::uint8_t> encode(const TileProgram& program) {
    ByteWriter writer;
    writer(program);
    return writer.take();
}

std::vector<std::uint8_t> encode(const ChipProgram& program) {
    ByteWriter writer;
    writer(program);
    return writer.take();
}

TileProgram decode_tile_program(const std::uint8_t* bytes, std::size_t size) {
    return named("tile program", [&] {
        ByteReader reader(bytes, size);
        TileProgram program;
        reader(program);
        reader.expect_end();
        // placement() and edge() search by halving.
        check_sorted(reader, program.placements, &OperatorPlacement::op_id, "the op_ids of placements");
        check_sorted(reader, program.edges, &Edge::id, "the ids of edges");
        return program;
    });
}

ChipProgram decode_chip_program(const std::uint8_t* bytes, std::size_t size) {
    return named("chip program", [&] {
        ByteReader reader(bytes, size);
        ChipProgram program;
        reader(program);
        reader.expect_end();
        return program;
    });
}

}  // namespace switchyard
