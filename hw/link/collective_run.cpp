// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/link/collective_run.h"

#include <algorithm>
#include <cstring>
#include <queue>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/whole_time.h"

namespace switchyard::hw {
namespace {

std::uint64_t to_ps(double ns) {
    return whole_time(1000 * ns, "ps", "a step of a collective");
}

class Run {
public:
    Run(const std::shared_ptr<const sched::LinkTopology>& topology, const MessageEngine::Config& config,
        const sched::CollectiveProgram& program, DeviceBuffers* buffers)
        : program_(program),
          buffers_(buffers),
          engine_(topology, config),
          missing_(program.transfers.size()),
          dependents_(program.transfers.size()),
          moving_(buffers != nullptr ? program.transfers.size() : 0) {
        result_.arrival_ns.resize(program.transfers.size());
    }

    CollectiveResult operator()() {
        for (std::uint32_t i = 0; i < program_.transfers.size(); ++i) {
            const sched::Transfer& transfer = program_.transfers[i];
            missing_[i] = transfer.after.size();
            for (const std::uint32_t earlier : transfer.after) dependents_[earlier].push_back(i);
            if (transfer.after.empty()) starts_.emplace(to_ps(program_.base_ns) + to_ps(transfer.step_ns), i);
        }
        while (!starts_.empty() || !engine_.idle()) {
            const std::uint64_t start = starts_.empty() ? ~std::uint64_t{0} : starts_.top().first;
            const std::uint64_t now = engine_.idle() ? start : std::min(start, engine_.next_event());
            engine_.advance(now);
            for (const MessageEngine::Delivery& delivery : engine_.deliveries())
                arrive(delivery.time_ps, static_cast<std::uint32_t>(delivery.tag));
            while (!starts_.empty() && starts_.top().first == now) {
                const std::uint32_t number = starts_.top().second;
                starts_.pop();
                begin(now, number);
            }
        }
        if (arrived_ != program_.transfers.size())
            throw std::runtime_error(fmt::format("{}: expected {} transfers to arrive, found {} that have: {}",
                                                 program_.name, program_.transfers.size(), arrived_,
                                                 engine_.waiting()));
        result_.ns = static_cast<double>(last_ps_) / 1000;
        return std::move(result_);
    }
    const MessageEngine& engine() const { return engine_; }

private:
    void begin(std::uint64_t now, std::uint32_t number) {
        const sched::Transfer& transfer = program_.transfers[number];
        if (buffers_ != nullptr) {
            const std::uint8_t* from = (*buffers_)[transfer.from].data() + transfer.source;
            moving_[number].assign(from, from + transfer.bytes);
        }
        if (transfer.from == transfer.to)
            arrive(now, number);
        else
            engine_.send(now, transfer.from, transfer.to, transfer.on_wire(), number);
    }

    void arrive(std::uint64_t now, std::uint32_t number) {
        const sched::Transfer& transfer = program_.transfers[number];
        ++arrived_;
        last_ps_ = std::max(last_ps_, now);
        result_.arrival_ns[number] = static_cast<double>(now) / 1000;
        if (buffers_ != nullptr) {
            std::uint8_t* memory = (*buffers_)[transfer.to].data();
            std::vector<std::uint8_t>& data = moving_[number];
            std::copy(data.begin(), data.end(), memory + (transfer.reduce ? transfer.staging : transfer.destination));
            if (transfer.reduce) add_binary32(memory + transfer.staging, memory + transfer.destination, transfer.bytes);
            std::vector<std::uint8_t>().swap(data);
        }
        for (const std::uint32_t later : dependents_[number])
            if (--missing_[later] == 0)
                starts_.emplace(later_time(now, to_ps(program_.transfers[later].step_ns), "ps", program_.name), later);
    }

    using Start = std::pair<std::uint64_t, std::uint32_t>;  // time, transfer
    const sched::CollectiveProgram& program_;
    DeviceBuffers* buffers_;
    MessageEngine engine_;
    std::vector<std::size_t> missing_;
    std::vector<std::vector<std::uint32_t>> dependents_;
    std::vector<std::vector<std::uint8_t>> moving_;
    std::priority_queue<Start, std::vector<Start>, std::greater<>> starts_;
    std::size_t arrived_ = 0;
    std::uint64_t last_ps_ = 0;
    CollectiveResult result_;
};

}  // namespace

std::uint64_t CollectiveResult::busiest_bytes() const {
    return channel_bytes.empty() ? 0 : *std::max_element(channel_bytes.begin(), channel_bytes.end());
}

void add_binary32(const std::uint8_t* from, std::uint8_t* to, std::uint64_t count) {
    for (std::uint64_t i = 0; i + 4 <= count; i += 4) {
        float a = 0, b = 0;
        std::memcpy(&a, from + i, 4);
        std::memcpy(&b, to + i, 4);
        b += a;
        std::memcpy(to + i, &b, 4);
    }
}

CollectiveResult run_collective(const std::shared_ptr<const sched::LinkTopology>& topology,
                                const MessageEngine::Config& config, const sched::CollectiveProgram& program,
                                DeviceBuffers* buffers) {
    const std::string message = validation_error(program);
    if (!message.empty()) throw std::invalid_argument(message);
    if (program.devices > topology->devices())
        throw std::invalid_argument(fmt::format("{}: expected at most the {} devices of the topology, found {}",
                                                program.name, topology->devices(), program.devices));
    if (buffers != nullptr) {
        if (buffers->size() < program.devices)
            throw std::invalid_argument(
                fmt::format("{}: expected {} buffers, found {}", program.name, program.devices, buffers->size()));
        for (const auto& buffer : *buffers)
            if (buffer.size() < program.buffer_bytes)
                throw std::invalid_argument(fmt::format("{}: expected buffers of {} bytes or more, found {}",
                                                        program.name, program.buffer_bytes, buffer.size()));
    }
    Run run(topology, config, program, buffers);
    CollectiveResult result = run();
    for (unsigned i = 0; i < topology->channels(); ++i) {
        const MessageEngine::ChannelStats& stats = run.engine().channel(i);
        result.channel_bytes.push_back(stats.bytes);
        result.channel_busy.push_back(result.ns > 0 ? static_cast<double>(stats.busy_ps) / (1000 * result.ns) : 0);
    }
    return result;
}

}  // namespace switchyard::hw
