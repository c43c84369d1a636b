// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/layer_controller/layer_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace switchyard::hw {

namespace {

/// What goes through the DRAM port for a unit before it is computed, in this order.
enum class Read : std::uint8_t { input, weights, residual };

std::uint64_t macs_of(const sched::Convolution& layer, const sched::WorkUnit& unit) {
    const std::uint64_t positions = std::uint64_t{unit.band.end - unit.band.begin} * layer.output_width();
    return positions * unit.kernels * layer.weights().channels * layer.window();
}

/// A layer's pipeline in time: fetch, array and write side by side, each unit in turn, with one bus to DRAM.
class Pipeline {
public:
    Pipeline(const LayerProgram& program, const TensorProgram& tensor, const sched::WeightSlice& cached,
             const sched::LayerPlan& plan, const sched::DotProductShape& shape, const DramRate& dram,
             const PipelineOptions& options)
        : program_(program), dram_(dram), options_(options), drain_(static_cast<double>(array_latency_cycles(shape))) {
        const double peak = static_cast<double>(shape.peak_operations_per_cycle()) / 2;
        for (const sched::InputBand& band : plan.bands)
            for (const sched::WorkUnit& unit : band.units) {
                const std::size_t u = units_.size();
                if (unit.new_tile) first_unit_.push_back(u);
                if (&unit == &band.units.front() && !options.activations_on_chip)
                    reads_.push_back({Read::input, u, time(input_pieces(program, band))});
                if (unit.new_tile)
                    reads_.push_back(
                        {Read::weights, u, time(tile_pieces(program, tensor, cached, unit)), first_unit_.size() - 1});
                if (unit.residual_bytes > 0 && !options.activations_on_chip)
                    reads_.push_back({Read::residual, u, time(result_pieces(program, program.residual_address, unit))});
                units_.push_back(&unit);
                cycles_.push_back(options.array_at_peak ? static_cast<double>(macs_of(program.layer, unit)) / peak
                                                        : static_cast<double>(unit.cycles));
            }
    }

    /// Mean of the layer's cycles and their parts over when the refreshes come; of a long layer one phase is enough.
    LayerCost mean() {
        LayerCost cost = run(0);
        if (dram_.refresh_cycles == 0 || cost.cycles > kLong * dram_.refresh_interval_cycles) return cost;
        for (int phase = 1; phase < kPhases; ++phase) {
            const LayerCost other = run(phase * dram_.refresh_interval_cycles / kPhases);
            cost.cycles += other.cycles;
            cost.compute_cycles += other.compute_cycles;
            cost.input_cycles += other.input_cycles;
            cost.weight_cycles += other.weight_cycles;
            cost.output_cycles += other.output_cycles;
        }
        for (double* part :
             {&cost.cycles, &cost.compute_cycles, &cost.input_cycles, &cost.weight_cycles, &cost.output_cycles})
            *part /= kPhases;
        return cost;
    }

private:
    static constexpr int kPhases = 16;
    static constexpr double kLong = 4;  ///< refresh intervals
    /// `refresh`: when the first one begins, from the layer's begin on.
    LayerCost run(double refresh) {
        LayerCost cost;
        first_refresh_ = refresh;
        next_read_ = first_read_ = 0;
        fetch_free_ = bus_free_ = 0;
        turned_ = dram_.write_to_read_cycles;
        computed_.clear();
        written_.clear();
        while (written_.size() < units_.size()) {
            compute(cost);
            const double read_at = next_read(), write_at = next_write();
            // Whichever comes first has the bus; one that is not known yet comes later.
            if (read_at <= write_at)
                read(read_at);
            else
                write(write_at);
        }
        cost.compute_cycles += drain_;
        cost.output_cycles += written_.back() - computed_.back() - drain_;
        cost.cycles = written_.back();
        return cost;
    }

    static constexpr double kNever = std::numeric_limits<double>::infinity();
    struct Transfer {
        Read kind;
        std::size_t unit;
        double cycles;         ///< on the bus
        std::size_t tile = 0;  ///< weights: its number
        double begin = 0, end = 0;
    };

