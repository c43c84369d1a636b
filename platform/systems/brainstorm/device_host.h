// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>

#include <systemc>

#include "switchyard/hw/gpu/packet.h"
#include "switchyard/platform/gpu/device_access.h"
#include "switchyard/platform/gpu/gpu_device.h"
#include "switchyard/platform/systems/brainstorm/brainstorm_config.h"
#include "switchyard/platform/systems/brainstorm/weight_contents.h"
#include "switchyard/sw_scheduler/brainstorm/host_program.h"

namespace switchyard::platform::brainstorm {

/// The host of one device: a thread that does the steps of a program, and one that checks a speculation. Each has a
/// core of its own. Queues and events lie in the device's memory.
class DeviceHost : public sc_core::sc_module {
public:
    static constexpr std::uint64_t kCollectiveTag = std::uint64_t{1}
                                                    << 32;  ///< kernels that enter collective tag - this
    struct Stats {
        std::uint64_t launches = 0, read_backs = 0, loads = 0, rollbacks = 0, abandoned_steps = 0;
    };

    /// `depth`: speculations whose checks may be open. `ring_packets`: a power of two; no batch has more for a queue.
    DeviceHost(const sc_core::sc_module_name& name, DeviceAccess& device, const HostConfig& costs, unsigned depth,
               std::uint32_t ring_packets, SimulationRegistry& registry);

    /// From a thread. `batch` counts from 1; collectives of the batch have numbers from `first_collective` + 1 on.
    /// Returns when the main queue has done all, in microseconds since the call; what other queues still do is done as
    /// well.
    double run(const sched::brainstorm::HostSteps& steps, std::uint64_t batch, std::uint64_t first_collective);
    void set_up_queues();
    /// A kernel is complete.
    void note_progress() { last_progress_ = sc_core::sc_time_stamp(); }
    /// Of the word that the end of a collective is written to.
    std::uint64_t collective_word() const { return events_; }
    /// Memory that queues and events take, from address 0 on.
    std::uint64_t end_of_set_up() const { return events_ + 8 * kEventWords; }

    const Stats& stats() const { return stats_; }
    /// Functional runs: what kernels with `weights` find.
    WeightContents& weights() { return weights_; }
    const WeightContents& weights() const { return weights_; }

private:
    static constexpr std::uint32_t kEventWords = 1 << 16;
    static constexpr std::uint64_t kRings = std::uint64_t{1} << 20;
    enum Word : std::uint32_t {
        kCollectiveWord,
        kForkWords,
        kLoadWords = kForkWords + sched::brainstorm::kDeviceQueues
    };

    /// A speculation whose check is open, or has been found wrong.
    struct Pending {
        std::size_t step = 0;
        std::uint64_t fork = 0;                   ///< value of the event at which the check may begin
        std::uint64_t predicted = 0, behind = 0;  ///< tags of the first packet of the prediction, and of what follows
        bool known = false, given_up = false;
        sc_core::sc_event there;
    };
    using Checks = std::deque<std::shared_ptr<Pending>>;  ///< oldest first

    void speculate(const sched::brainstorm::HostSteps& steps, std::size_t step, Checks& open);
    /// Of the oldest check that is known to be wrong: gives up those behind it, does what its decision wants, and
    /// returns the step behind it, to go on there. 0: none is wrong.
    std::size_t roll_back(const sched::brainstorm::HostSteps& steps, std::size_t at, Checks& open);
    void execute(const sched::brainstorm::HostStep& step);
    void spend(double us);
    void push(unsigned queue, const hw::GpuPacket& packet);
    void push_event(unsigned queue, hw::GpuPacket::Kind kind, std::uint32_t word, std::uint64_t value);
    void await_completed(unsigned queue, std::uint32_t packets);
    void synchronise(unsigned queue);

    DeviceAccess& device_;
    HostConfig costs_;
    unsigned depth_;
    std::uint32_t ring_packets_;
    const SimulationRegistry& registry_;
    std::uint64_t events_;
    std::array<std::uint32_t, sched::brainstorm::kDeviceQueues> written_{}, completed_{};  ///< packets
    std::uint64_t batch_ = 0, first_collective_ = 0, forks_ = 0, packets_ = 0;
    std::uint64_t check_fork_ = 0;          ///< value of the event of the check queue's last fork
    std::set<std::uint32_t> issued_loads_;  ///< of the batch
    std::shared_ptr<Pending> last_check_;   ///< the next one begins behind it
    sc_core::sc_time last_progress_;
    Stats stats_;
    WeightContents weights_;
};

}  // namespace switchyard::platform::brainstorm
