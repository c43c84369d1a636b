// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/scheduling_window/window_core.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

/// The scheduling window of ACE-HW (section 4.3) on a GPU, between the host's stream of kernels and the CTA scheduler.
///
/// `entries`: a WRITE of a kernel to address 0: u8 id, u8 number of upstream ids, the ids, then the packet of its
/// launch, which is kept and not looked at. Ids count up from 0, modulo 256. The write returns when the queue in front
/// of the window has a place: the host's stream stalls. `kernels`: a WRITE of the packet to address id, `dispatch_ns`
/// after the window has dispatched the kernel and `interval_ns` or more after the write before. `completed`: a WRITE to
/// address id: the kernel has completed.
///
/// Modelled: every cycle of the window (window_core.h); the window stands still while nothing can happen, which takes
/// no simulation time. Not modelled: where packets wait on the GPU (as many as the window has slots), and their
/// traffic.
/// Errors: a write that is no entry, an id out of turn, a completion of a kernel that does not execute
/// (TLM_GENERIC_ERROR_RESPONSE, cause in the registry); a kernel that the CTA scheduler refuses, and RTL that differs
/// (ModelError).
class SchedulingWindow : public sc_core::sc_module {
public:
    struct Config {
        std::string impl = "model";
        unsigned slots = 32;
        unsigned scheduled_kernels = 64;
        unsigned queue_entries = 16;
        double clock_ghz = 1.0;
        double dispatch_ns = 0, interval_ns = 0;
    };
    struct Stats {
        std::uint64_t inserted = 0, dispatched = 0, completed = 0;
        std::uint64_t upstream_ids = 0;    ///< that came with the entries, stale ones included
        std::uint64_t cycles = 0;          ///< in which the window did not stand still
        std::uint64_t full_cycles = 0;     ///< in which an entry waited for a slot
        std::uint64_t blocked_cycles = 0;  ///< in which an entry waited because the host's list has lost the oldest
        std::uint64_t max_kernels = 0;     ///< in the window at a time
    };
    static constexpr StatCounter<Stats> kCounters[] = {{"inserted", "1", &Stats::inserted},
                                                       {"dispatched", "1", &Stats::dispatched},
                                                       {"completed", "1", &Stats::completed},
                                                       {"upstream_ids", "1", &Stats::upstream_ids},
                                                       {"cycles", "cycles", &Stats::cycles},
                                                       {"full_cycles", "cycles", &Stats::full_cycles},
                                                       {"blocked_cycles", "cycles", &Stats::blocked_cycles},
                                                       {"max_kernels", "1", &Stats::max_kernels}};

    tlm_utils::simple_target_socket<SchedulingWindow> entries;
    tlm_utils::simple_initiator_socket<SchedulingWindow> kernels;
    tlm_utils::simple_target_socket<SchedulingWindow> completed;

    SchedulingWindow(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
                     const WindowCoreFactory& make_core = &make_window_core);

    const Stats& stats() const { return stats_; }
    /// No kernel waits, is in the window or executes.
    bool idle() const { return queue_.empty() && inside_.empty(); }
    /// "" if idle; otherwise one line that says which kernel waits for which.
    std::string stall() const;

    /// The payload of a write to `entries`.
    static std::vector<std::uint8_t> encode(const sched::ace::WindowEntry& entry,
                                            const std::vector<std::uint8_t>& packet);

private:
    struct Entry {
        sched::ace::WindowEntry window;
        std::vector<std::uint8_t> packet;
    };
    struct Kernel {
        Entry entry;
        bool executing = false;
        bool dispatched = false;
        std::set<sched::ace::KernelId> waits_for;  ///< upstream kernels that are in the window
    };

    void take_entry(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void take_completion(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void run();
    void cycle();
    void dispatch();
    void wait_for_work();
    /// The core answers as no window does.
    [[noreturn]] void fault(const std::string& message);
    void refuse(::tlm::tlm_generic_payload& payload, const std::string& message);
    void count_waiting(const WindowOutputs& outputs);

    Config config_;
    ClockPeriod clock_;
    SimulationRegistry& registry_;
    std::unique_ptr<WindowCore> core_;
    std::deque<Entry> queue_;
    std::deque<sched::ace::KernelId> done_;
    std::map<sched::ace::KernelId, Kernel> inside_;
    std::deque<sched::ace::KernelId> upstream_;  ///< of the kernel that comes in, still to be sent
    TimedQueue<sched::ace::KernelId> dispatched_;
    sched::ace::KernelId next_ = 0;
    std::uint64_t unmoved_cycles_ = 0;  ///< in which the core was clocked and nothing came in or went out
    sc_core::sc_event work_, place_;
    Stats stats_;
};

template <class V>
void describe(V& v, SchedulingWindow::Config& c) {
    v.choice("impl", c.impl, {"model", "rtl", "lockstep"}, "the window: model, RTL, or both compared in every cycle");
    v.field("slots", c.slots, 2, 128, "kernels in the window (N)");
    v.field("scheduled_kernels", c.scheduled_kernels, 2, 255, "kernels in the host's scheduled_list (M), N or more");
    v.field("queue_entries", c.queue_entries, 1, 4096, "kernels that wait on the GPU in front of the window");
    v.field("clock_ghz", c.clock_ghz, 0.01, 10, "of the window");
    v.field("dispatch_ns", c.dispatch_ns, 0, 1e6, "from the window to the CTA scheduler");
    v.field("interval_ns", c.interval_ns, 0, 1e6, "between two kernels to the CTA scheduler");
}

/// "" or what no window can be built with.
std::string validation_error(const SchedulingWindow::Config& config);

}  // namespace switchyard::hw
