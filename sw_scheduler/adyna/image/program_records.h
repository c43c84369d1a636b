// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/sw_scheduler/base/bytes.h"

/// The fields of each record of a program in the order in which they are stored (docs/image_format.md).
namespace switchyard {

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<OperatorShape> shape) {
    archive.enumeration(shape.kind, OpKind::merge);
    archive(shape.out_channels, shape.in_channels, shape.out_rows, shape.out_columns, shape.in_rows, shape.in_columns);
    archive(shape.filter_rows, shape.filter_columns, shape.stride, shape.pad, shape.heads, shape.joined);
    archive(shape.operand_bytes, shape.element_bytes);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<Partition> partition) {
    archive(partition.dyn_dim, partition.n, partition.p);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<TensorStore> store) {
    archive(store.offset, store.piece_stride, store.bank_stride, store.first_interface, store.interfaces);
    archive(store.index_list_address, store.index_list_bytes, store.index_list_samples);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<UnitCycles> unit) {
    archive(unit.dyn_dim, unit.cycles);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<TileAllocation> allocation) {
    archive(allocation.first_partition, allocation.own, allocation.partner);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<OperatorPlacement> placement) {
    archive(placement.op_id, placement.segment, placement.shape, placement.k_factor, placement.units);
    archive(placement.unit_samples, placement.tiles, placement.partitions, placement.store, placement.allocations);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<Edge> edge) {
    archive(edge.id, edge.src_op, edge.dst_op);
    archive.enumeration(edge.path, EdgePath::labels);
    archive.enumeration(edge.reduce, EdgeReduce::global_pool);
    archive.enumeration(edge.role, OperandRole::factor);
    archive(edge.switch_id, edge.branch, edge.partner, edge.pops);
    archive(edge.first_channel, edge.channels, edge.rows, edge.columns, edge.element_bytes);
    archive(edge.slots, edge.slot_offset, edge.slot_bytes);
    archive(edge.slice_addresses, edge.weight_bytes, edge.resident);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<TileOperator> op) {
    archive(op.op_id, op.segment, op.rank, op.kernel_first, op.kernel_count);
    archive(op.out_slots, op.out_offset, op.out_slot_bytes);
    archive(op.gate_switch, op.gate_branches);
    archive.enumeration(op.gate_rule, GateRule::patience);
    archive(op.gate_threshold, op.gate_patience, op.previous_switch, op.kept_offset);
    archive(op.mask_address, op.mask_bank_stride);
    archive.enumerations(op.epilogue, EpilogueStep::scale);
    archive(op.position_tokens);
    archive.enumeration(op.pool, PoolKind::mean);
    archive(op.in_edges, op.out_edges);
}

inline void transfer(ByteWriter& writer, const Kernel& kernel) {
    const KernelBytes bytes = encode(kernel);
    writer.append(bytes.data(), bytes.size());
}

inline void transfer(ByteReader& reader, Kernel& kernel) {
    const std::uint8_t* bytes = reader.take(kKernelBytes);
    try {
        kernel = decode_kernel(bytes);
    } catch (const InputError& error) {
        reader.fail(error.what());
    }
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<SegmentOrder::Key> key) {
    archive(key.mask_address, key.mask_bank_stride, key.outer, key.outer_branch);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<SegmentOrder> order) {
    archive(order.segment, order.samples, order.keys);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<TileProgram> program) {
    archive(program.tile, program.operators, program.orders, program.placements, program.edges, program.kernels);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<SegmentInfo> segment) {
    archive(segment.units, segment.unit_samples, segment.tiles);
}

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<ChipProgram> program) {
    archive(program.batch_samples, program.segments);
}

}  // namespace switchyard
