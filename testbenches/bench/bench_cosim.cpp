// SPDX-License-Identifier: Apache-2.0
#include <Vrtl_pe_array_16x16_fp32.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>

#include "switchyard/hw/scratchpad/scratchpad.h"
#include "switchyard/rtl/common/clocked_model.h"
#include "switchyard/rtl/pe_array/make_pe_array.h"
#include "switchyard/tlm/extended_payload.h"

// Host time of the RTL of a 16 x 16 array: behind its TLM wrapper, and driven by nothing but a loop. Both do the same
// work: blocks of 16 x 16 sums of kReduction products with new random operands in every cycle, results taken as they
// come.
namespace {

using namespace switchyard;

constexpr unsigned kSize = 16, kReduction = 256, kBlocks = 8;
constexpr std::uint64_t kCycles = std::uint64_t{kReduction} * kBlocks + 3 * kSize - 2;

std::vector<std::uint16_t> random_operands(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint16_t> values(count);
    for (std::uint16_t& value : values)  // of either sign, from 2^-7 up to 2
        value = static_cast<std::uint16_t>((random() & 0x8000u) | (8 + random() % 8) << 10 | (random() & 0x3FFu));
    return values;
}

class BareArray {
public:
    BareArray() {
        model_->rst_ni = 0;
        edges();
        model_->rst_ni = 1;
        model_->in_rows_i = kSize;
        model_->in_columns_i = 0xFFFF;
        model_->in_accumulators_i = 1;
        model_->in_accumulator_i = 0;
        model_->out_ready_i = 1;
    }

    void run() {
        for (std::uint64_t cycle = 0; cycle < kCycles; ++cycle) {
            model_->in_valid_i = cycle < std::uint64_t{kReduction} * kBlocks;
            model_->in_first_i = cycle % kReduction == 0;
            model_->in_last_i = cycle % kReduction == kReduction - 1;
            const std::size_t wave = cycle * kSize % rows_.size();
            std::memcpy(model_->row_i.data(), &rows_[wave], kSize * 2);
            std::memcpy(model_->column_i.data(), &columns_[wave], kSize * 2);
            edges();
            for (unsigned word = 0; word < kSize; ++word) results_ ^= model_->lane_o.at(word);
        }
        benchmark::DoNotOptimize(results_);
    }

private:
    void edges() {
        model_->clk_i = 0;
        model_->eval();
        model_->clk_i = 1;
        model_->eval();
    }

    rtl::ContextModel<Vrtl_pe_array_16x16_fp32> clocked_;
    Vrtl_pe_array_16x16_fp32* const model_ = &clocked_.top();
    std::vector<std::uint16_t> rows_ = random_operands(kSize * 1024, 1), columns_ = random_operands(kSize * 1024, 2);
    std::uint32_t results_ = 0;
};

/// The array with its scratchpad, in which real operands lie and into which real results go.
class WrappedArray : public sc_core::sc_module {
public:
    explicit WrappedArray(const sc_core::sc_module_name& module_name)
        : sc_module(module_name), array_(rtl::make_pe_array("pe_array", configuration(), registry_)) {
        command_.bind(array_->command);
        array_->scratchpad.bind(scratchpad_.pe_array);
        network_.bind(scratchpad_.network_interface);
        dispatcher_.bind(scratchpad_.dispatcher);
        controller_.bind(scratchpad_.controller);
    }

    void fill() {
        poke(kInputs, random_operands(kSize * kReduction * kBlocks, 1));
        poke(kWeights, random_operands(kSize * kReduction, 2));
        kernel_.rows = kernel_.columns = 1;
        kernel_.output = kOutputs;
        for (int step = 0; step < static_cast<int>(kReduction); ++step) kernel_.steps.push_back({2 * step, 2 * step});
        blocks_.resize(kBlocks);
        for (unsigned n = 0; n < kBlocks; ++n) {
            blocks_[n].kernel = &kernel_;
            for (unsigned i = 0; i < kSize; ++i) {
                BlockAddresses::Row row;
                row.input = static_cast<int>(kInputs + 2 * kReduction * (n * kSize + i));
                row.output = 2 * kSize * (n * kSize + i);
                blocks_[n].rows.push_back(row);
                BlockAddresses::Column column;
                column.weights = static_cast<int>(kWeights + 2 * kReduction * i);
                column.output = 2 * i;
                blocks_[n].columns.push_back(column);
            }
        }
    }

