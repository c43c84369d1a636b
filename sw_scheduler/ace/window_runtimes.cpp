// SPDX-License-Identifier: Apache-2.0
// ACE-SW and ACE-HW.
#include <deque>
#include <memory>

#include "switchyard/sw_scheduler/ace/host_mutex.h"
#include "switchyard/sw_scheduler/ace/runtime.h"
#include "switchyard/sw_scheduler/ace/scheduled_list.h"

namespace switchyard::sched::ace {

namespace {

/// The application thread: issues kernels into a FIFO of the runtime's.
struct InputFifo {
    std::deque<KernelNumber> kernels;
    bool closed = false;  ///< nothing comes any more

    void issue(HostThread& host, const Job& job) {
        for (KernelNumber k = 0; k < job.kernels->size(); ++k) {
            host.work(job.config.costs.issue_us);
            kernels.push_back(k);
            host.changed();
        }
        closed = true;
        host.changed();
    }
};

/// What the threads of ACE-SW share.
class SoftwareWindow {
public:
    SoftwareWindow(const Job& job, RuntimeStats& stats)
        : job_(job), stats_(stats), window_(job.config.window, job.config.rule) {}

    InputFifo& fifo() { return fifo_; }
    bool finished() const { return completed_ == job_.kernels->size(); }

    /// The window module (section 4.2.1): moves kernels from the FIFO into the window.
    void run_window_module(HostThread& host) {
        for (KernelNumber k = 0; k < job_.kernels->size(); ++k) {
            host.await([this] { return !fifo_.kernels.empty() && !window_.full(); },
                       "a kernel in the input FIFO and a vacancy in the window");
            host.work(costs().poll_us);
            const HostMutex::Guard guard(lock_, host);
            const std::uint64_t pairs = window_.segment_pairs();
            window_.insert(fifo_.kernels.front(), job_.kernels->at(fifo_.kernels.front()));
            fifo_.kernels.pop_front();
            const double us = static_cast<double>(window_.segment_pairs() - pairs) * costs().segment_pair_ns * 1e-3;
            stats_.segment_pairs = window_.segment_pairs();
            stats_.check_us += us;
            host.work(us);
        }
    }

    /// Algorithm 2: launches one kernel after another into a stream of its own.
    void run_scheduler(HostThread& host, unsigned stream) {
        for (;;) {
            host.await([this] { return finished() || window_.ready(); }, "a ready kernel in the window");
            if (finished()) return;
            host.work(costs().poll_us);
            const std::optional<KernelNumber> kernel = take(host);
            if (!kernel) continue;  // another thread was there first
            {
                // The driver takes launches of one context one after another.
                const HostMutex::Guard guard(driver_, host);
                host.work(costs().launch_us);
                host.launch(stream, *kernel);
            }
            ++stats_.launches;
            host.work(costs().synchronise_us);
            host.synchronise(stream);
            ++stats_.synchronisations;
            const HostMutex::Guard guard(lock_, host);
            host.work(costs().window_update_us);
            window_.complete(*kernel);
            ++completed_;
        }
    }

private:
    const HostCosts& costs() const { return job_.config.costs; }
    std::optional<KernelNumber> take(HostThread& host) {
        const HostMutex::Guard guard(lock_, host);
        return window_.take_ready();
    }

    const Job& job_;
    RuntimeStats& stats_;
    SchedulingWindow window_;
    InputFifo fifo_;
    HostMutex lock_{"the window's lock"}, driver_{"the driver's lock"};
    std::size_t completed_ = 0;
};

}  // namespace

void run_ace_sw(HostThread& host, const Job& job, RuntimeStats& stats) {
    // Threads may still look at it when the job is done.
    const auto shared = std::make_shared<SoftwareWindow>(job, stats);
    host.spawn("window_module", [shared](HostThread& thread) { shared->run_window_module(thread); });
    unsigned running = job.config.streams;
    for (unsigned stream = 0; stream < job.config.streams; ++stream)
        host.spawn("scheduler_" + std::to_string(stream), [shared, stream, &running](HostThread& thread) {
            shared->run_scheduler(thread, stream);
            --running;
            thread.changed();
        });
    shared->fifo().issue(host, job);
    host.await([&running] { return running == 0; }, "the end of all kernels");
}

void run_ace_hw(HostThread& host, const Job& job, RuntimeStats& stats) {
    const HostCosts& costs = job.config.costs;
    const auto fifo = std::make_shared<InputFifo>();
    bool issued = false;
    host.spawn("application", [fifo, &job, &issued](HostThread& thread) {
        fifo->issue(thread, job);
        issued = true;
        thread.changed();
    });
    ScheduledList list(job.config.scheduled, job.config.rule, job.first_id);
    for (KernelNumber k = 0; k < job.kernels->size(); ++k) {
        host.await([&fifo] { return !fifo->kernels.empty(); }, "a kernel in the input FIFO");
        fifo->kernels.pop_front();
        const std::uint64_t pairs = list.segment_pairs();
        const WindowEntry entry = list.send(job.kernels->at(k));
        const double us = static_cast<double>(list.segment_pairs() - pairs) * costs.segment_pair_ns * 1e-3;
        stats.segment_pairs = list.segment_pairs();
        stats.check_us += us;
        host.work(us + costs.launch_us);
        host.send(entry, k);
        ++stats.launches;
    }
    host.await([&issued] { return issued; }, "the application");
    host.work(costs.synchronise_us);
    host.synchronise_window();
    ++stats.synchronisations;
}

}  // namespace switchyard::sched::ace
