// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "switchyard/platform/systems/adyna/stages/kernel_meter.h"
#include "switchyard/platform/systems/adyna/stages/program_map.h"
#include "switchyard/platform/systems/adyna/stages/resources.h"
#include "switchyard/platform/systems/adyna/stages/transfer_costs.h"
#include "switchyard/sw_scheduler/adyna/rules/micro_batches.h"
#include "switchyard/sw_scheduler/adyna/rules/segments.h"
#include "switchyard/tlm/activity_log.h"
#include "switchyard/tlm/time_use.h"

namespace switchyard::platform {

/// The pipelines of the chip, stage by stage and micro-batch by micro-batch: what the tile controllers and
/// network interfaces of all tiles of a stage do together. A unit is computed when all of it is there, for all tiles at
/// once. What may begin, which slots are free, when weights are fetched: sched/adyna/rules, as hw::TileController and
/// hw::NetworkInterface. Approximated: transport and contention. Times in cycles; events of one chip in one queue.
class Timeline {
public:
    /// Books on `resources` what moves; others may book there too.
    Timeline(const PlatformConfig& platform, const ProgramMap& map, const SampleCounts& counts,
             TransferCosts& transfers, KernelMeter& kernels, Resources& resources);

    /// The tile computes nothing before `time`.
    void begin_not_before(Endpoint tile, double time);
    /// Begins a segment at `start`, no earlier than the end of the last one.
    void begin_segment(unsigned segment, double start);
    /// What happens until `time`, or until the segment has ended. Throws std::runtime_error that says which stage waits
    /// for what if nothing can happen any more.
    void run_until(double time);
    /// The segment that was begun last has not ended.
    bool running() const { return stages_missing_ > 0; }
    /// When the stage had finished the segment that was begun last.
    double done_at(unsigned stage) const { return stages_[stage].done_at; }
    /// Units of a stage by kernel; first those that no sample reached.
    const std::vector<std::uint32_t>& selected(unsigned stage) const { return stages_[stage].selected; }
    void clear_selected();
    /// Where the units' time has gone since the last call, in cycles, summed over all units and transfers of tensors
    /// and weights.
    struct Spent {
        double kernels = 0;    ///< on tiles
        double flights = 0;    ///< probes, acknowledges, requests, latencies: what is no data
        double transfers = 0;  ///< data on links and memory interfaces, alone
        double waits = 0;      ///< for links and memory that others use
        /// Data of the first unit of each tensor from or to memory, of a stage on several tiles: the tiles need not
        /// wait for each other's, stages do.
        double skew = 0;
    };
    Spent take_spent() { return std::exchange(spent_, {}); }
    /// What every stage has waited for since the last call, in tile-cycles, by operator id: visit(op_id, time). Kernels
    /// are not in it.
    template <class Visit>
    void take_waits(Visit&& visit) {
        for (std::size_t i = 0; i < stages_.size(); ++i)
            visit(map_.stages()[i].placement->op_id, std::exchange(stages_[i].waited, {}));
    }
    /// The units that every stage computed with each number of samples in each allocation, since the last call:
    /// visit(stage, dyn_dim, allocation, unit of the batch, units).
    template <class Visit>
    void take_work(Visit&& visit) {
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            const std::size_t sizes = map_.stages()[i].placement->unit_samples + std::size_t{1};
            for (std::size_t at = 0; at < stages_[i].computed.size(); ++at) {
                std::uint64_t& units = stages_[i].computed[at];
                if (units > 0) {
                    visit(map_.stages()[i], static_cast<std::uint32_t>(at % sizes), static_cast<unsigned>(at / sizes),
                          UnitOfBatch{}, units);
                }
                units = 0;
            }
            for (const auto& [key, units] : stages_[i].computed_of_batch) {
                const auto [dyn_dim, allocation, samples, later] = key;
                visit(map_.stages()[i], dyn_dim, allocation, UnitOfBatch{samples, later}, units);
            }
            stages_[i].computed_of_batch.clear();
        }
    }

private:
    enum class EventKind : std::uint8_t {
        computed,          ///< stage, unit
        heads_arrive,      ///< edge, unit: of a transfer on the chip
        requests_arrive,   ///< edge, unit: at memory
        stores_leave,      ///< edge, unit
        unit_ready,        ///< edge, unit: in its slot
        edge_done,         ///< edge, unit: the producer has no more to do with it
        masks_known,       ///< mask edge, unit
        masks_read,        ///< gate, unit
        index_lists_read,  ///< edge from HBM: rank 0 knows the samples of every unit
        scheduled,         ///< stage: by the online scheduler
        data_ready,        ///< flow: the first data of a transfer from memory leave it
        turn_ready,        ///< flow: the data of one turn leave memory
        batch_announced,   ///< edge, batch: of operators that pack their samples
        part_heads,        ///< edge, part: of the same, arrive
        part_ready,        ///< edge, part: in its slot
        weights_asked,     ///< slice, edge and reader: the request has arrived at memory
        weights_there      ///< slice: of one edge and reader
    };
    struct Event {
        double time;
        std::uint64_t sequence;
        EventKind kind;
        std::uint32_t index;
        std::uint32_t unit;
        bool operator<(const Event& o) const {  // std::priority_queue: the largest comes first
            return time != o.time ? time > o.time : sequence > o.sequence;
        }
    };
    enum class Weights : std::uint8_t { absent, loading, present };
    /// Something that a unit waits for: since when it is there, and when it was sent.
    struct Arrival {
        double at = 0, sent = 0;
    };
    /// Weights of the tiles of a stage that hold the same: every weights edge has as many slices as the stage has k
    /// factors.
    struct Slice {
        unsigned stage = 0, index = 0;
        Weights weights = Weights::absent;
        unsigned reads_missing = 0;
        unsigned conditions_missing = 0, conditions = 0;  ///< see Prefetch
        double sent = 0;                                  ///< the latest of its data, by memory
    };
    /// A slice of a later segment whose tiles may fetch it once these tiles have this stage's own slice, or, if the two
    /// overlap in the scratchpad, once the stage has ended.
    struct Prefetch {
        unsigned slice = 0;
        int own_slice = -1;  ///< -1: the stage has no weights
        bool after_end = false;
        bool operator<(const Prefetch& o) const {
            return std::tie(slice, own_slice, after_end) < std::tie(o.slice, o.own_slice, o.after_end);
        }
    };
    struct StageState {
        unsigned group = 0;  ///< of stages of a segment that share tiles: one computes at a time
        std::vector<Prefetch> next;
        unsigned first_slice = 0, slices = 0, slices_missing = 0;
        bool resident = false;

