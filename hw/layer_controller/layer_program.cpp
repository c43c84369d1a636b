// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/layer_controller/layer_program.h"

#include <algorithm>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::hw {

using sched::Convolution;

namespace {

void add(std::vector<StridedPieces>& pieces, StridedPieces piece) {
    if (piece.bytes == 0 || piece.count == 0) return;
    if (piece.count > 1 && piece.pitch == piece.bytes) piece = {piece.address, piece.bytes * piece.count, 1, 0};
    if (!pieces.empty() && piece.count == 1) {
        StridedPieces& last = pieces.back();
        if (last.count == 1 && last.address + last.bytes == piece.address) {
            last.bytes += piece.bytes;
            return;
        }
    }
    pieces.push_back(piece);
}

}  // namespace

std::vector<StridedPieces> input_pieces(const LayerProgram& program, const sched::InputBand& band) {
    const Convolution& layer = program.layer;
    std::vector<StridedPieces> pieces;
    add(pieces, {program.input_address + std::uint64_t{band.input_begin} * layer.width,
                 std::uint64_t{band.input_end - band.input_begin} * layer.width, layer.channels,
                 std::uint64_t{layer.height} * layer.width});
    return pieces;
}

std::vector<StridedPieces> tile_pieces(const LayerProgram& program, const TensorProgram& tensor,
                                       const sched::WeightSlice& cached, const sched::WorkUnit& unit) {
    const std::uint64_t window = program.layer.window(), channels = program.layer.weights().channels;
    const std::uint64_t pitch = tensor.whole.channels * window;
    const std::uint64_t with = std::min<std::uint64_t>(
        unit.kernels, cached.kernels > unit.first_kernel ? cached.kernels - unit.first_kernel : 0);
    const std::uint64_t kept = std::min<std::uint64_t>(cached.channels, channels) * window;
    const std::uint64_t begin = tensor.address + unit.first_kernel * pitch;
    std::vector<StridedPieces> pieces;
    add(pieces, {begin + kept, channels * window - kept, with, pitch});
    add(pieces, {begin + with * pitch, channels * window, unit.kernels - with, pitch});
    add(pieces, {program.parameter_address + std::uint64_t{unit.first_kernel} * sched::kParameterBytes,
                 std::uint64_t{unit.kernels} * sched::kParameterBytes, 1, 0});
    return pieces;
}

std::vector<StridedPieces> result_pieces(const LayerProgram& program, std::uint64_t address,
                                         const sched::WorkUnit& unit) {
    const Convolution& layer = program.layer;
    std::vector<StridedPieces> pieces;
    if (layer.sums_pixels) {
        add(pieces, {address + std::uint64_t{4} * unit.first_kernel, std::uint64_t{4} * unit.kernels, 1, 0});
        return pieces;
    }
    const std::uint64_t width = layer.output_width(), plane = layer.positions();
    add(pieces, {address + unit.first_kernel * plane + unit.band.begin * width,
                 (unit.band.end - unit.band.begin) * width, unit.kernels, plane});
    return pieces;
}

std::vector<StridedPieces> subgraph_pieces(const AcceleratorProgram& program,
                                           const std::vector<sched::WeightSlice>& slices) {
    std::vector<StridedPieces> pieces;
    for (std::size_t t = 0; t < slices.size(); ++t) {
        const TensorProgram& tensor = program.tensors[t];
        const std::uint64_t window = std::uint64_t{tensor.side} * tensor.side;
        add(pieces, {tensor.address, slices[t].channels * window, slices[t].kernels, tensor.whole.channels * window});
    }
    return pieces;
}

std::uint64_t total_bytes(const std::vector<StridedPieces>& pieces) {
    std::uint64_t sum = 0;
    for (const StridedPieces& piece : pieces) sum += piece.total();
    return sum;
}

std::uint64_t bursts_of(const std::vector<StridedPieces>& pieces, std::uint64_t burst_bytes) {
    std::uint64_t sum = 0;
    for (const StridedPieces& piece : pieces)
        for (std::uint64_t i = 0; i < piece.count; ++i) {
            const std::uint64_t begin = piece.address + i * piece.pitch;
            sum += (begin + piece.bytes - 1) / burst_bytes - begin / burst_bytes + 1;
        }
    return sum;
}

std::uint64_t requests_of(const std::vector<StridedPieces>& pieces, std::uint64_t request_bytes) {
    std::uint64_t sum = 0;
    for (const StridedPieces& piece : pieces) sum += piece.count * ceil_div(piece.bytes, request_bytes);
    return sum;
}

}  // namespace switchyard::hw
