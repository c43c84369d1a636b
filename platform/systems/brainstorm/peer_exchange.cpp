// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/brainstorm/peer_exchange.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <sysc/kernel/sc_spawn.h>

#include "switchyard/hw/gpu/kernel_launch.h"
#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::platform::brainstorm {

PeerExchange::PeerExchange(const sc_core::sc_module_name& module_name,
                           std::shared_ptr<const sched::LinkTopology> topology, const hw::MessageEngine::Config& config,
                           SimulationRegistry& registry)
    : sc_module(module_name),
      memories("memories", topology->devices()),
      topology_(std::move(topology)),
      engine_(topology_, config),
      words_(topology_->devices()),
      next_("next") {
    require_picoseconds(*this);
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.set_sensitivity(&next_);
    options.dont_initialize();
    sc_core::sc_spawn([this] { advance(); }, "advance", &options);
    for (unsigned device = 0; device < topology_->devices(); ++device) {
        word_there_.push_back(std::make_unique<sc_core::sc_event>());
        sc_core::sc_spawn([this, device] { write_word(device); }, fmt::format("words_{}", device).c_str());
    }
    registry.add(*this, "collectives", "1", stats_.collectives);
    registry.add(*this, "messages", "1", stats_.messages);
    registry.add(*this, "bytes", "bytes", stats_.bytes);
    registry.add_waiter(*this, [this] {
        const std::string waiting = engine_.waiting();
        return engine_.in_flight() == 0
                   ? std::string()
                   : fmt::format("{} messages{}{}", engine_.in_flight(), waiting.empty() ? "" : ": ", waiting);
    });
}

void PeerExchange::begin(const std::vector<sched::CollectiveProgram>& collectives, std::uint64_t word_address,
                         std::uint64_t first_value, CellContents* contents) {
    contents_ = contents;
    word_address_ = word_address;
    first_value_ = first_value;
    running_.clear();
    for (const sched::CollectiveProgram& program : collectives) {
        Running run;
        run.program = &program;
        run.missing.assign(topology_->devices(), 1);
        run.entered.resize(topology_->devices());
        if (contents_ != nullptr) {
            run.buffers.resize(topology_->devices());
            run.moving.resize(program.transfers.size());
        }
        run.followers.resize(program.transfers.size());
        for (std::uint32_t i = 0; i < program.transfers.size(); ++i) {
            const sched::Transfer& transfer = program.transfers[i];
            run.waits.push_back(static_cast<std::uint32_t>(transfer.after.size()) +
                                (transfer.to == transfer.from ? 1 : 2));
            for (const std::uint32_t before : transfer.after) run.followers[before].push_back(i);
            ++run.missing[transfer.from];
            if (transfer.to != transfer.from) ++run.missing[transfer.to];
        }
        running_.push_back(std::move(run));
    }
}

void PeerExchange::enter(std::uint32_t collective, unsigned device) {
    Running& run = running_.at(collective);
    if (device == 0) ++stats_.collectives;
    run.entered[device] = sc_core::sc_time_stamp();
    if (contents_ != nullptr) run.buffers[device] = contents_->pack(collective, device);
    for (std::uint32_t i = 0; i < run.program->transfers.size(); ++i)
        if (run.program->transfers[i].from == device || run.program->transfers[i].to == device) release(collective, i);
    count_down(collective, device);
}

/// One of the things that a transfer waits for has come about.
void PeerExchange::release(std::uint32_t collective, std::uint32_t index) {
    Running& run = running_[collective];
    if (--run.waits[index] > 0) return;
    const sched::Transfer& transfer = run.program->transfers[index];
    const double ns = transfer.step_ns + (transfer.after.empty() ? run.program->base_ns : 0);
    starts_.push({later_time(present_picoseconds(), whole_time(ns * 1e3, "ps", "a step of a collective"), "ps",
                             run.program->name),
                  collective, index});
    next_.notify(sc_core::SC_ZERO_TIME);
}

