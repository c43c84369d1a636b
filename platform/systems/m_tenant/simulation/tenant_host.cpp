// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/m_tenant/simulation/tenant_host.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::platform {

namespace {

constexpr std::uint64_t kDescriptorBytes =
    128;  ///< of a kernel, as on the chip with kernel stores (Adyna, section VI-B)

}  // namespace

TenantHost::TenantHost(const sc_core::sc_module_name& name, Job job, SimulationRegistry& registry)
    : sc_module(name),
      noc_out("noc_out"),
      noc_in("noc_in"),
      job_(std::move(job)),
      clock_(job_.clock_ghz),
      packets_(std::string(this->name()) + ".packets"),
      messages_("messages"),
      tile_used_(job_.kernels.hardware().tiles(), false) {
    noc_in.register_b_transport(this, &TenantHost::b_transport);
    registry.add_waiter(*this, [this] { return waits(); });
    SWITCHYARD_HAS_PROCESS(TenantHost);
    SC_THREAD(run);
}

void TenantHost::b_transport(Payload& payload, sc_core::sc_time& delay) {
    if (payload.get_extension<PacketExtension>() == nullptr || payload.get_extension<TaskMessage>() == nullptr) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    messages_.push(PooledPayload::share(payload), delay);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

double TenantHost::now() const {
    return static_cast<double>(clock_.count(sc_core::sc_time_stamp() - batch_begin_));
}

void TenantHost::run() {
    for (const BatchRouting& batch : job_.routing) run_batch(batch);
    finished_ = true;
}

void TenantHost::run_batch(const BatchRouting& routing) {
    const double host_cycles = job_.config.host_synchronisation_us * 1e3 * job_.clock_ghz;
    order_ = std::make_unique<TenantOrder>(job_.graph, routing, job_.config, host_cycles);
    const std::size_t operators = job_.graph.graph.operators.size();
    const Counted before = job_.counted();
    batch_ = {};
    batch_.operator_cycles.assign(operators, 0);
    batch_.operator_tiles.assign(operators, 0);
    begun_.assign(operators, -1);
    batch_begin_ = sc_core::sc_time_stamp();
    idle_since_ = 0;
    announce(order_->begin());
    for (;;) {
        take_ready();
        take_messages();
        reallocate();
        start_waiting();
        if (ready_.empty() && waiting_.empty() && groups_.empty()) break;
        if (ready_.empty()) {
            wait(messages_.event());
        } else {
            const double cycles = std::max(1.0, ready_.begin()->cycle - now());
            wait(clock_.cycles(whole_time(cycles, "cycles", "the next operator", WholeTime::up)), messages_.event());
        }
    }
    batch_.idle_cycles += now() - idle_since_;
    batch_.cycles = now();
    batch_.synchronisations = order_->synchronisations();
    const Counted after = job_.counted();
    batch_.bytes.hbm_read = static_cast<double>(after.read_bytes - before.read_bytes);
    batch_.bytes.hbm_written = static_cast<double>(after.written_bytes - before.written_bytes);
    batch_.bytes.link = static_cast<double>(after.link_bytes - before.link_bytes);
    batch_.max_bytes_per_cycle = (batch_.bytes.hbm_read + batch_.bytes.hbm_written) / batch_.cycles;
    batches_.push_back(std::move(batch_));
}

void TenantHost::announce(const std::vector<TenantOrder::Ready>& list) {
    ready_.insert(list.begin(), list.end());
}

void TenantHost::take_ready() {
    while (!ready_.empty() && ready_.begin()->cycle <= now()) {
        const TenantOrder::Ready ready = *ready_.begin();
        ready_.erase(ready_.begin());
        if (!ready.is_task) {
            complete(ready.op);
            continue;
        }
        const double samples = order_->count(ready.op) * order_->input_share(ready.op);
        batch_.min_read_bytes +=
            job_.kernels.min_read_bytes_per_sample(ready.op) * samples +
            static_cast<double>(job_.graph.graph.operators[static_cast<std::size_t>(ready.op)].weight_bytes);
        waiting_.push_back({ready.op, 1, 0});
        changed_ = true;
    }
}

void TenantHost::complete(int op) {
    const auto id = static_cast<std::size_t>(op);
    batch_.operator_cycles[id] = now() - order_->ready_cycle(op);
    if (begun_[id] >= 0 && now() > begun_[id]) batch_.operator_tiles[id] /= now() - begun_[id];
    announce(order_->complete(op, now()));
    take_ready();
}

void TenantHost::take_messages() {
    PooledPayload payload;
    while (messages_.pop_due(payload)) {
        const auto message = payload.extension<TaskMessage>();
        payload = {};
        const auto group =
            std::find_if(groups_.begin(), groups_.end(), [&](const Group& one) { return one.number == message.task; });
        if (group == groups_.end()) {
            take_late_answer(message);
            continue;
        }
        if (message.command == TaskCommand::stopped) {
            take_stopped(*group, message.round);
        } else if (message.command == TaskCommand::done) {
            if (++group->done < group->program->tiles().size()) continue;
            Group ended = std::move(*group);
            groups_.erase(group);
            // Tiles that had finished before they were told to stop still answer.
            const auto answers = static_cast<unsigned>(ended.program->tiles().size()) - ended.stopped;
            if (ended.stopping && answers > 0) late_answers_[ended.number] = answers;
            end_group(ended, message.round);
        } else {
            throw ModelError(*this, fmt::format("task {}: expected a tile to answer stopped or done, found command {}",
                                                message.task, static_cast<unsigned>(message.command)));
        }
    }
}

void TenantHost::take_late_answer(const TaskMessage& message) {
    const auto late = late_answers_.find(message.task);
    if (message.command != TaskCommand::stopped || late == late_answers_.end())
        throw ModelError(
            *this, fmt::format("expected an answer of a task that runs or was stopped, found command {} of task {}",
                               static_cast<unsigned>(message.command), message.task));
    if (--late->second == 0) late_answers_.erase(late);
}

void TenantHost::take_stopped(Group& group, std::uint32_t round) {
    group.max_round = std::max(group.max_round, round);
    if (++group.stopped < group.program->tiles().size()) return;
    send(TaskCommand::limit, group, group.max_round, 0);
}

void TenantHost::end_group(Group& group, std::uint32_t rounds) {
    const double share = double{1} * rounds / group.program->rounds() * group.task.remaining;
    const auto id = static_cast<std::size_t>(group.task.op);
    const sched::Operator& op = job_.graph.graph.operators[id];
    const double samples = order_->count(group.task.op);
    batch_.macs += share * samples * static_cast<double>(op.macs_per_sample);
    if (sched::is_vector(op.shape.kind))
        batch_.vector_elements += share * samples * job_.kernels.elements_per_sample(group.task.op);
    const double done = double{1} * rounds / group.program->rounds();
    batch_.bytes.scratchpad_read += done * group.bytes.scratchpad_read;
    batch_.bytes.scratchpad_written += done * group.bytes.scratchpad_written;
    const double cycles = now() - group.begin;
    batch_.tile_cycles += static_cast<double>(group.tiles.size()) * cycles;
    batch_.operator_tiles[id] += static_cast<double>(group.tiles.size()) * cycles;
    for (const Endpoint tile : group.tiles) tile_used_[tile] = false;
    if (groups_.empty()) idle_since_ = now();
    if (rounds < group.program->rounds()) {
        waiting_.push_back({group.task.op, group.task.remaining - share, group.task.target});
        return;
    }
    changed_ = true;
    complete(group.task.op);
}

double TenantHost::work_left(const Waiting& task) const {
    return task.remaining * job_.kernels.min_cycles(task.op, order_->count(task.op), order_->input_share(task.op));
}

double TenantHost::work_left(const Group& group) const {
    constexpr double kLeast = 0.02;  // how far a task really is, the host does not know
    const double share = group.cycles > 0 ? 1 - (now() - group.begin) / group.cycles : 1;
    return std::max(kLeast, share) * work_left(group.task);
}

std::size_t TenantHost::free_tiles() const {
    return static_cast<std::size_t>(std::count(tile_used_.begin(), tile_used_.end(), false));
}

void TenantHost::reallocate() {
    const bool stopping = std::any_of(groups_.begin(), groups_.end(), [](const Group& one) { return one.stopping; });
    if (!changed_ || stopping) return;
    changed_ = false;
    std::sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) { return a.op < b.op; });
    std::vector<double> work;
    for (const Waiting& task : waiting_) work.push_back(work_left(task));
    for (const Group& group : groups_) work.push_back(work_left(group));
    const std::vector<unsigned> shares = share_tiles(job_.config, static_cast<unsigned>(tile_used_.size()), work);
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) wanted += waiting_[i].target = shares[i];
    const bool room_needed = wanted > free_tiles();
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        Group& group = groups_[i];
        const unsigned target = shares[waiting_.size() + i];
        group.task.target = target;
        const auto tiles = static_cast<double>(group.tiles.size());
        const bool grows = target > tiles * (1 + job_.config.reallocation_gain) && !room_needed;
        const bool shrinks = target < tiles && room_needed;
        if ((!grows && !shrinks) || group.done > 0) continue;
        group.stopping = true;
        send(TaskCommand::stop, group, 0, 0);
    }
}