        bool active = false, done = false;
        unsigned next_unit = 0, in_flight = 0;
        rules::OutputSlots output_slots;
        unsigned masks_requested = 0;
        enum class Scheduling : std::uint8_t { none, asked, done } scheduling = Scheduling::none;
        std::vector<std::uint8_t> masks_read;      ///< a gate's, by unit
        std::vector<std::uint16_t> edges_missing;  ///< of an output, by unit
        std::vector<std::uint8_t> complete;        ///< by unit: computed
        double done_at = 0, ready_at = 0;          ///< ready_at: all of its tiles are configured
        Arrival weights, output;                   ///< of the last slice; of the word that the latest output has left
        bool output_to_memory = false;
        std::uint16_t output_to = kNone;  ///< operator; kNone: memory, or it did not wait for a consumer
        double masks_at = 0, scheduled_at = 0;
        OperatorTime<double> waited;  ///< tile-cycles
        std::vector<std::uint32_t> selected;
        std::vector<std::uint64_t> computed;  ///< units by dyn_dim, one allocation after another
        /// The same where kernels are invoked once a batch, by UnitOfBatch as well.
        std::map<std::tuple<std::uint32_t, unsigned, std::uint32_t, bool>, std::uint64_t> computed_of_batch;
    };
    /// Of a unit of a producer, what goes to one unit of a consumer.
    struct Part {
        std::uint32_t source_unit = 0, unit = 0;
        Transfer* transfer = nullptr;
        double made_at = -1;     ///< complete, and its routes are known; < 0: not yet
        double granted_at = -1;  ///< the acknowledges have come
    };
    struct UnitTransfer {
        Transfer* transfer = nullptr;    ///< nullptr: not derived yet
        std::uint64_t displacement = 0;  ///< TransferCosts::displacement
    };
    struct EdgeState {
        unsigned released = 0, window = 0;
        bool index_list_known = false;          ///< from HBM: rank 0 knows the samples of every unit
        std::vector<std::uint8_t> ready;        ///< by unit
        std::vector<Arrival> arrivals;          ///< by unit; `sent` also of a unit whose producer waits for it
        std::vector<double> complete_at;        ///< by unit: the producer's output waits for a slot since; < 0: no
        std::vector<std::uint8_t> masks_known;  ///< mask edges
        std::vector<UnitTransfer> transfers;    ///< by unit, of tensors
        // On the chip, of operators that pack their samples.
        std::vector<Part> parts;                 ///< by the producer's units, and so by the consumer's
        std::vector<std::uint32_t> first_part;   ///< by unit of the producer, and beyond the last unit
        std::vector<std::uint16_t> parts_left;   ///< by unit of the producer: not sent yet
        std::vector<std::uint16_t> parts_there;  ///< by unit of the consumer: not arrived yet
        unsigned announced = 0, granted = 0;     ///< units of the consumer
    };