    double time(const std::vector<StridedPieces>& pieces) const {
        const double used = 1 - dram_.refresh_cycles / dram_.refresh_interval_cycles;
        return static_cast<double>(bursts_of(pieces, dram_.burst_bytes)) * used / dram_.bursts_per_cycle;
    }
    /// The number of the refresh that began last at `at`, and the time since.
    std::pair<double, double> last_refresh(double at) const {
        const double number = std::floor((at - first_refresh_) / dram_.refresh_interval_cycles);
        return {number, at - first_refresh_ - number * dram_.refresh_interval_cycles};
    }
    /// The first time from `from` on at which no refresh is under way.
    double without_refresh(double from) const {
        return from + std::max(0.0, dram_.refresh_cycles - last_refresh(from).second);
    }
    /// Refreshes interrupt a transfer: it takes `cycles` of the time between them.
    double bus(double from, double cycles) {
        const double at = std::max(bus_free_, from);
        if (dram_.refresh_cycles == 0) return bus_free_ = at + cycles;
        const double between = dram_.refresh_interval_cycles - dram_.refresh_cycles;
        const auto [number, since] = last_refresh(at);
        // Time between refreshes that has passed when the transfer ends, since the refresh before it began.
        const double used = std::max(0.0, since - dram_.refresh_cycles) + cycles;
        const double refreshes = std::max(0.0, std::ceil(used / between) - 1);
        return bus_free_ = first_refresh_ + (number + refreshes) * dram_.refresh_interval_cycles +
                           dram_.refresh_cycles + used - refreshes * between;
    }
    /// When `count` of the units are done; a time before the layer for none.
    static double after(const std::vector<double>& done, std::size_t count) {
        return count == 0 ? 0 : count <= done.size() ? done[count - 1] : kNever;
    }

    /// A bank of the output buffer is free: the unit before the one before has left it.
    double bank_free(std::size_t unit) const { return unit < 2 ? 0 : after(written_, unit - 1); }
    double next_read() const {
        if (next_read_ == reads_.size()) return kNever;
        const Transfer& next = reads_[next_read_];
        const std::size_t u = next.unit;
        double room = 0;
        if (next.kind == Read::input) room = after(computed_, u);
        if (next.kind == Read::weights) {
            // Its half of the dynamic buffer is free: the tile before the one before has been computed with.
            const std::size_t count = !options_.hides_weights ? u : next.tile < 2 ? 0 : first_unit_[next.tile - 1];
            room = after(computed_, count);
        }
        if (next.kind == Read::residual) room = bank_free(u);
        return std::max(room, fetch_free_);
    }
    void read(double at) {
        Transfer& next = reads_[next_read_++];
        next.begin = at;
        // Nothing is fetched for a tile that is all in the persistent buffer.
        // A tile after the first goes on where the one before ended; all others find another row open.
        const double latency =
            dram_.latency_cycles + (next.kind == Read::weights && next.tile > 0 ? 0 : dram_.other_row_cycles);
        if (next.cycles > 0) at = bus(without_refresh(std::max(at, turned_)) + latency, next.cycles);
        next.end = fetch_free_ = at;
    }

    double next_write() const {
        const std::size_t u = written_.size();
        return u < computed_.size() ? std::max(computed_[u], after(written_, u)) + drain_ : kNever;
    }
    /// Done when the memory has taken all requests; those that it holds are on the bus later.
    void write(double at) {
        if (options_.activations_on_chip) return written_.push_back(at);
        const std::vector<StridedPieces> pieces =
            result_pieces(program_, program_.output_address, *units_[written_.size()]);
        const double cycles = time(pieces), requests = static_cast<double>(requests_of(pieces, dram_.request_bytes));
        const double end = bus(at, cycles);
        turned_ = end + dram_.write_to_read_cycles;
        written_.push_back(requests <= dram_.outstanding ? at
                                                         : std::max(at, end - cycles * dram_.outstanding / requests));
    }