    void run() {
        work_->rows = work_->columns = kSize;
        work_->reduction = kReduction;
        work_->repeats = kBlocks;
        work_->addresses = blocks_.data();
        work_->input_offset = kInputs;
        work_->weight_offset = kWeights;
        work_->output_offset = kOutputs;
        ::tlm::tlm_generic_payload& payload = work_.fresh();
        command_->b_transport(payload, delay_);
        if (payload.is_response_error()) throw std::runtime_error(registry_.errors().front());
        if (work_->cycles != kCycles) throw std::runtime_error("not the cycles of the bare loop");
    }

private:
    static constexpr std::uint32_t kInputs = 0x8000, kWeights = 0x40000, kOutputs = 0x60000;

    static hw::PeArray::Config configuration() {
        hw::PeArray::Config config;
        config.impl = "rtl";
        config.rows = config.columns = kSize;
        return config;
    }
    static hw::Scratchpad::Config store() {
        hw::Scratchpad::Config config;
        config.latency_cycles = 0;
        return config;
    }
    void poke(std::uint64_t address, std::vector<std::uint16_t> values) {
        ::tlm::tlm_generic_payload payload;
        payload.set_write();
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(values.data()));
        payload.set_data_length(static_cast<unsigned>(2 * values.size()));
        payload.set_streaming_width(payload.get_data_length());
        network_->transport_dbg(payload);
    }

    SimulationRegistry registry_;
    hw::Scratchpad scratchpad_{"scratchpad", store(), registry_};
    std::unique_ptr<hw::PeArray> array_;
    tlm_utils::simple_initiator_socket<WrappedArray> command_{"command"}, network_{"network"},
        dispatcher_{"dispatcher"}, controller_{"controller"};
    ExtendedPayload<PeWorkExtension> work_;
    KernelAddresses kernel_;
    std::vector<BlockAddresses> blocks_;
    sc_core::sc_time delay_;
};

std::unique_ptr<WrappedArray> wrapped;

template <class Run>
double seconds_of(Run&& run) {
    const std::clock_t begin = std::clock();
    run();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

void count(benchmark::State& state) {
    state.counters["cycles"] =
        benchmark::Counter(static_cast<double>(state.iterations() * kCycles), benchmark::Counter::kIsRate);
}

void bare_loop(benchmark::State& state) {
    BareArray bare;
    while (state.KeepRunning()) bare.run();
    count(state);
}
BENCHMARK(bare_loop)->Unit(benchmark::kMillisecond);

/// `ratio_to_bare_loop`: cycles a second behind the wrapper by those of the loop, each the best of its runs, which
/// take turns.
void behind_tlm_wrapper(benchmark::State& state) {
    BareArray bare;
    double best_wrapped = std::numeric_limits<double>::max(), best_bare = best_wrapped;
    for (unsigned turn = 0; turn < 12; ++turn) {
        best_bare = std::min(best_bare, seconds_of([&] { bare.run(); }));
        best_wrapped = std::min(best_wrapped, seconds_of([&] { wrapped->run(); }));
    }
    while (state.KeepRunning()) wrapped->run();
    count(state);
    state.counters["ratio_to_bare_loop"] = best_bare / best_wrapped;
}
BENCHMARK(behind_tlm_wrapper)->Unit(benchmark::kMillisecond);

}  // namespace

int sc_main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    wrapped = std::make_unique<WrappedArray>("bench");
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    wrapped->fill();
    benchmark::RunSpecifiedBenchmarks();
    wrapped.reset();
    return 0;
}