    /// A transfer from memory.
    struct Flow {
        Transfer* transfer = nullptr;
        Event then{};                       ///< when all is there
        std::uint64_t given = 0, done = 0;  ///< bytes of a single request that have got a turn; whose turn is over
        double end = 0;                     ///< of what memory has read; of turns: of what the links have carried
        double began = 0;
        double sent = 0;  ///< the latest of its data, by memory
    };
    static constexpr std::uint32_t kAllUnits = 0xFFFFFFFF;
    /// As an event's unit.
    static std::uint32_t edge_and_reader(std::uint16_t edge, unsigned reader) { return reader << 16 | edge; }
    static std::uint16_t edge_of(std::uint32_t both) { return static_cast<std::uint16_t>(both); }
    static unsigned reader_of(std::uint32_t both) { return both >> 16; }

    void push(double time, EventKind kind, std::uint32_t index, std::uint32_t unit);
    void handle(const Event& event);
    void begin_stage(unsigned stage, double time);
    rules::UnitWait wait_of_next(unsigned stage) const;
    void try_dispatch(unsigned stage, double time);
    /// Counts an invocation, of a kernel or of none.
    void count_work(unsigned stage, const StageWork& work, std::uint32_t dyn_dim, unsigned allocation,
                    const UnitOfBatch& of_batch);
    void try_group(unsigned group, double time);
    void computed(unsigned stage, unsigned unit, double time);
    void edge_done(unsigned stage, unsigned unit, double time);
    void check_done(unsigned stage, double time);

    // unit_transfers.cpp
    EdgeCounts counts(const EdgeEnds& ends, unsigned unit) const;
    /// A unit's samples do not change while a segment runs.
    UnitTransfer& unit_transfer(std::uint16_t edge, unsigned unit);
    Transfer& transfer(std::uint16_t edge, unsigned unit) { return *unit_transfer(edge, unit).transfer; }
    bool masks_missing(const Edge& edge, unsigned stage, unsigned unit) const;
    void start_output(std::uint16_t edge, unsigned unit, double time);
    void heads_arrive(std::uint16_t edge, unsigned unit, double time);
    void stores_leave(std::uint16_t edge, unsigned unit, double time);
    void masks_known(std::uint16_t edge, unsigned unit, double time);
    void release(std::uint16_t edge, unsigned unit, double time);
    void request_index_lists(std::uint16_t edge, double time);
    void open_loads(std::uint16_t edge, double time);
    void requests_arrive(std::uint16_t edge, unsigned unit, double time);
    void request_masks(unsigned stage, double time);

