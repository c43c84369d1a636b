// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <systemc>

#include "switchyard/hw/gpu/packet.h"
#include "switchyard/platform/gpu/device_access.h"
#include "switchyard/sw_scheduler/ace/host_api.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform::ace {

/// The memory of the device as the host has divided it.
struct DeviceLayout {
    std::uint64_t rings = std::uint64_t{1} << 20;  ///< of the queues, one behind the other
    std::uint32_t ring_packets = 1;                ///< a power of two; no queue ever has more
    std::uint64_t events = 0;                      ///< words of 8 bytes
    std::uint64_t segments = 0;                    ///< of all kernels
};

/// The host: threads, the driver's queues, the scheduling window. Threads are processes of SystemC; each has a core of
/// its own.
class AceHost : public sc_core::sc_module {
public:
    /// `streams`: queues that are set up.
    AceHost(const sc_core::sc_module_name& name, DeviceAccess& device, const DeviceLayout& layout, unsigned streams,
            double watchdog_us, SimulationRegistry& registry);

    /// What the designs' calls refer to: launch packets by the kernel's number, and a value for the input's events.
    void begin_input(std::vector<hw::GpuPacket> packets, std::uint64_t event_value);
    /// From a thread: sets up the queues.
    void set_up_queues();
    /// A thread of the host, for a runtime.
    std::unique_ptr<sched::ace::HostThread> thread();
    /// Kernels that the window has completed, in all.
    void count_window_completion() { ++window_completed_; }
    /// A kernel of any kind is complete: something goes on.
    void note_progress() { last_progress_ = sc_core::sc_time_stamp(); }
    /// What its threads wait for; "" if for nothing.
    std::string waits() const;

private:
    class Thread;
    /// Writes a packet into a queue's ring and rings its doorbell; both are posted.
    void push(unsigned stream, const hw::GpuPacket& packet);
    void send_entries();  ///< a thread: entries go over the link one after another
    /// Throws ModelError when no kernel has completed for watchdog_us; `what`: what the host waits for. The message has
    /// who waits for what on the device.
    std::uint32_t read_completed(unsigned stream);
    void check_progress(const std::string& what) const;

    DeviceAccess& device_;
    const SimulationRegistry& registry_;
    DeviceLayout layout_;
    unsigned streams_;
    double watchdog_us_;
    std::vector<std::uint32_t> written_;    ///< packets of each queue
    std::vector<std::uint32_t> completed_;  ///< of these, when the driver last looked
    std::vector<hw::GpuPacket> packets_;
    std::uint64_t event_value_ = 0;
    sc_core::sc_event changed_;
    std::vector<const char*> waiting_;  ///< of threads in await()
    // Entries on their way to the window.
    static constexpr std::size_t kEntriesUnderWay = 16;
    std::deque<std::vector<std::uint8_t>> entries_;
    sc_core::sc_event entry_there_, entry_gone_;
    std::uint64_t window_sent_ = 0, window_completed_ = 0;
    sc_core::sc_time last_progress_;
};

}  // namespace switchyard::platform::ace
