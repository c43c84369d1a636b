// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/batch_compiler.h"

#include <algorithm>
#include <utility>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/brainstorm/router_placement.h"

namespace switchyard::sched::brainstorm {

namespace {

/// Weights that come and go lie here in device memory, behind what the host sets up (queues, events).
constexpr std::uint64_t kWeightRegion = std::uint64_t{1} << 30;

/// By stage.
std::vector<std::vector<std::size_t>> placement_of_file(const RoutedNetwork& network, const std::string& path,
                                                        std::size_t devices) {
    const std::vector<std::size_t> stages = network.routed_stages();
    std::vector<PlacedRouter> routers;
    routers.reserve(stages.size());
    for (const std::size_t s : stages) routers.push_back({network.stages[s].name, network.stages[s].router.branches});
    std::vector<Placement> read = read_placement(path, routers, devices);
    std::vector<std::vector<std::size_t>> result(network.stages.size());
    for (std::size_t r = 0; r < stages.size(); ++r) result[stages[r]] = std::move(read[r]);
    return result;
}

}  // namespace

BatchCompiler::BatchCompiler(const RoutedNetwork& network, StageCompiler& stages, const NetworkProfile& profile,
                             const Mechanisms& mechanisms, std::shared_ptr<const LinkTopology> topology)
    : network_(network),
      stages_(stages),
      profile_(profile),
      mechanisms_(mechanisms),
      topology_(std::move(topology)),
      devices_(topology_ ? topology_->devices() : 1) {
    bool host_decides = false;
    for (const Stage& stage : network.stages) host_decides |= stage.host_decides;
    if (host_decides && (devices_ > 1 || network.cells != 1))
        throw InputError(network.file, 0, "",
                         "expected one device and one cell at a time for a network whose host decides, found more");
    if (!host_decides && mechanisms_.speculative_routing)
        throw InputError(network.file, 0, "",
                         "expected a network whose host decides for speculative routing, found one whose device does");
    if (!host_decides && moves_weights())
        throw InputError(
            network.file, 0, "",
            "expected a network whose host decides for weights that come and go, found one whose device does");
    if (!mechanisms_.placement_file.empty())
        placement_ = placement_of_file(network, mechanisms_.placement_file, devices_);
    else if (mechanisms_.placement == "profile")
        placement_ = profile_.by_stage(annealed_placement(profile_.placement_problem()));
    else if (mechanisms_.placement == "block")
        placement_ = profile_.block_placement();
    else
        placement_ = profile_.placement_by_load(mechanisms_.placement == "balanced");
}

void BatchCompiler::append(std::size_t device, HostSteps steps) {
    HostSteps& all = program_.devices[device];
    all.insert(all.end(), std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
}

BatchProgram BatchCompiler::compile(const StageRoutes& routes) {
    program_ = {};
    program_.devices.resize(devices_);
    location_.clear();
    for (std::size_t cell = 0; cell < network_.cells * devices_; ++cell) location_.push_back(cell / network_.cells);
    if (mechanisms_.functional)
        for (const std::size_t device : location_) program_.ends.push_back({device, 1});
    weights_ = WeightPlan(kWeightRegion);
    speculations_ = 0;
    kept_.clear();
    preloaded_.assign(network_.stages.size(), false);
    const std::vector<bool> reached = reached_stages(network_, routes);
    for (std::size_t s = 0; s < network_.stages.size(); ++s) {
        if (!reached[s]) continue;
        const Stage& stage = network_.stages[s];
        std::vector<std::uint64_t> here(devices_);
        for (const std::size_t device : location_) ++here[device];
        for (std::size_t d = 0; d < devices_; ++d) append(d, stages_.fixed(s, here[d]));
        if (!stage.routed) continue;
        if (stage.host_decides)
            decide(s, routes[s].at(0));
        else
            route_cells(s, routes[s]);
    }
    program_.counts.loads = weights_.loads();
    program_.counts.loaded_bytes = weights_.loaded_bytes();
    std::uint64_t fixed = network_.fixed_weight_bytes(), moving = 0;
    for (const std::size_t s : network_.routed_stages())
        for (std::size_t b = 0; b <= network_.stages[s].router.branches; ++b) moving += item_bytes(s, b);
    for (const std::size_t s : network_.routed_stages()) fixed -= item_bytes(s, network_.stages[s].router.branches);
    program_.peak_weight_bytes = fixed + (moves_weights() ? weights_.peak_bytes() : moving);
    return std::move(program_);
}

/// `branch` of the number of branches: what is common to all.
std::uint64_t BatchCompiler::item_bytes(std::size_t index, std::size_t branch) const {
    const Stage& stage = network_.stages[index];
    if (branch < stage.router.branches) return stage.branch(branch).weight_bytes();
    Branch common;
    common.waves = stage.common;
    return common.weight_bytes();
}

void BatchCompiler::add_profile(std::size_t index, std::size_t device, std::uint64_t decisions) {
    if (mechanisms_.profiling == "off" || decisions == 0) return;
    // A count a decision; at level correlation one more, of the pair of branches.
    const std::uint64_t updates = decisions * (mechanisms_.profiling == "loads" || index == 0 ? 1 : 2);
    program_.counts.profile_updates += updates;
    append(device, {stages_.profile(updates)});
}

void BatchCompiler::keep_moves(const CellLists& cells, const CellCounts& counts, std::uint64_t cell_bytes,
                               std::uint64_t pair_capacity) {
    CellMoves moves;
    moves.cell_bytes = cell_bytes;
    moves.sparse = mechanisms_.sparse;
    moves.cells = cells;
    if (mechanisms_.sparse) {
        SparseLayout layout = sparse_layout(counts, cell_bytes);
        moves.sizes_sent = layout.sizes_sent;
        moves.sizes_received = layout.sizes_received;
        moves.send = std::move(layout.send);
        moves.receive = std::move(layout.receive);
    } else {
        // As padded_all_to_all() says.
        moves.capacity = pair_capacity;
        const std::uint64_t part = pair_capacity * cell_bytes;
        moves.send.assign(devices_, std::vector<std::uint64_t>(devices_));
        moves.receive = moves.send;
        for (std::size_t from = 0; from < devices_; ++from)
            for (std::size_t to = 0; to < devices_; ++to) {
                moves.send[from][to] = to * part;
                moves.receive[from][to] = (devices_ + from) * part;
            }
    }
    program_.moves.push_back(std::move(moves));
}

namespace {

/// What moves a device's data: it reads what leaves the device and writes what comes. A CTA has the threads that NCCL
/// launches at most (NCCL_MAX_NTHREADS, src/include/device.h) and the registers that they may have on a multiprocessor
/// of 65536 to themselves, as __launch_bounds__(NCCL_MAX_NTHREADS, 1) tells the compiler.
std::shared_ptr<const GpuKernel> collective_kernel(const CollectiveProgram& program, std::size_t device,
                                                   unsigned ctas) {
    constexpr std::uint32_t kThreads = 640, kRegisters = 96;
    auto kernel = std::make_shared<GpuKernel>();
    kernel->name = program.name;
    kernel->grid = {ctas, 1, 1};
    kernel->block = {kThreads, 1, 1};
    kernel->registers_per_thread = kRegisters;
    for (const Transfer& transfer : program.transfers) {
        if (transfer.from == device) kernel->work.read_bytes += transfer.bytes;
        if (transfer.to == device) kernel->work.written_bytes += transfer.bytes;
    }
    return kernel;
}

}  // namespace

void BatchCompiler::exchange(std::size_t index, const CellLists& cells, std::uint64_t pair_capacity) {
    const Stage& stage = network_.stages[index];
    CellCounts counts(devices_, std::vector<std::uint64_t>(devices_));
    for (std::size_t from = 0; from < devices_; ++from)
        for (std::size_t to = 0; to < devices_; ++to) {
            counts[from][to] = cells[from][to].size();
            pair_capacity = std::max(pair_capacity, counts[from][to]);
        }
    if (mechanisms_.functional) keep_moves(cells, counts, stage.cell_bytes, pair_capacity);
    for (std::size_t from = 0; from < devices_; ++from)
        for (std::size_t to = 0; to < devices_; ++to) {
            if (from == to) continue;
            program_.counts.crossing_cells += counts[from][to];
            program_.counts.crossing_bytes +=
                stage.cell_bytes * (mechanisms_.sparse ? counts[from][to] : pair_capacity);
        }
    CollectiveProgram collective =
        mechanisms_.sparse
            ? sparse_all_to_all(*topology_, counts, stage.cell_bytes, mechanisms_.collective_costs)
            : padded_all_to_all(*topology_, counts, stage.cell_bytes, pair_capacity, mechanisms_.collective_costs);
    HostStep step;
    step.kind = HostStep::Kind::collective;
    step.collective = static_cast<std::uint32_t>(program_.collectives.size());
    for (std::size_t d = 0; d < devices_; ++d) {
        // Point-to-point messages: the host must know their sizes.
        if (mechanisms_.sparse) append(d, {read_back_step(8 * devices_)});
        if (mechanisms_.collective_ctas > 0)
            step.kernel = collective_kernel(collective, d, mechanisms_.collective_ctas);
        append(d, {step});
    }
    program_.collectives.push_back(std::move(collective));
}

void BatchCompiler::route_cells(std::size_t index, const CellRoutes& routes) {
    const Stage& stage = network_.stages[index];
    const std::size_t branches = stage.router.branches;
    std::vector<std::uint64_t> here(devices_), decided(devices_);
    std::vector<std::vector<std::uint64_t>> sent(devices_, std::vector<std::uint64_t>(branches));
    for (std::size_t cell = 0; cell < routes.size(); ++cell) {
        if (cell % stage.cells_each != 0) continue;
        ++here[location_[cell]];
        ++program_.counts.decided_cells;
        if (stage.router.capacity > 0 && routes[cell].size() < stage.router.k) ++program_.counts.dropped_cells;
        for (const std::size_t branch : routes[cell]) {
            ++sent[location_[cell]][branch];
            ++decided[location_[cell]];
        }
    }
    program_.counts.decisions += stage.read_backs;
    for (std::size_t d = 0; d < devices_; ++d) {
        append(d, stages_.gate(index, here[d]));
        add_profile(index, d, decided[d]);
    }
    const std::vector<std::size_t>& of_branch = placement_[index];
    std::vector<std::uint64_t> loads(branches), most(branches);
    for (std::size_t d = 0; d < devices_; ++d)
        for (std::size_t b = 0; b < branches; ++b) {
            loads[b] += sent[d][b];
            most[b] = std::max(most[b], sent[d][b]);
        }
    // What padding makes of each branch's cells of a device: the declared capacity, or the largest count.
    const std::uint64_t padded =
        stage.router.capacity > 0 ? stage.router.capacity : *std::max_element(most.begin(), most.end());
    const std::uint64_t each = devices_ > 1 ? ceil_div(branches, devices_) : branches;
    const std::uint64_t pair_capacity =
        std::max<std::uint64_t>(1, each * std::max(padded, *std::max_element(most.begin(), most.end())));
    CellLists lists(devices_, std::vector<std::vector<std::uint64_t>>(devices_));
    if (devices_ > 1) {
        for (std::size_t cell = 0; cell < routes.size(); cell += stage.cells_each)
            for (const std::size_t branch : routes[cell]) lists[location_[cell]][of_branch[branch]].push_back(cell);
        exchange(index, lists, pair_capacity);
    }
    for (std::size_t d = 0; d < devices_; ++d) {
        std::vector<std::uint64_t> local(branches);
        std::vector<bool> mine(branches);
        std::uint64_t arrived = 0;
        for (std::size_t b = 0; b < branches; ++b) {
            mine[b] = of_branch[b] == d;
            if (!mine[b]) continue;
            local[b] = loads[b];
            arrived += loads[b];
        }
        const std::uint64_t capacity = std::max(padded * devices_, *std::max_element(local.begin(), local.end()));
        RoutedSteps routed = stages_.branches(index, local, devices_ > 1 ? arrived : here[d], capacity, mine);
        program_.counts.routed_cells += routed.routed_cells;
        program_.counts.padded_cells += routed.padded_cells;
        if (routed.host_needs_loads && arrived > 0) append(d, {read_back_step(8 * branches)});
        append(d, std::move(routed.steps));
    }
    if (devices_ == 1) return;
    CellLists back(devices_, std::vector<std::vector<std::uint64_t>>(devices_));
    for (std::size_t cell = 0; cell < routes.size(); ++cell) {
        if (routes[cell].empty()) continue;
        const std::size_t to = network_.cells_stay ? of_branch[routes[cell].front()] : location_[cell];
        for (const std::size_t branch : routes[cell]) back[of_branch[branch]][to].push_back(cell);
        location_[cell] = to;
        if (mechanisms_.functional) program_.ends[cell] = {to, routes[cell].size()};
    }
    if (network_.cells_stay && stage.router.k == 1) return;  // all are where they belong
    exchange(index, back, pair_capacity);
}

}  // namespace switchyard::sched::brainstorm
