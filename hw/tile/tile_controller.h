// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/messages/interface_protocol.h"
#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/hw/tile/profiler.h"
#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/sw_scheduler/adyna/rules/micro_batches.h"
#include "switchyard/sw_scheduler/adyna/rules/segments.h"
#include "switchyard/tlm/activity_log.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"
#include "switchyard/tlm/time_use.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

/// The controller of a tile: takes the program that arrives as config packets, and in each segment runs the tile's
/// operators, one micro-batch after another, as soon as inputs, weights, a free output slot and the PE array are
/// there (Adyna section VI-A: "the kernel execution is triggered by the arrival of input data").
///
/// Modelled: program load into the kernel store, the order of execution, double buffering of inputs and outputs,
/// prefetch of the next segment's weights into regions that the running one does not use, the profiler.
/// Counted: what each operator does with the tile's time in its segments, and what it waits for (TimeUses).
/// Decisions take no time of their own; the dispatcher's and the network interface's do.
/// Not modelled: instruction-level control of partial kernels; a unit is computed when all of its inputs are there.
///
/// Sockets: `events` from the network interface; `interface`, `dispatcher`, `dispatcher_config`, `scratchpad` to the
/// others.
class TileController : public sc_core::sc_module {
public:
    struct Config {
        unsigned mask_prefetch_units = 2;  ///< units whose recorded masks a gate reads ahead (trace-driven runs)
        double clock_ghz = 1.0;
        bool values = false;  ///< tensors have values, set by the composer: gates compute their masks
    };
    struct Stats {
        std::uint64_t units = 0;        ///< kernel invocations, empty units included
        std::uint64_t empty_units = 0;  ///< units that no sample reached
        std::uint64_t busy_cycles = 0;  ///< a kernel was running
        std::uint64_t macs = 0;
        std::uint64_t segments = 0;
    };
    /// Those that reports have.
    static constexpr StatCounter<Stats> kCounters[] = {{"units", "1", &Stats::units},
                                                       {"empty_units", "1", &Stats::empty_units},
                                                       {"busy_cycles", "cycles", &Stats::busy_cycles},
                                                       {"macs", "1", &Stats::macs},
                                                       {"segments", "1", &Stats::segments}};

    tlm_utils::passthrough_target_socket<TileController> events;
    tlm_utils::simple_initiator_socket<TileController> interface;
    tlm_utils::simple_initiator_socket<TileController> dispatcher;
    tlm_utils::simple_initiator_socket<TileController> dispatcher_config;
    tlm_utils::simple_initiator_socket<TileController> scratchpad;