    void compute(LayerCost& cost) {
        for (std::size_t u = computed_.size(); u < units_.size(); ++u) {
            if (next_read_ < reads_.size() && reads_[next_read_].unit <= u) return;
            const double free = bank_free(u), before = after(computed_, u);
            if (free == kNever) return;
            const double fetched = fetched_of(u), begin = std::max({free, before, fetched});
            explain(cost, u, before, begin, fetched);
            cost.compute_cycles += cycles_[u];
            computed_.push_back(begin + cycles_[u]);
        }
    }
    /// The first of a unit's transfers is at or after `first_read_`, since units are in turn.
    double fetched_of(std::size_t unit) {
        while (first_read_ < reads_.size() && reads_[first_read_].unit < unit) ++first_read_;
        double end = 0;
        for (std::size_t r = first_read_; r < reads_.size() && reads_[r].unit == unit; ++r) end = reads_[r].end;
        return end;
    }
    /// Why the array waits from `before` to `begin`: for transfers of the unit, by the time that each has in this
    /// interval, otherwise for results.
    void explain(LayerCost& cost, std::size_t unit, double before, double begin, double fetched) const {
        double left = begin - before;
        for (std::size_t r = first_read_; r < reads_.size() && reads_[r].unit == unit; ++r) {
            const double share = std::min(std::max(reads_[r].end - std::max(reads_[r].begin, before), 0.0), left);
            (reads_[r].kind == Read::weights ? cost.weight_cycles : cost.input_cycles) += share;
            left -= share;
        }
        // Results hold the bank of the output buffer; or transfers wait for their room.
        (fetched < begin ? cost.output_cycles : cost.weight_cycles) += left;
    }

    const LayerProgram& program_;
    const DramRate& dram_;
    PipelineOptions options_;
    double drain_;
    std::vector<const sched::WorkUnit*> units_;
    std::vector<double> cycles_;           ///< of the array, of each unit
    std::vector<std::size_t> first_unit_;  ///< of each tile
    std::vector<Transfer> reads_;
    std::size_t next_read_ = 0, first_read_ = 0;
    double fetch_free_ = 0, bus_free_ = 0;
    double turned_ = 0;         ///< when a read can follow the last write; at first that is the layer's before
    double first_refresh_ = 0;  ///< from the layer's begin on
    std::vector<double> computed_, written_;  ///< time of each unit
};

}  // namespace

LayerCost layer_cost(const LayerProgram& program, const TensorProgram& tensor, const sched::WeightSlice& cached,
                     const sched::LayerPlan& plan, const sched::DotProductShape& shape, const DramRate& dram,
                     const PipelineOptions& options) {
    LayerCost cost = Pipeline(program, tensor, cached, plan, shape, dram, options).mean();
    for (const sched::InputBand& band : plan.bands) {
        if (!options.activations_on_chip) cost.input_bytes += band.input_bytes;
        for (const sched::WorkUnit& unit : band.units) {
            cost.weight_bytes += unit.fetch_bytes;
            if (!options.activations_on_chip) {
                cost.input_bytes += unit.residual_bytes;
                cost.output_bytes += unit.result_bytes;
            }
            if (unit.new_tile)
                cost.cached_bytes +=
                    unit.kernels * (std::uint64_t{program.layer.weights().channels} * program.layer.window() +
                                    sched::kParameterBytes) -
                    unit.fetch_bytes;
        }
    }
    cost.macs = program.layer.macs();
    return cost;
}

std::vector<LayerCost> subnet_costs(const AcceleratorProgram& program, const std::vector<LayerProgram>& layers,
                                    const std::vector<sched::WeightSlice>* slices, const AcceleratorShape& shape) {
    std::vector<LayerCost> costs;
    for (const LayerProgram& layer : layers) {
        const sched::WeightSlice cached = slices == nullptr ? sched::WeightSlice{} : slices->at(layer.tensor);
        const sched::LayerPlan plan = plan_layer(layer.layer, cached, shape.array, shape.buffers);
        if (!plan.error.empty()) throw std::runtime_error(fmt::format("layer {}: {}", layer.name, plan.error));
        costs.push_back(
            layer_cost(layer, program.tensors[layer.tensor], cached, plan, shape.array, shape.dram, shape.options));
    }
    return costs;
}

double fill_cost(const AcceleratorProgram& program, const std::vector<sched::WeightSlice>& slices,
                 const DramRate& dram) {
    return static_cast<double>(bursts_of(subgraph_pieces(program, slices), dram.burst_bytes)) / dram.bursts_per_cycle +
           dram.latency_cycles;
}

}  // namespace switchyard::hw
