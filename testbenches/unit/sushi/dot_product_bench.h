// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>

#include "switchyard/hw/dot_product_array/dot_product_array.h"
#include "switchyard/hw/numerics/requantise.h"
#include "switchyard/hw/on_chip_buffer/on_chip_buffer.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/tlm/extended_payload.h"

namespace switchyard::test {

/// A layer with random values, and what it must give.
struct RandomLayer {
    sched::Convolution layer;
    sched::WeightSlice cached;
    std::vector<std::int8_t> weights;   ///< [kernel][channel][window]
    std::vector<std::int8_t> input;     ///< [channel][row][column]
    std::vector<std::int8_t> residual;  ///< [kernel][position]
    std::vector<std::int32_t> biases;
    std::vector<hw::QuantisedMultiplier> multipliers;

    RandomLayer(RandomSource& random, const sched::DotProductShape& shape) {
        layer.side = random.choose(std::vector<std::uint32_t>{1, 1, 3, 3, 5, 7});
        layer.stride = random.integer(1, 2);
        layer.height = random.integer(1, 9);
        layer.width = random.integer(1, 9);
        layer.channels = random.integer(1, 14);
        layer.kernels = random.integer(1, 10);
        const std::uint32_t slices = ceil_div(layer.window(), sched::kEngineInputs);
        if (layer.side > 1 && slices <= shape.columns && random.chance(0.3)) {
            layer.depthwise = true;
            layer.kernels = layer.channels;
        }
        layer.sums_pixels = layer.side == 1 && random.chance(0.2);
        layer.residual = !layer.sums_pixels && random.chance(0.3);
        if (random.chance(0.6)) {
            cached.kernels = random.integer(1, layer.kernels + 2);
            cached.channels = random.integer(1, layer.weights().channels + 2);
            if (layer.depthwise) cached.channels = 1;
        }
        const auto fill = [&random](std::vector<std::int8_t>& values, std::uint64_t count) {
            for (std::uint64_t i = 0; i < count; ++i)
                values.push_back(static_cast<std::int8_t>(static_cast<int>(random.integer(0, 255)) - 128));
        };
        fill(weights, layer.weight_bytes());
        fill(input, layer.input_bytes());
        if (layer.residual) fill(residual, layer.kernels * layer.positions());
        for (std::uint32_t k = 0; k < layer.kernels; ++k) {
            biases.push_back(static_cast<std::int32_t>(random.integer(0, 200000)) - 100000);
            multipliers.push_back(
                {static_cast<std::int32_t>(random.integer(1U << 30, 0x7FFFFFFF)), random.integer(0, 14)});
        }
    }

    /// By the definition of a convolution, position by position.
    std::vector<std::uint8_t> results(std::int32_t input_zero, std::int32_t output_zero) const {
        std::vector<std::uint8_t> bytes;
        const auto padding = static_cast<int>(layer.padding());
        for (std::uint32_t k = 0; k < layer.kernels; ++k) {
            std::int32_t all = biases[k];
            for (std::uint32_t y = 0; y < layer.output_height(); ++y)
                for (std::uint32_t x = 0; x < layer.output_width(); ++x) {
                    std::int32_t sum = 0;
                    for (std::uint32_t c = 0; c < layer.weights().channels; ++c)
                        for (std::uint32_t tap = 0; tap < layer.window(); ++tap) {
                            const int row = static_cast<int>(y * layer.stride + tap / layer.side) - padding;
                            const int column = static_cast<int>(x * layer.stride + tap % layer.side) - padding;
                            const bool inside = row >= 0 && column >= 0 && row < static_cast<int>(layer.height) &&
                                                column < static_cast<int>(layer.width);
                            const std::size_t channel = layer.depthwise ? k : c;
                            const std::int32_t value =
                                inside ? input[(channel * layer.height + static_cast<std::size_t>(row)) * layer.width +
                                               static_cast<std::size_t>(column)]
                                       : input_zero;
                            sum +=
                                value * weights[(std::size_t{k} * layer.weights().channels + c) * layer.window() + tap];
                        }
                    all += sum;
                    if (layer.sums_pixels) continue;
                    const std::size_t position = (k * layer.output_height() + y) * layer.output_width() + x;
                    bytes.push_back(static_cast<std::uint8_t>(hw::quantised_output(
                        sum + biases[k], multipliers[k], layer.residual ? residual[position] : output_zero)));
                }
            if (layer.sums_pixels)
                for (int i = 0; i < 4; ++i)
                    bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint32_t>(all) >> 8 * i));
        }
        return bytes;
    }
};