    TileController(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

private:
    using Payload = ::tlm::tlm_generic_payload;

    /// Something that a unit waits for: since when it is here, and when it was sent.
    struct Arrival {
        std::uint64_t at = 0, sent = 0;  ///< ticks
    };
    struct Weights {
        const Edge* edge = nullptr;
        enum class State : std::uint8_t { absent, loading, present } state = State::absent;
        Arrival arrival = {};
    };
    struct Input {
        const Edge* edge = nullptr;
        std::vector<SampleIndexListPtr> index_lists;  ///< a unit; null until it is ready
        std::vector<Arrival> arrivals;                ///< a unit
    };
    struct Operator {
        const TileOperator* op = nullptr;
        const OperatorPlacement* placement = nullptr;
        std::vector<Input> inputs;
        std::vector<std::shared_ptr<const MergedSamples>> merged;  ///< merges: a unit
        std::vector<Weights> weights;
        std::vector<bool> masks_ready;  ///< gates: a unit
        unsigned masks_requested = 0;
        unsigned next_unit = 0;
        unsigned outputs_in_flight = 0;
        std::uint64_t masks_at = 0;  ///< ticks: arrival of the latest recorded masks
        Arrival output;              ///< of the word that the latest output has left, and when that could begin
        bool output_to_memory = false;
        std::uint16_t output_edge = kNone;
        int invoked_kernel = -1;          ///< in the store, of the batch's invocation; -1: none, or one for each unit
        bool invocation_counted = false;  ///< by the dispatcher
        rules::OutputSlots output_slots;
        bool done() const { return rules::is_done(next_unit, placement->units, outputs_in_flight); }
    };
    struct Completion {
        std::size_t index = 0;
        unsigned unit = 0;
    };

    void events_transport(Payload& payload, sc_core::sc_time& delay);
    void on_config(const InterfaceEvent& event);
    void commit_program(std::size_t size);
    void process();
    void run();
    void start_segment(std::uint16_t segment, std::uint32_t batch);
    void finish_segment();
    void prefetch_weights();
    std::vector<std::size_t> operators_of(int segment) const;
    rules::WeightsFetch fetch_of_weights(const Operator& op) const;
    void load_weights(Operator& op);
    /// A gate whose result is not computed but recorded.
    bool reads_masks(const Operator& op) const { return op.op->gate_switch != kNone && !config_.values; }
    void request_masks(Operator& op);
    rules::UnitWait wait_of_next(const Operator& op) const;
    bool try_dispatch(std::size_t index);
    DispatchExtension dispatch_of(std::size_t index, const SampleIndexListPtr& index_list);
    /// Where the values of a unit lie; valid until the next call.
    const OperatorValues& values_of(const Operator& op, unsigned unit, const SampleSet& samples);
    SampleIndexListPtr index_list_of(const Operator& op, unsigned unit) const;
    int next_segment_after(std::uint16_t segment) const;
    /// The tile has waited from free_since_ until now, for the unit of `op` that begins or, with `unit` beyond the
    /// last, for its last output.
    void charge_wait(const Operator& op, unsigned unit);
    void add_times(OperatorTimes& times) const;
    void log_kernel(const Operator& op, const DispatchExtension& dispatch, const sc_core::sc_time& duration);
    void log_wait(const Operator& op, TimeUse before, std::uint64_t sent);
    template <class Extension>
    bool send(tlm_utils::simple_initiator_socket<TileController>& socket, Extension& extension,
              sc_core::sc_time& delay);
    void command(InterfaceCommand& command);
    void send_control(ControlCode code);
    ::tlm::tlm_response_status write(tlm_utils::simple_initiator_socket<TileController>& socket, std::uint64_t address,
                                     unsigned char* bytes, unsigned size);
    std::string waits() const;

    Config config_;
    SimulationRegistry& registry_;
    ClockPeriod clock_;
    Stats stats_;
    Profiler profiler_;
    PayloadPool messages_;
    TimedQueue<Completion> completions_;
    sc_core::sc_event wake_;

    std::vector<std::uint8_t> program_bytes_;
    std::shared_ptr<const TileProgram> program_;
    std::vector<Operator> operators_;
    int segment_ = -1;  ///< running, or -1
    std::uint32_t batch_ = 0;
    std::vector<std::size_t> active_;    ///< operators of the running segment
    std::vector<std::size_t> prefetch_;  ///< operators of the next one whose weights have not been asked for
    bool busy_ = false;                  ///< a kernel is running
    OperatorValues values_;              ///< of the dispatch that is being sent
    ActivityLog* const log_ = ActivityLog::current();
    ActivityLog::Track kernels_track_ = 0, dispatcher_track_ = 0, waits_track_ = 0;
    std::uint64_t free_since_ = 0;  ///< ticks: end of the last kernel in this segment, or the segment's begin
    std::map<std::uint16_t, OperatorTime<std::uint64_t>> times_;  ///< ticks, by operator id, whichever the image
};

template <class Visitor>
void describe(Visitor& visitor, TileController::Config& config) {
    visitor.field("mask_prefetch_units", config.mask_prefetch_units, 1, 64,
                  "micro-batches whose recorded masks a gate reads ahead in a trace-driven run");
}

}  // namespace switchyard::hw
