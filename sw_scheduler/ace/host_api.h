// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "switchyard/sw_scheduler/ace/scheduling_window.h"
#include "switchyard/sw_scheduler/ace/window_entry.h"

namespace switchyard::sched::ace {

using EventId = std::uint64_t;

/// A thread of the host, as the runtimes see it: what the operating system and the driver offer. Whoever runs a runtime
/// implements it over a GPU; calls of one object come from one thread. Time passes in the calls that say so.
///
/// The calls to the device are those of a driver without its cost on the host, which the runtimes add: they return at
/// once, and the device works in the background.
class HostThread {
public:
    virtual ~HostThread() = default;

    /// The thread computes: time passes.
    virtual void work(double us) = 0;
    /// Returns when condition() holds; `what`: for whom asks why nothing goes on. Looks again after each changed().
    virtual void await(const std::function<bool()>& condition, const char* what) = 0;
    /// Something that conditions look at has changed.
    virtual void changed() = 0;
    /// Another thread.
    virtual void spawn(const std::string& name, std::function<void(HostThread&)> body) = 0;

    /// Appends a kernel of the application's stream of kernels to a stream of the device.
    virtual void launch(unsigned stream, KernelNumber kernel) = 0;
    /// The same for a kernel of a graph that was instantiated.
    virtual void launch_node(unsigned stream, KernelNumber kernel) = 0;
    /// Appends the record of an event: it has happened when all before it in the stream is complete.
    virtual void record_event(unsigned stream, EventId event) = 0;
    /// What is appended from now on to the stream waits for the event.
    virtual void wait_event(unsigned stream, EventId event) = 0;
    /// Time passes until the host sees that all of the stream is complete.
    virtual void synchronise(unsigned stream) = 0;

    /// Sends a kernel to the scheduling window of the device. Time passes while the device takes none.
    virtual void send(const WindowEntry& entry, KernelNumber kernel) = 0;
    /// Time passes until the host sees that all kernels that were sent are complete.
    virtual void synchronise_window() = 0;
};

}  // namespace switchyard::sched::ace
