// SPDX-License-Identifier: Apache-2.0
#include <Vrtl_dispatcher.h>
#include <Vrtl_pe_array_16x16_fp32.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>

#include "switchyard/hw/pe_array/stepped_pe_array.h"
#include "switchyard/hw/scratchpad/scratchpad.h"
#include "switchyard/rtl/common/clocked_model.h"
#include "switchyard/rtl/dispatcher/rtl_dispatcher.h"
#include "switchyard/rtl/pe_array/verilated_core.h"
#include "switchyard/tlm/extended_payload.h"

// Host time of the RTL of a tile, the dispatcher and a PE array of 16 x 16, at work on one layer: behind TLM sockets,
// with a scratchpad and real operands, and driven by nothing but loops that show both Verilated modules, pin by pin and
// cycle by cycle, what they saw there.
namespace {

using namespace switchyard;

constexpr unsigned kSize = 16, kSamples = 64, kChannels = 64, kReduction = 256;
constexpr std::uint32_t kInputs = 0x8000, kWeights = 0x20000, kOutputs = 0x40000;

struct Stimuli {
    std::vector<hw::ArrayInput> array;
    std::vector<rtl::DispatcherInputs> dispatcher;
};

class RecordingCore : public hw::ArrayCore {
public:
    RecordingCore(std::unique_ptr<hw::ArrayCore> core, std::vector<hw::ArrayInput>& inputs)
        : core_(std::move(core)), inputs_(inputs) {}
    void step(const hw::ArrayInput& in, hw::ArrayOutput& out) override {
        inputs_.push_back(in);
        core_->step(in, out);
    }
    hw::ArrayState state() const override { return core_->state(); }

private:
    std::unique_ptr<hw::ArrayCore> core_;
    std::vector<hw::ArrayInput>& inputs_;
};

class RecordingDispatcher : public rtl::DispatcherModel {
public:
    explicit RecordingDispatcher(std::vector<rtl::DispatcherInputs>& inputs) : inputs_(inputs) { out_ = model_->out(); }
    void step() override {
        inputs_.push_back(in);
        model_->in = in;
        model_->step();
        out_ = model_->out();
    }
    std::uint64_t cycles() const override { return model_->cycles(); }
    void keep_waveform(const std::string& file) override { model_->keep_waveform(file); }
    std::string evidence() override { return model_->evidence(); }
    void save_coverage(const std::string& file) const override { model_->save_coverage(file); }

private:
    std::unique_ptr<rtl::DispatcherModel> model_ = rtl::make_dispatcher_model();
    std::vector<rtl::DispatcherInputs>& inputs_;
};

/// Dispatcher, PE array and scratchpad; the network interface takes what is sent.
class Tile : public sc_core::sc_module {
public:
    /// Keeps in `stimuli`, unless null, what the modules see.
    Tile(const sc_core::sc_module_name& module_name, Stimuli* stimuli)
        : sc_module(module_name),
          array_("pe_array", array_configuration(), registry_,
                 [stimuli](const std::string&) -> std::unique_ptr<hw::ArrayCore> {
                     auto core = rtl::make_verilated_core(kSize, kSize, false);
                     if (stimuli == nullptr) return core;
                     return std::make_unique<RecordingCore>(std::move(core), stimuli->array);
                 }),
          dispatcher_("dispatcher", {}, registry_,
                      stimuli == nullptr ? rtl::make_dispatcher_model()
                                         : std::make_unique<RecordingDispatcher>(stimuli->dispatcher)) {
        array_.scratchpad.bind(scratchpad_.pe_array);
        dispatcher_.scratchpad.bind(scratchpad_.dispatcher);
        dispatcher_.pe_array.bind(array_.command);
        dispatcher_.network_interface.bind(sends_);
        dispatch_.bind(dispatcher_.dispatch);
        configure_.bind(dispatcher_.configure);
        controller_.bind(scratchpad_.controller);
        network_.bind(scratchpad_.network_interface);
        sends_.register_b_transport(this, &Tile::take);
    }