void TenantHost::start_waiting() {
    const bool stopping = std::any_of(groups_.begin(), groups_.end(), [](const Group& one) { return one.stopping; });
    if (stopping || waiting_.empty()) return;
    std::vector<double> work;
    std::sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) { return a.op < b.op; });
    for (const Waiting& task : waiting_) work.push_back(work_left(task));
    const auto room = static_cast<unsigned>(free_tiles());
    const unsigned wanted = std::accumulate(waiting_.begin(), waiting_.end(), 0u,
                                            [](unsigned sum, const Waiting& task) { return sum + task.target; });
    // Groups that were not worth stopping have other numbers of tiles than they would get now.
    const std::vector<unsigned> shares = share_tiles(job_.config, room, work);
    std::vector<Waiting> still;
    const std::vector<Waiting> tasks = std::move(waiting_);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const unsigned tiles = wanted <= room && tasks[i].target > 0 ? tasks[i].target : shares[i];
        if (tiles == 0) {
            still.push_back(tasks[i]);
        } else {
            start(tasks[i], tiles);
        }
    }
    waiting_ = std::move(still);
}

void TenantHost::start(const Waiting& task, unsigned tiles) {
    if (groups_.empty()) batch_.idle_cycles += now() - idle_since_;
    Group group;
    group.task = task;
    group.number = next_task_++;
    group.begin = now();
    for (std::size_t tile = 0; tile < tile_used_.size() && group.tiles.size() < tiles; ++tile) {
        if (tile_used_[tile]) continue;
        tile_used_[tile] = true;
        group.tiles.push_back(static_cast<Endpoint>(tile));
    }
    constexpr double kRounding = 1e-9;
    const auto samples =
        static_cast<std::uint32_t>(std::max(1.0, std::ceil(task.remaining * order_->count(task.op) - kRounding)));
    const double input_share = order_->input_share(task.op);
    const TenantKernel& kernel = job_.kernels.kernel(task.op, samples, tiles, input_share);
    group.program =
        std::make_shared<OperatorTask>(job_.kernels, job_.places, task.op, kernel, samples, input_share, group.tiles);
    group.bytes = kernel.bytes;
    group.cycles = kernel.cycles_at(job_.kernels.hardware().memory_bytes_per_cycle() * tiles /
                                    static_cast<double>(tile_used_.size()));
    if (begun_[static_cast<std::size_t>(task.op)] < 0) begun_[static_cast<std::size_t>(task.op)] = now();
    groups_.push_back(std::move(group));
    batch_.max_tiles = std::max(batch_.max_tiles, static_cast<unsigned>(tile_used_.size() - free_tiles()));
    send(TaskCommand::run, groups_.back(), 0, kDescriptorBytes, groups_.back().program);
}

