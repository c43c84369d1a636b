// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/value_mover.h"

#include <cstring>
#include <numeric>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/numerics/vector_kernels.h"
#include "switchyard/sw_scheduler/adyna/rules/segments.h"

namespace switchyard::hw {

namespace {

float element(const std::uint8_t* bytes) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    return numerics::widen(bits);
}

void set_element(std::uint8_t* bytes, float value) {
    const std::uint16_t bits = numerics::narrow(value);
    std::memcpy(bytes, &bits, sizeof bits);
}

/// What arrives of a unit. From several units of a producer, if the consumer packs its samples: only the consumer's end
/// counts then.
TransferPlan arriving(const InEdge& in, const SampleIndexList& index_list) {
    if (!index_list.whole || in.source->in_memory())
        return TransferPlan(*in.edge, *in.source, *in.destination, index_list);
    const EdgeSets sets = sets_of(*in.edge, index_list);
    return TransferPlan(*in.edge, *in.source, *in.destination, *sets.edge, *sets.edge, *sets.destination,
                        allocations_of(*in.edge, index_list, *in.source, *in.destination));
}

}  // namespace

std::vector<std::uint8_t> ValueMover::output_values(const Output& output, const Edge& edge, const TransferPlan& plan,
                                                    const TensorPart& part) {
    const TileOperator& op = ports_.program().operators[output.operator_index];
    const OperatorPlacement& placement = ports_.program().placement(edge.src_op);
    const SampleSet& samples = output.index_list->samples;
    const TransferPlan::Extent made = plan.made(op.rank);
    const Partition cut = placement.unit_partition(static_cast<std::size_t>(placement.best_fit(*output.index_list)));
    const Box box =
        output_box(placement.shape, cut, placement.k_factor, op.rank, static_cast<std::uint32_t>(samples.size()));
    const std::uint64_t slot = rules::output_slot(op, output.unit);
    const ValueRegion region{
        slot, box.k0, box.k1 - box.k0, box.p0, box.p1 - box.p0, placement.shape.out_columns, edge.element_bytes};
    const auto position = [&](std::uint32_t id) {
        return static_cast<std::uint32_t>(samples.index_of(id)) - made.first_position;
    };
    std::vector<std::uint8_t> values(bytes_of(part));
    if (edge.reduce == EdgeReduce::none) {
        auto next = values.begin();
        for_each_run(part, region, 0, values.size(), position, [&](std::uint64_t address, std::uint64_t bytes) {
            ports_.access_scratchpad(::tlm::TLM_READ_COMMAND, address, &*next, bytes);
            next += static_cast<std::ptrdiff_t>(bytes);
        });
        return values;
    }
    // The mean's share of this tile's rows, in the first of the rows that stand for it; sums in the order of elements.
    const std::uint32_t elements = region.rows * region.columns;
    const float share = 1.0f / static_cast<float>(std::uint32_t{placement.shape.out_rows} * region.columns);
    std::vector<std::uint16_t> channel(elements);
    std::vector<float> wide(elements);
    std::uint8_t* out = values.data();
    for (const std::uint32_t id : part.samples) {
        for (std::uint32_t k = part.first_channel; k < part.first_channel + part.channels; ++k) {
            ports_.access_scratchpad(::tlm::TLM_READ_COMMAND, region.address(position(id), k, box.p0),
                                     reinterpret_cast<std::uint8_t*>(channel.data()), kElementBytes * elements);
            numerics::vector_kernels().widen(wide.data(), channel.data(), elements);
            const float sum = std::accumulate(wide.begin(), wide.end(), 0.0f);
            const bool first = plan.partial_sums() || part.first_row == made.first_row;
            for (std::uint32_t row = 0; row < part.rows; ++row, out += kElementBytes) {
                set_element(out, first && row == 0 ? sum * share : 0.0f);
            }
        }
    }
    return values;
}