/// The array between buffers that the test fills.
class DotProductBench : public sc_core::sc_module {
public:
    static constexpr std::int32_t kInputZero = -7, kOutputZero = 3;

    DotProductBench(const sc_core::sc_module_name& name, const hw::DotProductArray::Config& config,
                    const hw::DotProductCoreFactory& make_core = &hw::make_dot_product_core,
                    const hw::LineBufferFactory& make_line_buffer = &hw::make_line_buffer)
        : sc_module(name), array("array", config, registry, make_core, make_line_buffer), shape_(config.shape()) {
        command.bind(array.command);
        array.persistent.bind(persistent.socket);
        array.dynamic.bind(dynamic.socket);
        array.streaming.bind(streaming.socket);
        array.parameters.bind(parameters.socket);
        array.output.bind(output.socket);
        for (std::size_t i = 0; i < 5; ++i) to_buffer[i].bind(*sockets_[i]);
    }

    /// Results of all units, put together; "" or what went wrong. `band_rows`: output rows of a unit.
    std::vector<std::uint8_t> run(const RandomLayer& random, std::uint32_t band_rows, std::uint64_t& cycles) {
        const sched::Convolution& layer = random.layer;
        sched::TileBuffers buffers;
        buffers.output = 8 * std::uint64_t{band_rows} * layer.output_width() * 5 * shape_.rows;
        const sched::ArrayMapping mapping = map_to_array(layer, shape_);
        std::vector<std::uint8_t> results(layer.output_bytes());
        const std::uint32_t channels = layer.weights().channels, window = layer.window();
        const std::uint32_t step = layer.sums_pixels ? layer.output_height() : band_rows;
        // The slice in the persistent buffer, 16 bytes from its begin.
        std::vector<std::uint8_t> kept;
        for (std::uint32_t k = 0; k < std::min(random.cached.kernels, layer.kernels); ++k)
            for (std::uint32_t i = 0; i < random.cached.channels * window; ++i)
                kept.push_back(i < channels * window ? byte_of(random.weights[std::size_t{k} * channels * window + i])
                                                     : 0x55);
        write(0, 16, kept);
        for (std::uint32_t first = 0; first < layer.kernels; first += mapping.kernels_per_tile)
            for (std::uint32_t row = 0; row < layer.output_height(); row += step) {
                const std::uint32_t kernels = std::min(mapping.kernels_per_tile, layer.kernels - first);
                DotProductWorkExtension& work = work_.extension();
                work.layer = layer;
                work.cached = random.cached;
                work.unit = {};
                work.unit.first_kernel = first;
                work.unit.kernels = kernels;
                work.unit.band = row_band(layer, row, std::min(layer.output_height(), row + step));
                const sched::RowBand& band = work.unit.band;
                work.input_begin = band.input_begin;
                work.input_end = band.input_end;
                work.persistent_address = 16;
                work.dynamic_address = 32;
                work.input_address = 48;
                work.parameter_address = 64;
                work.output_address = 80;
                const std::uint32_t positions = (band.end - band.begin) * layer.output_width();
                work.residual_address = 80 + std::uint64_t{kernels} * positions * 4;
                work.input_zero = kInputZero;
                work.output_zero = kOutputZero;
                work.has_values = true;
                std::vector<std::uint8_t> distinct, input, records, residual;
                for (std::uint32_t k = first; k < first + kernels; ++k) {
                    const std::uint32_t from =
                        k < random.cached.kernels ? std::min(random.cached.channels, channels) : 0;
                    for (std::uint32_t i = from * window; i < channels * window; ++i)
                        distinct.push_back(byte_of(random.weights[std::size_t{k} * channels * window + i]));
                    std::uint8_t record[9];
                    std::memcpy(record, &random.biases[k], 4);
                    std::memcpy(record + 4, &random.multipliers[k].m0, 4);
                    record[8] = static_cast<std::uint8_t>(random.multipliers[k].shift);
                    records.insert(records.end(), record, record + 9);
                    for (std::uint32_t p = 0; layer.residual && p < positions; ++p)
                        residual.push_back(
                            byte_of(random.residual[k * layer.positions() + row * layer.output_width() + p]));
                }
                for (std::uint32_t c = 0; c < layer.channels; ++c)
                    for (std::uint32_t i = band.input_begin * layer.width; i < band.input_end * layer.width; ++i)
                        input.push_back(byte_of(random.input[std::size_t{c} * layer.height * layer.width + i]));
                write(1, 32, distinct);
                write(2, 48, input);
                write(3, 64, records);
                write(4, work.residual_address, residual);
                sc_core::sc_time delay;
                ::tlm::tlm_generic_payload& payload = work_.fresh();
                command->b_transport(payload, delay);
                if (payload.is_response_error()) return {};
                cycles += work.cycles;
                const std::uint32_t bytes = layer.sums_pixels ? 4 : positions;
                std::vector<std::uint8_t> out(std::size_t{bytes} * kernels);
                read(4, 80, out);
                for (std::uint32_t k = 0; k < kernels; ++k)
                    std::copy_n(
                        &out[std::size_t{k} * bytes], bytes,
                        &results[layer.sums_pixels ? std::size_t{4} * (first + k)
                                                   : (first + k) * layer.positions() + row * layer.output_width()]);
            }
        return results;
    }

