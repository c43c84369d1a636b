// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/dot_product_array/dot_product_array.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/numerics/requantise.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::hw {

using sched::Convolution;
using sched::kEngineInputs;
using Kind = DotProductInput::Kind;

DotProductArray::DotProductArray(const sc_core::sc_module_name& module_name, const Config& config,
                                 SimulationRegistry& registry, const DotProductCoreFactory& make_core,
                                 LineBufferFactory make_line_buffer)
    : sc_module(module_name),
      command("command"),
      persistent("persistent"),
      dynamic("dynamic"),
      streaming("streaming"),
      parameters("parameters"),
      output("output"),
      config_(config),
      clock_(config.clock_ghz),
      registry_(registry),
      make_line_buffer_(std::move(make_line_buffer)) {
    if (config.impl != "analytic") core_ = make_core(config.impl, config.shape(), name());
    command.register_b_transport(this, &DotProductArray::b_transport);
    register_counters(registry, name(), kCounters, [this]() -> const Stats& { return stats_; });
}

void DotProductArray::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* const work = payload.get_extension<DotProductWorkExtension>();
    if (work == nullptr) return payload.set_response_status(::tlm::TLM_COMMAND_ERROR_RESPONSE);
    const sched::ArrayMapping mapping = map_to_array(work->layer, config_.shape());
    try {
        if (work->unit.kernels == 0 || work->unit.kernels > mapping.kernels_per_tile)
            throw std::runtime_error(fmt::format("expected a unit of 1 to {} kernels, found {}",
                                                 mapping.kernels_per_tile, work->unit.kernels));
        Operands operands;
        if (work->has_values) operands = fetch(*work);
        if (core_) {
            work->cycles = step_through(*work, work->has_values ? &operands : nullptr);
        } else {
            work->cycles = mapping.passes * pass_cycles(work->layer, work->unit.band).total(work->unit.kernels);
            if (work->has_values) accumulate(*work, operands);
        }
        if (work->has_values) put_out(*work, operands);
    } catch (const RtlFault& fault) {
        throw ModelError(*this, fault.what());
    } catch (const std::runtime_error& error) {
        registry_.add_error(*this, error.what());
        return payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    const std::uint64_t positions =
        std::uint64_t{work->unit.band.end - work->unit.band.begin} * work->layer.output_width();
    ++stats_.units;
    stats_.passes += mapping.passes;
    stats_.macs +=
        work->unit.kernels * std::uint64_t{work->layer.weights().channels} * work->layer.window() * positions;
    stats_.busy_cycles += work->cycles;
    delay += clock_.cycles(work->cycles);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

std::vector<std::uint8_t> DotProductArray::read(Socket& socket, std::uint64_t address, std::uint64_t bytes) {
    std::vector<std::uint8_t> data(bytes);
    if (bytes == 0) return data;
    ::tlm::tlm_generic_payload payload;
    payload.set_command(::tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    // The time of an access is part of the unit's.
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    if (payload.is_response_error())
        throw std::runtime_error(fmt::format("{}: expected to read {} bytes at {:#x}, found {}", socket.name(), bytes,
                                             address, payload.get_response_string()));
    return data;
}

void DotProductArray::write(Socket& socket, std::uint64_t address, std::vector<std::uint8_t> bytes) {
    ::tlm::tlm_generic_payload payload;
    payload.set_command(::tlm::TLM_WRITE_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(static_cast<unsigned>(bytes.size()));
    payload.set_streaming_width(static_cast<unsigned>(bytes.size()));
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    if (payload.is_response_error())
        throw std::runtime_error(fmt::format("{}: expected to write {} bytes at {:#x}, found {}", socket.name(),
                                             bytes.size(), address, payload.get_response_string()));
}

DotProductArray::Operands DotProductArray::fetch(const DotProductWorkExtension& work) {
    const Convolution& layer = work.layer;
    const std::size_t window = layer.window(), channels = layer.weights().channels;
    Operands operands;
    const std::vector<std::uint8_t> distinct =
        read(dynamic, work.dynamic_address,
             distinct_weight_bytes(layer, work.cached, work.unit.first_kernel, work.unit.kernels));
    const std::uint8_t* next = distinct.data();
    const std::size_t cached_bytes = std::min<std::size_t>(work.cached.channels, channels) * window;
    for (std::uint32_t k = 0; k < work.unit.kernels; ++k) {
        const std::uint32_t kernel = work.unit.first_kernel + k;
        std::size_t from_cache = 0;
        if (kernel < work.cached.kernels) {
            from_cache = cached_bytes;
            const std::vector<std::uint8_t> kept =
                read(persistent, work.persistent_address + std::uint64_t{kernel} * work.cached.channels * window,
                     cached_bytes);
            operands.weights.insert(operands.weights.end(), kept.begin(), kept.end());
        }
        operands.weights.insert(operands.weights.end(), next, next + (channels * window - from_cache));
        next += channels * window - from_cache;
    }

    const std::uint32_t padding = layer.padding(), held = work.input_end - work.input_begin;
    const sched::RowBand& band = work.unit.band;
    operands.columns = layer.width + 2 * padding;
    operands.first_row = std::int64_t{band.begin} * layer.stride - padding;
    operands.rows = (band.end - 1 - band.begin) * layer.stride + layer.side;
    const std::size_t first_channel = layer.depthwise ? work.unit.first_kernel : 0;
    const std::size_t count = layer.depthwise ? work.unit.kernels : layer.channels;
    operands.input.assign(count * operands.rows * operands.columns, static_cast<std::int8_t>(work.input_zero));
    for (std::size_t c = 0; c < count; ++c) {
        const std::vector<std::uint8_t> plane =
            read(streaming, work.input_address + (first_channel + c) * held * layer.width,
                 std::uint64_t{held} * layer.width);
        for (std::uint32_t r = 0; r < operands.rows; ++r) {
            const std::int64_t row = operands.first_row + r;
            if (row < 0 || row >= layer.height) continue;
            std::memcpy(&operands.input[(c * operands.rows + r) * operands.columns + padding],
                        &plane[static_cast<std::size_t>(row - work.input_begin) * layer.width], layer.width);
        }
    }
    operands.accumulators.assign(std::size_t{work.unit.kernels} * (band.end - band.begin) * layer.output_width(), 0);
    return operands;
}

void DotProductArray::accumulate(const DotProductWorkExtension& work, Operands& operands) const {
    const Convolution& layer = work.layer;
    const std::size_t width = layer.output_width(), rows = work.unit.band.end - work.unit.band.begin;
    const std::size_t channels = layer.weights().channels;
    for (std::size_t k = 0; k < work.unit.kernels; ++k)
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t tap = 0; tap < layer.window(); ++tap) {
                const std::int32_t weight = +operands.weights[(k * channels + c) * layer.window() + tap];
                if (weight == 0) continue;
                const std::int8_t* plane =
                    &operands.input[(layer.depthwise ? k : c) * operands.rows * operands.columns];
                for (std::size_t y = 0; y < rows; ++y) {
                    const std::int8_t* in =
                        plane + (y * layer.stride + tap / layer.side) * operands.columns + tap % layer.side;
                    std::int32_t* out = &operands.accumulators[(k * rows + y) * width];
                    for (std::size_t x = 0; x < width; ++x) out[x] += weight * in[x * layer.stride];
                }
            }
}

void DotProductArray::fill_weights(const DotProductWorkExtension& work, const Operands& operands, std::uint32_t pass,
                                   std::uint32_t kernel, DotProductInput& in) const {
    const Convolution& layer = work.layer;
    const sched::ArrayMapping mapping = map_to_array(layer, config_.shape());
    const std::uint32_t window = layer.window(), channels = layer.weights().channels;
    std::fill(in.bytes.begin(), in.bytes.end(), std::int8_t{0});
    for (std::uint32_t column = 0; column < config_.columns; ++column)
        for (std::uint32_t i = 0; i < kEngineInputs; ++i) {
            const std::uint32_t slice = pass * config_.columns + column;
            std::uint32_t channel = slice / mapping.slices, tap = slice % mapping.slices * kEngineInputs + i;
            if (layer.depthwise) {
                if (channel != kernel) continue;  // zero beside the kernel's own columns
                channel = 0;
            } else if (layer.side == 1) {
                channel = slice * kEngineInputs + i;
                tap = 0;
            }
            if (channel < channels && tap < window)
                in.bytes[std::size_t{column} * kEngineInputs + i] =
                    operands.weights[(std::size_t{kernel} * channels + channel) * window + tap];
        }
}

void DotProductArray::fill_input(const DotProductWorkExtension& work, const Operands& operands, std::uint32_t pass,
                                 std::int64_t row, std::uint32_t column, DotProductInput& in) const {
    const Convolution& layer = work.layer;
    const std::size_t top = static_cast<std::size_t>((row - work.unit.band.begin) * layer.stride);
    const std::uint32_t channels = layer.depthwise ? work.unit.kernels : layer.channels;
    std::fill(in.bytes.begin(), in.bytes.end(), std::int8_t{0});
    for (std::uint32_t i = 0; i < in.bytes.size(); ++i) {
        const std::uint32_t channel = pass * config_.columns * kEngineInputs + i;
        if (channel < channels)
            in.bytes[i] =
                operands.input[(channel * operands.rows + top) * operands.columns + std::size_t{column} * layer.stride];
    }
}

void DotProductArray::step_lines(const DotProductWorkExtension& work, const Operands& operands,
                                 const PassSequencer::Step& at, DotProductInput& in) {
    const Convolution& layer = work.layer;
    const sched::RowBand& band = work.unit.band;
    const std::uint32_t slices = map_to_array(layer, config_.shape()).slices;
    const std::uint32_t channels = layer.depthwise ? work.unit.kernels : layer.channels;
    // A channel whose columns are in two passes goes through the line buffer in both.
    const std::uint32_t begin = at.pass * config_.columns / slices;
    const std::uint32_t end = std::min(ceil_div((at.pass + 1) * config_.columns, slices), channels);
    std::vector<std::unique_ptr<LineBufferCore>>& lines = lines_[layer.side];
    for (std::size_t l = lines.size(); l < end - begin; ++l)
        lines.push_back(make_line_buffer_(config_.impl, layer.side, fmt::format("{}.line_buffer_{}", name(), l)));
    LineBufferPass pass = LineBufferPass::of(layer, band);
    pass.zero = static_cast<std::int8_t>(work.input_zero);
    const std::uint64_t row = at.pixel / layer.width, column = at.pixel % layer.width;
    // Rows of the padding are in the operands, but do not come in.
    const auto first = static_cast<std::size_t>(band.input_begin - operands.first_row);
    const bool is_window = at.kind == PassSequencer::Step::Kind::window;
    if (is_window) std::fill(in.bytes.begin(), in.bytes.end(), std::int8_t{0});
    std::vector<std::int8_t> window(layer.window());
    for (std::uint32_t channel = begin; channel < end; ++channel) {
        LineBufferCore& line = *lines[channel - begin];
        if (at.pixel == 0) line.begin(pass);
        const std::int8_t pixel =
            row < pass.rows
                ? operands.input[(channel * operands.rows + first + row) * operands.columns + layer.padding() + column]
                : std::int8_t{0};
        if (line.step(pixel, window.data()) != is_window)
            throw RtlFault(fmt::format("valid of line buffer {}: pixel {}: expected {}, found {}{}", channel - begin,
                                       at.pixel, is_window ? "a window" : "no window", is_window ? "none" : "one",
                                       line.evidence()));
        for (std::uint32_t tap = 0; is_window && tap < layer.window(); ++tap) {
            const std::uint32_t slice = channel * slices + tap / kEngineInputs;
            if (slice / config_.columns == at.pass)
                in.bytes[std::size_t{slice % config_.columns} * kEngineInputs + tap % kEngineInputs] = window[tap];
        }
    }
}

std::uint64_t DotProductArray::step_through(const DotProductWorkExtension& work, Operands* operands) {
    const sched::ArrayMapping mapping = map_to_array(work.layer, config_.shape());
    PassSequencer sequencer(work.layer, work.unit, mapping);
    std::uint64_t cycles = 0;
    if (operands == nullptr) {
        for (; !sequencer.done(); ++cycles) sequencer.next();
        return cycles;
    }
    DotProductInput in(config_.shape());
    DotProductOutput out(config_.shape());
    const std::size_t positions = operands->accumulators.size() / work.unit.kernels;
    std::vector<std::size_t> next(work.unit.kernels);  // position of each row's next sum
    const auto step = [&] {
        core_->step(in, out);
        for (std::uint32_t k = 0; k < work.unit.kernels; ++k)
            if (out.valid[k] != 0) operands->accumulators[k * positions + next[k]++ % positions] += out.sums[k];
    };
    for (; !sequencer.done(); ++cycles) {
        const PassSequencer::Step at = sequencer.next();
        in.kind = Kind::idle;
        if (at.kind == PassSequencer::Step::Kind::weights) {
            in.kind = Kind::weights;
            in.row = at.row;
            fill_weights(work, *operands, at.pass, at.row, in);
        } else if (at.kind == PassSequencer::Step::Kind::window) {
            in.kind = Kind::window;
            if (work.layer.side == 1) fill_input(work, *operands, at.pass, at.output_row, at.output_column, in);
        }
        if (at.has_pixel) step_lines(work, *operands, at, in);
        step();
    }
    // The rest is under way while the next unit's weights come in.
    in.kind = Kind::idle;
    for (std::uint64_t i = 0; i <= array_latency_cycles(config_.shape()); ++i) step();
    for (const std::size_t sums : next)
        if (sums != mapping.passes * positions)
            throw RtlFault(fmt::format("valid: expected {} sums of a row, found {}{}", mapping.passes * positions, sums,
                                       core_->evidence()));
    return cycles;
}

void DotProductArray::put_out(const DotProductWorkExtension& work, const Operands& operands) {
    const std::size_t kernels = work.unit.kernels, positions = operands.accumulators.size() / kernels;
    const std::vector<std::uint8_t> records =
        read(parameters, work.parameter_address, kernels * sched::kParameterBytes);
    const std::vector<std::uint8_t> residual =
        work.layer.residual ? read(output, work.residual_address, kernels * positions) : std::vector<std::uint8_t>();
    std::vector<std::uint8_t> results;
    for (std::size_t k = 0; k < kernels; ++k) {
        std::int32_t bias = 0;
        QuantisedMultiplier multiplier;
        const std::uint8_t* const record = &records[k * sched::kParameterBytes];
        std::memcpy(&bias, record, 4);
        std::memcpy(&multiplier.m0, record + 4, 4);
        multiplier.shift = record[8];
        const std::int32_t* const sums = &operands.accumulators[k * positions];
        if (work.layer.sums_pixels) {
            std::uint32_t sum = static_cast<std::uint32_t>(bias);
            for (std::size_t p = 0; p < positions; ++p) sum += static_cast<std::uint32_t>(sums[p]);
            const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&sum);
            results.insert(results.end(), bytes, bytes + 4);
            continue;
        }
        for (std::size_t p = 0; p < positions; ++p) {
            const std::int32_t offset =
                work.layer.residual ? static_cast<std::int8_t>(residual[k * positions + p]) : work.output_zero;
            results.push_back(static_cast<std::uint8_t>(quantised_output(sums[p] + bias, multiplier, offset)));
        }
    }
    write(output, work.output_address, std::move(results));
}

}  // namespace switchyard::hw