void ValueMover::place(const InEdge& in, const ::tlm::tlm_generic_payload& payload) {
    const auto& message = *payload.get_extension<AdynaMessage>();
    const std::vector<std::uint8_t>& values = payload.get_extension<PacketExtension>()->values;
    const auto* const memory = payload.get_extension<MemoryExtension>();
    const bool read = memory && memory->operation == MemoryOperation::read_data;
    const std::uint64_t first_byte = read ? memory->first_byte : message.first_byte;
    const auto write = [&](std::uint64_t address, const std::uint8_t* bytes, std::uint64_t size) {
        ports_.access_scratchpad(::tlm::TLM_WRITE_COMMAND, address, const_cast<std::uint8_t*>(bytes), size);
    };
    if (in.edge->path == EdgePath::weights) {
        write(in.edge->slot_offset + first_byte, values.data(), values.size());
        return;
    }
    const SampleIndexList& index_list = *in.units.at(message.unit).index_list;
    const EdgeSets sets = sets_of(*in.edge, index_list);
    const TransferPlan plan = arriving(in, index_list);
    const TransferPlan::Extent needed = plan.needed(in.rank);
    ValueRegion region = input_region(in, message.unit, plan);
    // A source of a merge has only some of the consumer's samples; its slot holds these alone.
    const std::size_t first = sets.edge->index_of((*sets.destination)[needed.first_position]);
    const auto position = [&](std::uint32_t id) { return static_cast<std::uint32_t>(sets.edge->index_of(id) - first); };
    const std::uint8_t* next = values.data();
    for_each_run(*message.part, region, first_byte, first_byte + values.size(), position,
                 [&](std::uint64_t address, std::uint64_t bytes) {
                     write(address, next, bytes);
                     next += bytes;
                 });
}

ValueRegion ValueMover::input_region(const InEdge& in, unsigned unit, const TransferPlan& plan) {
    const TransferPlan::Extent needed = plan.needed(in.rank);
    const std::uint64_t slot = rules::input_slot(*in.edge, unit);
    if (in.edge->reduce == EdgeReduce::none) {
        return {slot,        needed.first_channel, needed.channels,       needed.first_row,
                needed.rows, in.edge->columns,     in.edge->element_bytes};
    }
    const std::uint32_t sums = plan.partial_sums() ? plan.parts() : in.edge->rows;
    return {slot, needed.first_channel, needed.channels, 0, sums, 1, kElementBytes};
}

void ValueMover::add_partial_sums(const InEdge& in, unsigned unit) {
    const TransferPlan plan = arriving(in, *in.units[unit].index_list);
    const ValueRegion region = input_region(in, unit, plan);
    std::vector<std::uint8_t> sums(in.units[unit].expected);
    ports_.access_scratchpad(::tlm::TLM_READ_COMMAND, region.base, sums.data(), sums.size());
    const std::size_t results = sums.size() / kElementBytes / region.rows;
    for (std::size_t i = 0; i < results; ++i) {
        float sum = 0;
        for (std::uint32_t row = 0; row < region.rows; ++row) {
            sum += element(sums.data() + kElementBytes * (i * region.rows + row));
        }
        set_element(sums.data() + kElementBytes * i, sum);
    }
    ports_.access_scratchpad(::tlm::TLM_WRITE_COMMAND, region.base, sums.data(), kElementBytes * results);
}

std::shared_ptr<const std::vector<MemoryRun>> runs_of(const TensorPart& part, const OperatorPlacement& tensor,
                                                      const TransferPlan::Extent& piece, std::uint64_t address) {
    const ValueRegion region{address,    piece.first_channel,      piece.channels,    piece.first_row,
                             piece.rows, tensor.shape.out_columns, part.element_bytes};
    auto runs = std::make_shared<std::vector<MemoryRun>>();
    const auto position = [&piece](std::uint32_t id) { return id - piece.first_position; };
    for_each_run(part, region, 0, bytes_of(part), position, [&runs](std::uint64_t at, std::uint64_t bytes) {
        if (!runs->empty() && runs->back().address + runs->back().bytes == at) {
            runs->back().bytes += bytes;
        } else {
            runs->push_back({at, bytes});
        }
    });
    return runs;
}

}  // namespace switchyard::hw