    SimulationRegistry registry;
    hw::DotProductArray array;
    hw::OnChipBuffer persistent{"persistent", {1 << 16}, registry}, dynamic{"dynamic", {1 << 16}, registry},
        streaming{"streaming", {1 << 16}, registry}, parameters{"parameters", {1 << 12}, registry},
        output{"output", {1 << 16}, registry};
    tlm_utils::simple_initiator_socket<DotProductBench> command{"command"};
    tlm_utils::simple_initiator_socket<DotProductBench> to_buffer[5];

private:
    static std::uint8_t byte_of(std::int8_t value) { return static_cast<std::uint8_t>(value); }
    void access(bool writes, std::size_t buffer, std::uint64_t address, std::vector<std::uint8_t>& bytes) {
        if (bytes.empty()) return;
        ::tlm::tlm_generic_payload payload;
        payload.set_command(writes ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(bytes.data());
        payload.set_data_length(static_cast<unsigned>(bytes.size()));
        payload.set_streaming_width(static_cast<unsigned>(bytes.size()));
        to_buffer[buffer]->transport_dbg(payload);
    }
    void write(std::size_t buffer, std::uint64_t address, std::vector<std::uint8_t> bytes) {
        access(true, buffer, address, bytes);
    }
    void read(std::size_t buffer, std::uint64_t address, std::vector<std::uint8_t>& bytes) {
        access(false, buffer, address, bytes);
    }

    sched::DotProductShape shape_;
    ExtendedPayload<DotProductWorkExtension> work_;
    tlm_utils::multi_passthrough_target_socket<hw::OnChipBuffer>* sockets_[5] = {
        &persistent.socket, &dynamic.socket, &streaming.socket, &parameters.socket, &output.socket};
};

}  // namespace switchyard::test
