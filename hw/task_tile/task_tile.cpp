// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/task_tile/task_tile.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::hw {

namespace {

constexpr std::uint32_t kTaskSlots =
    2;  ///< rounds that are loaded, and rounds that are written, beside the one computed

}  // namespace

TaskTile::TaskTile(const sc_core::sc_module_name& name, Config config, SimulationRegistry& registry)
    : sc_module(name),
      noc_out("noc_out"),
      noc_in("noc_in"),
      config_(std::move(config)),
      clock_(config_.clock_ghz),
      packets_(std::string(this->name()) + ".packets"),
      events_("events") {
    noc_in.register_b_transport(this, &TaskTile::b_transport);
    SWITCHYARD_HAS_PROCESS(TaskTile);
    SC_THREAD(serve);
    register_counters(registry, this->name(), kCounters, [this]() -> const Stats& { return stats_; });
    registry.add_waiter(*this, [this] { return waits(); });
}

void TaskTile::b_transport(Payload& payload, sc_core::sc_time& delay) {
    if (payload.get_extension<PacketExtension>() == nullptr || payload.get_extension<TaskMessage>() == nullptr) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    events_.push({Event::Kind::arrival, PooledPayload::share(payload)}, delay);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void TaskTile::serve() {
    for (;;) {
        wait(events_.event());
        Event event;
        while (events_.pop_due(event)) {
            if (event.kind == Event::Kind::arrival) {
                receive(*event.payload);
            } else {
                computed();
            }
            event = {};
        }
    }
}

void TaskTile::receive(const Payload& payload) {
    const auto& message = *payload.get_extension<TaskMessage>();
    const auto* const memory = payload.get_extension<MemoryExtension>();
    if (memory != nullptr && memory->operation == MemoryOperation::read_data) {
        const std::uint64_t bytes = payload.get_extension<PacketExtension>()->payload_bytes;
        stats_.received_bytes += bytes;
        if (message.task != task_ || message.round < computed_ || message.round >= opened_)
            throw ModelError(*this,
                             fmt::format("expected data of task {} and rounds [{}, {}), found those of task {} and "
                                         "round {}",
                                         task_, computed_, opened_, message.task, message.round));
        Load& load = loads_[message.round - computed_];
        if (load.missing < bytes)
            throw ModelError(*this, fmt::format("round {}: expected at most {} bytes, found {}", message.round,
                                                load.missing, bytes));
        load.missing -= bytes;
        return advance();
    }
    if (memory != nullptr && memory->operation == MemoryOperation::write_done) {
        const auto store =
            std::find_if(stores_.begin(), stores_.end(), [&](const Store& one) { return one.round == message.round; });
        if (store == stores_.end())
            throw ModelError(*this, fmt::format("expected acknowledgements of rounds that were written, found round {}",
                                                message.round));
        --store->missing;
        return advance();
    }
    switch (message.command) {
        case TaskCommand::run:
            return begin(message);
        case TaskCommand::stop:
            // A task that has ended here was run to its end, and the tile may have another one by now.
            if (program_ && message.task == task_) stopping_ = true;
            return send(TaskCommand::stopped, message.task, message.task == task_ ? opened_ : 0, 0, config_.host);
        case TaskCommand::limit:
            if (!program_ || message.task != task_) return;
            limit_ = message.round;
            stopping_ = false;
            return advance();
        case TaskCommand::ready:
            ++rooms_[{message.task, message.round, message.read}];
            if (program_ && message.task == task_ && message.round >= computed_ && message.round < opened_)
                ask(message.round);
            return;
        default:
            throw ModelError(*this, fmt::format("expected run, stop, limit or ready, found command {}",
                                                static_cast<unsigned>(message.command)));
    }
}

void TaskTile::begin(const TaskMessage& message) {
    if (program_)
        throw ModelError(
            *this, fmt::format("expected the end of task {} first, found the start of task {}", task_, message.task));
    const std::vector<Endpoint>& tiles = message.program->tiles();
    const auto found = std::find(tiles.begin(), tiles.end(), config_.tile);
    if (found == tiles.end())
        throw ModelError(*this, fmt::format("expected this tile, {}, among those of task {}, found {}", config_.tile,
                                            message.task, fmt::join(tiles, " ")));
    program_ = message.program;
    task_ = message.task;
    rank_ = static_cast<std::size_t>(found - tiles.begin());
    limit_ = program_->rounds();
    opened_ = computed_ = 0;
    stopping_ = computing_ = false;
    advance();
}

void TaskTile::advance() {
    if (!program_) return;
    while (!stores_.empty() && stores_.front().missing == 0) stores_.pop_front();
    while (!stopping_ && opened_ < limit_ && opened_ < computed_ + kTaskSlots) open_round();
    if (!computing_ && !loads_.empty() && loads_.front().missing == 0 && stores_.size() < kTaskSlots) {
        computing_ = true;
        const std::uint64_t cycles = loads_.front().round.compute_cycles;
        stats_.busy_cycles += cycles;
        events_.push({}, clock_.cycles(cycles));
    }
    if (stopping_ || computed_ < limit_ || !stores_.empty()) return;
    program_.reset();
    rooms_.clear();
    send(TaskCommand::done, task_, limit_, 0, config_.host);
}

void TaskTile::open_round() {
    const std::uint32_t round = opened_++;
    Load& load = loads_.emplace_back();
    load.round = program_->round(rank_, round);
    load.asked.assign(load.round.reads.size(), false);
    for (std::size_t read = 0; read < load.round.reads.size(); ++read) {
        const TaskRead& one = load.round.reads[read];
        load.missing += one.bytes();
        if (one.readers.front() != config_.tile)
            send(TaskCommand::ready, task_, round, static_cast<std::uint16_t>(read), one.readers.front());
    }
    ask(round);
}

void TaskTile::ask(std::uint32_t round) {
    Load& load = loads_[round - computed_];
    for (std::size_t read = 0; read < load.round.reads.size(); ++read) {
        const TaskRead& one = load.round.reads[read];
        if (load.asked[read] || one.readers.front() != config_.tile) continue;
        if (one.readers.size() > 1) {
            const auto rooms = rooms_.find({task_, round, static_cast<std::uint16_t>(read)});
            if (rooms == rooms_.end() || rooms->second + 1 < one.readers.size()) continue;
            rooms_.erase(rooms);
        }
        load.asked[read] = true;
        ask_memory(round, one);
    }
}

void TaskTile::ask_memory(std::uint32_t round, const TaskRead& read) {
    for (const MemoryRun& run : read.runs) {
        const PooledPayload request = packet(config_.memory.at(run.address / config_.region_bytes), 0);
        request->set_command(::tlm::TLM_READ_COMMAND);
        request->set_address(run.address);
        request.packet().traffic = TrafficClass::control;
        auto& memory = request.extension<MemoryExtension>();
        memory.operation = MemoryOperation::read;
        memory.requested_bytes = run.bytes;
        memory.reply_to = read.readers;
        request.extension<TaskMessage>().round = round;
        inject(request, true);
    }
}

void TaskTile::computed() {
    computing_ = false;
    const std::vector<MemoryRun> results = std::move(loads_.front().round.writes);
    loads_.pop_front();
    ++stats_.rounds;
    write(computed_++, results);
    advance();
}

void TaskTile::write(std::uint32_t round, const std::vector<MemoryRun>& runs) {
    if (runs.empty()) return;
    Store& store = stores_.emplace_back();
    store.round = round;
    for (const MemoryRun& run : runs) {
        for (std::uint64_t done = 0; done < run.bytes; done += config_.max_packet_bytes) {
            const std::uint64_t bytes = std::min<std::uint64_t>(config_.max_packet_bytes, run.bytes - done);
            const PooledPayload data = packet(config_.memory.at(run.address / config_.region_bytes), bytes);
            data->set_address(run.address + done);
            data.extension<MemoryExtension>().operation = MemoryOperation::write;
            data.extension<TaskMessage>().round = round;
            ++store.missing;
            stats_.written_bytes += bytes;
            inject(data, done == 0);
        }
    }
}

void TaskTile::send(TaskCommand command, std::uint32_t task, std::uint32_t round, std::uint16_t read, Endpoint to) {
    const PooledPayload control = packet(to, 0);
    control.packet().traffic = TrafficClass::control;
    auto& message = control.extension<TaskMessage>();
    message.command = command;
    message.task = task;
    message.round = round;
    message.read = read;
    inject(control, false);
}

PooledPayload TaskTile::packet(Endpoint to, std::uint64_t payload_bytes) {
    PooledPayload payload(packets_);
    PacketExtension& packet = payload.packet();
    packet.source = config_.tile;
    packet.destinations.assign(1, to);
    packet.payload_bytes = payload_bytes;
    payload.extension<TaskMessage>().task = task_;
    const auto length = static_cast<unsigned>(std::max<std::uint64_t>(payload_bytes, 1));
    payload->set_command(::tlm::TLM_WRITE_COMMAND);
    payload->set_data_ptr(dummy_buffer(length));
    payload->set_data_length(length);
    payload->set_streaming_width(length);
    return payload;
}

void TaskTile::inject(const PooledPayload& packet, bool after_setup) {
    sc_core::sc_time delay = after_setup ? clock_.cycles(config_.setup_cycles) : sc_core::SC_ZERO_TIME;
    ++stats_.packets;
    noc_out->b_transport(*packet, delay);
    if (!packet->is_response_ok())
        throw ModelError(*this, "expected the network to take a packet, found " + packet->get_response_string());
}

std::string TaskTile::waits() const {
    if (!program_) return "";
    if (stopping_) return fmt::format("the host's limit of rounds of task {}", task_);
    if (computing_) return fmt::format("the end of round {} of task {}", computed_, task_);
    if (!loads_.empty() && loads_.front().missing > 0)
        return fmt::format("{} bytes for round {} of task {}", loads_.front().missing, computed_, task_);
    return fmt::format("acknowledgements of round {} of task {}", stores_.empty() ? 0 : stores_.front().round, task_);
}

}  // namespace switchyard::hw