void TenantHost::send(TaskCommand command, const Group& group, std::uint32_t round, std::uint64_t payload_bytes,
                      std::shared_ptr<const TaskProgram> program) {
    const PooledPayload payload(packets_);
    PacketExtension& packet = payload.packet();
    packet.source = job_.host;
    packet.destinations = group.program->tiles();
    packet.traffic = TrafficClass::control;
    packet.payload_bytes = payload_bytes;
    auto& message = payload.extension<TaskMessage>();
    message.command = command;
    message.task = group.number;
    message.round = round;
    message.program = std::move(program);
    const auto length = static_cast<unsigned>(std::max<std::uint64_t>(payload_bytes, 1));
    payload->set_command(::tlm::TLM_WRITE_COMMAND);
    payload->set_data_ptr(dummy_buffer(length));
    payload->set_data_length(length);
    payload->set_streaming_width(length);
    sc_core::sc_time delay;
    noc_out->b_transport(*payload, delay);
    if (!payload->is_response_ok())
        throw ModelError(*this, "expected the network to take a packet, found " + payload->get_response_string());
}

std::string TenantHost::waits() const {
    if (finished_) return "";
    std::string text = fmt::format("batch {}:", batches_.size());
    for (const Group& group : groups_) {
        text += fmt::format(" {} on {} tiles", job_.graph.graph.operators[static_cast<std::size_t>(group.task.op)].name,
                            group.tiles.size());
    }
    return text;
}

}  // namespace switchyard::platform