    // packed_units.cpp
    bool packed(const EdgeEnds& ends) const { return counts_.packs() && ends.edge->path == EdgePath::on_chip; }
    void reset_packed(std::uint16_t edge);
    /// All masks of the batch to which the unit of the switch's operator belongs are there.
    bool batch_masks_known(std::uint16_t mask_edge, const Stage& stage, unsigned unit) const;
    PartOfUnits part_of(const EdgeEnds& ends, const Part& part) const;
    void start_packed(std::uint16_t edge, unsigned unit, double time);
    void batch_announced(std::uint16_t edge, unsigned batch, double time);
    void grant_packed(std::uint16_t edge, double time);
    void send_part(std::uint16_t edge, unsigned part);
    void part_heads(std::uint16_t edge, unsigned part, double time);
    void part_ready(std::uint16_t edge, unsigned part, double time);

    // memory_flow.cpp
    /// A transfer whose requests arrive at memory at `time`, or, to memory, whose packets leave then. When all of it is
    /// there, `then` happens to `index` and `unit`. `displacement`: TransferCosts::displacement().
    void move(Transfer& transfer, double time, EventKind then, std::uint32_t index, std::uint32_t unit,
              std::uint64_t displacement = 0);
    unsigned begin_flow(Transfer& transfer, double time, EventKind then, std::uint32_t index, std::uint32_t unit);
    void data_ready(unsigned flow, double time);
    void give_turns(unsigned flow, double time);
    void turn_ready(unsigned flow, double time);
    void end_flow(unsigned flow, double time);
    /// Adds a transfer that took from `begin` to `end`, heads included, to what the units have spent. `first`: of the
    /// first unit of a tensor from or to memory.
    void spend(Transfer& transfer, double begin, double end, bool first = false);

    // weight_prefetch.cpp
    void derive_prefetches();
    void request_weights(Slice& slice, double time);
    void weights_there(unsigned slice, double time);
    /// Of the slices that wait for the stage's end, or for its slice `own_slice`.
    void prefetch(unsigned stage, bool at_end, int own_slice, double time);

    // shared_tiles.cpp
    void derive_groups();
    /// When a unit that begins at `time` is complete. An operator that shares tiles with another branch uses those of
    /// its kernel, the one for `samples`, alone; each of them works on one unit after another, whichever operator's.
    double end_on_tiles(unsigned stage, unsigned unit, const StageWork& work, unsigned allocation,
                        std::uint32_t samples, double time);

    // waits.cpp
    void open_log(const PlatformConfig& platform);
    void log_kernel(unsigned stage, unsigned unit, const StageWork& work, std::uint32_t dyn_dim, double begin);
    void log_wait(unsigned stage, TimeUse before, double begin, double sent, double end);
    /// `tiles` tiles have waited from `begin` to `end` for the unit of a stage that begins or, with `unit` beyond the
    /// last, for its last output.
    void charge_wait(unsigned stage, unsigned unit, double begin, double end, double tiles);
    void note_output(unsigned stage, std::uint16_t edge, unsigned unit, double time);

    std::string waits() const;

    const ProgramMap& map_;
    const SampleCounts& counts_;
    TransferCosts& transfers_;
    KernelMeter& kernels_;
    Resources& resources_;
    unsigned mask_prefetch_units_;
    double scheduling_cycles_;  ///< of the online scheduler, an operator
    double scheduler_free_ = 0;
    std::priority_queue<Event> events_;
    std::uint64_t sequence_ = 0;
    std::vector<StageState> stages_;
    std::vector<Slice> slices_;
    std::vector<Flow> flows_;
    std::vector<unsigned> spare_flows_;
    std::vector<EdgeState> edges_;
    std::vector<std::vector<unsigned>> groups_;
    std::vector<std::uint8_t> group_busy_;
    std::vector<double> group_free_;  ///< since when
    double segment_start_ = 0;
    std::vector<double> tile_free_;  ///< since when, of tiles of operators with allocations
    ActivityLog* const log_ = ActivityLog::current();
    std::vector<ActivityLog::Track> kernel_tracks_, wait_tracks_;  ///< by tile
    double ticks_per_cycle_ = 1;
    Spent spent_;
    int segment_ = -1;
    unsigned stages_missing_ = 0;
};

}  // namespace switchyard::platform
