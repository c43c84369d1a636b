// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>

#include "switchyard/hw/gpu/gpu.h"
#include "switchyard/hw/link/pcie_link.h"
#include "switchyard/hw/memory/dram_target.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"

namespace switchyard::testing {

/// A GPU without latencies of its own, so that closed forms hold: one clock a nanosecond, four multiprocessors.
hw::Gpu::Config plain_gpu(const std::string& impl = "cta");

/// A kernel of CTAs of 128 threads, each of which computes for `flops` and moves nothing.
sched::GpuKernel compute_kernel(std::uint32_t ctas, std::uint64_t flops_of_cta, std::uint32_t threads = 128);

/// A host that drives a GPU: queues in device memory, a link, host memory, protocol checkers on every bus.
class GpuBench : public sc_core::sc_module {
public:
    /// `dram`: device memory is a DramTarget of this device; empty: a DeviceMemory that takes no time.
    GpuBench(const sc_core::sc_module_name& name, const hw::Gpu::Config& config, const hw::PcieLink::Config& link = {},
             const std::string& dram = "");

    /// Appends a packet to a queue; rings nothing. Segments of a kernel are stored too.
    void push(unsigned queue, hw::GpuPacket packet);
    void push(unsigned queue, const sched::GpuKernel& kernel, std::uint64_t tag, bool in_order = true);
    /// Writes the doorbells of all queues, then `body` (if any) runs, in the host's thread; starts the simulation.
    void run(std::function<void()> body = {});
    void ring(unsigned queue);
    std::uint32_t read_register(std::uint64_t offset);
    void write_register(std::uint64_t offset, std::uint32_t value);
    /// Debug accesses to device and host memory.
    void store(std::uint64_t address, const std::vector<std::uint8_t>& bytes);
    std::uint64_t word(std::uint64_t address);
    std::vector<std::uint8_t>& host_bytes() { return host_bytes_; }
    /// ns.
    static double now() { return sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS); }
    /// Of a kernel by its tag.
    const hw::KernelRecord& record(std::uint64_t tag) const;
    static double ns(const sc_core::sc_time& time) { return time / sc_core::sc_time(1, sc_core::SC_NS); }

    SimulationRegistry registry;
    hw::Gpu gpu;
    std::unique_ptr<hw::DeviceMemory> memory;
    std::unique_ptr<hw::DramTarget> dram;
    hw::PcieLink link;
    sc_core::sc_signal<bool> irq;
    tlm_utils::simple_initiator_socket<GpuBench> window{"window"}, registers{"registers"};
    tlm_utils::simple_target_socket<GpuBench> host_memory{"host_memory"};

    static constexpr std::uint32_t kRing = 4096;
    static constexpr std::uint64_t kRings = 1ull << 20, kSegments = 1ull << 28;

private:
    void host();
    void serve_host_memory(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug_host_memory(::tlm::tlm_generic_payload& payload);

    BaseProtocolChecker<> memory_checker_{"memory_checker"}, host_checker_{"host_checker"},
        register_checker_{"register_checker"}, window_checker_{"window_checker"};
    std::vector<std::uint32_t> written_;
    std::uint64_t next_segments_ = kSegments;
    std::vector<std::uint8_t> host_bytes_;
    std::function<void()> body_;
    sc_core::sc_event go_{"go"};
};

}  // namespace switchyard::testing