void PeerExchange::arrived(std::uint32_t collective, std::uint32_t index) {
    Running& run = running_[collective];
    const sched::Transfer& transfer = run.program->transfers[index];
    write_contents(collective, index);
    for (const std::uint32_t follower : run.followers[index]) release(collective, follower);
    count_down(collective, transfer.from);
    if (transfer.to != transfer.from) count_down(collective, transfer.to);
}

void PeerExchange::count_down(std::uint32_t collective, unsigned device) {
    Running& run = running_[collective];
    if (--run.missing[device] > 0) return;
    if (contents_ != nullptr) {
        contents_->unpack(collective, device, run.buffers[device]);
        std::vector<std::uint8_t>().swap(run.buffers[device]);
    }
    stats_.waiting_ns += (sc_core::sc_time_stamp() - run.entered[device]) / sc_core::sc_time(1, sc_core::SC_NS);
    words_[device].push(first_value_ + collective);
    word_there_[device]->notify(sc_core::SC_ZERO_TIME);
    if (ended_) ended_(collective, device);
}

void PeerExchange::read_contents(std::uint32_t collective, std::uint32_t index) {
    if (contents_ == nullptr) return;
    Running& run = running_[collective];
    const sched::Transfer& transfer = run.program->transfers[index];
    const auto from = run.buffers[transfer.from].begin() + static_cast<std::ptrdiff_t>(transfer.source);
    run.moving[index].assign(from, from + static_cast<std::ptrdiff_t>(transfer.bytes));
}

void PeerExchange::write_contents(std::uint32_t collective, std::uint32_t index) {
    if (contents_ == nullptr) return;
    Running& run = running_[collective];
    const sched::Transfer& transfer = run.program->transfers[index];
    std::copy(run.moving[index].begin(), run.moving[index].end(),
              run.buffers[transfer.to].begin() + static_cast<std::ptrdiff_t>(transfer.destination));
    std::vector<std::uint8_t>().swap(run.moving[index]);
}

void PeerExchange::write_word(unsigned device) {
    while (true) {
        while (words_[device].empty()) wait(*word_there_[device]);
        std::uint64_t value = words_[device].front();
        words_[device].pop();
        ::tlm::tlm_generic_payload payload;
        hw::set_access(payload, true, word_address_, &value, sizeof value);
        sc_core::sc_time delay;
        memories[device]->b_transport(payload, delay);
        wait(delay);
        if (payload.is_response_error())
            throw ModelError(*this,
                             fmt::format("expected device memory to take the end of a collective at {:#x}, found {}",
                                         word_address_, payload.get_response_string()));
    }
}

void PeerExchange::advance() {
    const std::uint64_t now = present_picoseconds();
    engine_.advance(now);
    const std::vector<hw::MessageEngine::Delivery> deliveries = engine_.deliveries();
    for (const hw::MessageEngine::Delivery& delivery : deliveries)
        arrived(static_cast<std::uint32_t>(delivery.tag >> 32), static_cast<std::uint32_t>(delivery.tag));
    while (!starts_.empty() && starts_.top().time_ps <= now) {
        const Start start = starts_.top();
        starts_.pop();
        const sched::Transfer& transfer = running_[start.collective].program->transfers[start.transfer];
        read_contents(start.collective, start.transfer);
        if (transfer.from == transfer.to) {
            arrived(start.collective, start.transfer);
            continue;
        }
        ++stats_.messages;
        stats_.bytes += transfer.on_wire();
        engine_.send(now, transfer.from, transfer.to, transfer.on_wire(),
                     std::uint64_t{start.collective} << 32 | start.transfer);
    }
    std::uint64_t next = ~std::uint64_t{0};
    if (!engine_.idle()) next = engine_.next_event();
    if (!starts_.empty()) next = std::min(next, starts_.top().time_ps);
    if (next == ~std::uint64_t{0}) return;
    next_.notify(until_picoseconds(next));
}

}  // namespace switchyard::platform::brainstorm