    void load() {
        KernelBytes kernel = encode(gemm());
        access(controller_, ::tlm::TLM_WRITE_COMMAND, 0, kernel.data(), kernel.size());
        std::uint32_t kernels = 1;
        access(configure_, ::tlm::TLM_WRITE_COMMAND, 0, &kernels, sizeof kernels);
        std::mt19937 random(1);
        for (const auto& [address, count] : {std::pair(kInputs, kSamples), std::pair(kWeights, kChannels)}) {
            std::vector<std::uint16_t> values(std::size_t{count} * kReduction);
            for (std::uint16_t& value : values)  // of either sign, from 2^-7 up to 2
                value =
                    static_cast<std::uint16_t>((random() & 0x8000u) | (8 + random() % 8) << 10 | (random() & 0x3FFu));
            access(network_, ::tlm::TLM_WRITE_COMMAND, address, values.data(), 2 * values.size());
        }
        values_.shape.kind = OpKind::matmul;
        values_.shape.in_channels = kReduction;
        values_.shape.out_channels = kChannels;
        values_.sources.push_back({kInputs, {}});
    }

    void run() {
        DispatchExtension& request = dispatch_payload_.extension();
        request = {};
        request.kernel_count = 1;
        request.dyn_dim = kSamples;
        request.values = &values_;
        request.input_offset = kInputs;
        request.weight_offset = kWeights;
        request.output_offset = kOutputs;
        ::tlm::tlm_generic_payload& payload = dispatch_payload_.fresh();
        dispatch_->b_transport(payload, delay_);
        if (payload.is_response_error()) throw std::runtime_error(registry_.errors().front());
    }

private:
    static hw::PeArray::Config array_configuration() {
        hw::PeArray::Config config;
        config.impl = "rtl";
        config.rows = config.columns = kSize;
        return config;
    }
    static Kernel gemm() {
        Kernel kernel;
        kernel.total = {kSamples, kChannels, kReduction, 1, 1, 1, 1};
        kernel.loop(Level::pe, Dim::n).block = kernel.loop(Level::pe, Dim::k).block = kSize;
        kernel.loop(Level::spm, Dim::n).block = kSamples / kSize;
        kernel.loop(Level::spm, Dim::k).block = kChannels / kSize;
        kernel.loop(Level::spm, Dim::c).block = kReduction;
        return kernel;
    }
    template <class Socket>
    void access(Socket& socket, ::tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes) {
        ::tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(static_cast<unsigned char*>(data));
        payload.set_data_length(static_cast<unsigned>(bytes));
        payload.set_streaming_width(static_cast<unsigned>(bytes));
        sc_core::sc_time delay;
        socket->b_transport(payload, delay);
        if (payload.is_response_error()) throw std::runtime_error("the tile is not loaded");
    }
    void take(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }

    SimulationRegistry registry_;
    hw::Scratchpad scratchpad_{"scratchpad", {}, registry_};
    hw::SteppedPeArray array_;
    rtl::RtlDispatcher dispatcher_;
    tlm_utils::simple_target_socket<Tile> sends_{"sends"};
    tlm_utils::simple_initiator_socket<Tile> dispatch_{"dispatch"}, configure_{"configure"}, controller_{"controller"},
        network_{"network"};
    OperatorValues values_;
    ExtendedPayload<DispatchExtension> dispatch_payload_;
    sc_core::sc_time delay_;
};

/// A Verilated module in the hand of a loop.
template <class Top>
class BareModel {
protected:
    BareModel() {
        model_.rst_ni = 0;
        edges();
        model_.rst_ni = 1;
    }
    void edges() {
        model_.clk_i = 0;
        model_.eval();
        model_.clk_i = 1;
        model_.eval();
    }

private:
    rtl::ContextModel<Top> clocked_;

protected:
    Top& model_ = clocked_.top();
};

class BareArray : BareModel<Vrtl_pe_array_16x16_fp32> {
public:
    void run(const std::vector<hw::ArrayInput>& stimuli) {
        for (const hw::ArrayInput& in : stimuli) {
            model_.in_valid_i = in.valid;
            model_.in_first_i = in.first;
            model_.in_last_i = in.last;
            model_.in_accumulator_i = static_cast<std::uint8_t>(in.accumulator);
            model_.in_rows_i = static_cast<std::uint8_t>(in.rows);
            model_.in_accumulators_i = static_cast<std::uint8_t>(in.accumulators);
            model_.in_columns_i = static_cast<std::uint16_t>((1u << in.column_end) - (1u << in.column_begin));
            model_.out_ready_i = in.out_ready;
            std::memcpy(model_.row_i.data(), in.row_operands.data(), kSize * 2);
            std::memcpy(model_.column_i.data(), in.column_operands.data(), kSize * 2);
            edges();
            for (unsigned word = 0; word < kSize; ++word) results_ ^= model_.lane_o.at(word);
        }
        benchmark::DoNotOptimize(results_);
    }

private:
    std::uint32_t results_ = 0;
};

class BareDispatcher : BareModel<Vrtl_dispatcher> {
public:
    void run(const std::vector<rtl::DispatcherInputs>& stimuli) {
        for (const rtl::DispatcherInputs& in : stimuli) {
            model_.cmd_valid_i = in.cmd_valid;
            model_.cmd_configure_i = in.cmd_configure;
            model_.cmd_first_i = in.cmd_first;
            model_.cmd_count_i = in.cmd_count;
            model_.cmd_dyn_dim_i = in.cmd_dyn_dim;
            model_.cmd_invocation_i = in.cmd_invocation;
            model_.cmd_continued_i = in.cmd_continued;
            model_.cmd_rank_i = in.cmd_rank;
            model_.cmd_multicast_i = in.cmd_multicast;
            model_.cmd_input_offset_i = in.cmd_input_offset;
            model_.cmd_weight_offset_i = in.cmd_weight_offset;
            model_.cmd_output_offset_i = in.cmd_output_offset;
            model_.cmd_channelwise_i = in.cmd_channelwise;
            model_.cmd_in_channels_i = in.cmd_in_channels;
            model_.cmd_in_rows_i = in.cmd_in_rows;
            model_.cmd_in_columns_i = in.cmd_in_columns;
            model_.fetch_ready_i = in.fetch_ready;
            model_.data_valid_i = in.data_valid;
            model_.data_error_i = in.data_error;
            if (in.data_valid) std::memcpy(model_.data_i.data(), in.data.data(), in.data.size());
            model_.instr_ready_i = in.instr_ready;
            model_.instr_error_i = in.instr_error;
            model_.result_ready_i = in.result_ready;
            edges();
            results_ += model_.instr_valid_o + model_.instr_position_o;
        }
        benchmark::DoNotOptimize(results_);
    }

private:
    std::uint64_t results_ = 0;
};

Stimuli stimuli;
std::unique_ptr<Tile> recorded, tile;

template <class Run>
double seconds_of(Run&& run) {
    const std::clock_t begin = std::clock();
    run();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// `ratio_to_bare_loops`: the time of the loops by that of the tile, each the best of its runs, which take turns.
/// `dispatcher_share`: of the loops' time.
void tile_behind_tlm(benchmark::State& state) {
    BareArray array;
    BareDispatcher dispatcher;
    double best_tile = std::numeric_limits<double>::max(), best_array = best_tile, best_dispatcher = best_tile;
    for (unsigned turn = 0; turn < 12; ++turn) {
        best_array = std::min(best_array, seconds_of([&] { array.run(stimuli.array); }));
        best_dispatcher = std::min(best_dispatcher, seconds_of([&] { dispatcher.run(stimuli.dispatcher); }));
        best_tile = std::min(best_tile, seconds_of([] { tile->run(); }));
    }
    while (state.KeepRunning()) tile->run();
    state.counters["array_cycles"] = static_cast<double>(stimuli.array.size());
    state.counters["dispatcher_cycles"] = static_cast<double>(stimuli.dispatcher.size());
    state.counters["dispatcher_share"] = best_dispatcher / (best_array + best_dispatcher);
    state.counters["ratio_to_bare_loops"] = (best_array + best_dispatcher) / best_tile;
}
BENCHMARK(tile_behind_tlm)->Unit(benchmark::kMillisecond);

}  // namespace

int sc_main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    recorded = std::make_unique<Tile>("recorded", &stimuli);
    tile = std::make_unique<Tile>("tile", nullptr);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    recorded->load();
    tile->load();
    stimuli.dispatcher.clear();  // of the configuration
    recorded->run();
    benchmark::RunSpecifiedBenchmarks();
    tile.reset();
    recorded.reset();
    return 0;
}
