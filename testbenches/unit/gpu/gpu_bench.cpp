// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/gpu/gpu_bench.h"

#include <algorithm>
#include <stdexcept>

#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/memory_access.h"

namespace switchyard::testing {

namespace reg = hw::gpu_registers;

hw::Gpu::Config plain_gpu(const std::string& impl) {
    hw::Gpu::Config config;
    config.impl = impl;
    config.multiprocessors.count = 4;
    config.multiprocessors.clock_ghz = 1;
    config.multiprocessors.warp_latency_cycles = 1;
    config.memory.l2_latency_ns = 0;
    config.memory.memory_latency_ns = 0;
    config.command_processor = {8, 0, 0, 0, 0, 0, 0};
    config.cta_scheduler.kernel_end_ns = 0;
    config.cta_scheduler.keep_records = true;
    config.copy_engines.setup_ns = 0;
    return config;
}

sched::GpuKernel compute_kernel(std::uint32_t ctas, std::uint64_t flops_of_cta, std::uint32_t threads) {
    sched::GpuKernel kernel;
    kernel.name = "compute";
    kernel.grid = {ctas, 1, 1};
    kernel.block = {threads, 1, 1};
    kernel.work.flops = flops_of_cta * ctas;
    return kernel;
}

namespace {

hw::DeviceMemory::Config instant_memory() {
    hw::DeviceMemory::Config config;
    config.bytes = 1ull << 32;
    config.latency_ns = 0;
    config.gb_per_s = 1e6;
    return config;
}

}  // namespace

GpuBench::GpuBench(const sc_core::sc_module_name& module_name, const hw::Gpu::Config& config,
                   const hw::PcieLink::Config& link_config, const std::string& dram_device)
    : sc_module(module_name),
      gpu("gpu", config, registry),
      link("link", link_config, registry),
      written_(config.command_processor.queues),
      host_bytes_(1 << 22) {
    gpu.device_memory.bind(memory_checker_.target_socket);
    if (dram_device.empty()) {
        memory = std::make_unique<hw::DeviceMemory>("memory", instant_memory(), registry);
        memory_checker_.initiator_socket.bind(memory->socket);
    } else {
        hw::DramTarget::Config dram_config;
        dram_config.device = dram_device;
        dram_config.check_timing = true;
        dram = std::make_unique<hw::DramTarget>("dram", dram_config, registry);
        memory_checker_.initiator_socket.bind(dram->socket);
    }
    gpu.irq.bind(irq);
    registers.bind(register_checker_.target_socket);
    register_checker_.initiator_socket.bind(gpu.registers);
    window.bind(link.from_host);
    link.to_device.bind(window_checker_.target_socket);
    window_checker_.initiator_socket.bind(gpu.window);
    gpu.host_memory.bind(link.from_device);
    link.to_host.bind(host_checker_.target_socket);
    host_checker_.initiator_socket.bind(host_memory);
    host_memory.register_b_transport(this, &GpuBench::serve_host_memory);
    host_memory.register_transport_dbg(this, &GpuBench::debug_host_memory);
    SWITCHYARD_HAS_PROCESS(GpuBench);
    SC_THREAD(host);
}

void GpuBench::store(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
    // Sockets are bound when the simulation has begun.
    if (sc_core::sc_get_status() == sc_core::SC_ELABORATION) sc_core::sc_start(sc_core::SC_ZERO_TIME);
    ::tlm::tlm_generic_payload payload;
    std::vector<std::uint8_t> copy = bytes;
    hw::set_access(payload, true, address, copy.data(), static_cast<unsigned>(copy.size()));
    if (window->transport_dbg(payload) != bytes.size()) throw std::runtime_error("device memory is too small");
}

std::uint64_t GpuBench::word(std::uint64_t address) {
    std::uint64_t value = 0;
    ::tlm::tlm_generic_payload payload;
    hw::set_access(payload, false, address, &value, sizeof value);
    window->transport_dbg(payload);
    return value;
}

void GpuBench::push(unsigned queue, hw::GpuPacket packet) {
    const hw::GpuPacketBytes bytes = hw::encode(packet);
    const std::uint64_t ring = kRings + queue * std::uint64_t{kRing} * hw::kGpuPacketBytes;
    store(ring + written_[queue] % kRing * hw::kGpuPacketBytes, {bytes.begin(), bytes.end()});
    ++written_[queue];
}

void GpuBench::push(unsigned queue, const sched::GpuKernel& kernel, std::uint64_t tag, bool in_order) {
    hw::GpuPacket packet = hw::kernel_packet(kernel, tag, next_segments_);
    packet.in_order = in_order;
    const std::vector<std::uint8_t> segments = hw::encode_segments(kernel);
    if (!segments.empty()) store(next_segments_, segments);
    next_segments_ += segments.size();
    push(queue, packet);
}

void GpuBench::write_register(std::uint64_t offset, std::uint32_t value) {
    ::tlm::tlm_generic_payload payload;
    hw::set_access(payload, true, offset, &value, sizeof value);
    sc_core::sc_time delay;
    registers->b_transport(payload, delay);
    CHECK(payload.is_response_ok());
}

std::uint32_t GpuBench::read_register(std::uint64_t offset) {
    std::uint32_t value = 0;
    ::tlm::tlm_generic_payload payload;
    hw::set_access(payload, false, offset, &value, sizeof value);
    sc_core::sc_time delay;
    registers->b_transport(payload, delay);
    CHECK(payload.is_response_ok());
    return value;
}

void GpuBench::ring(unsigned queue) {
    const std::uint64_t base = kRings + queue * std::uint64_t{kRing} * hw::kGpuPacketBytes;
    write_register(reg::queue(queue, reg::kBaseLow), static_cast<std::uint32_t>(base));
    write_register(reg::queue(queue, reg::kBaseHigh), static_cast<std::uint32_t>(base >> 32));
    write_register(reg::queue(queue, reg::kPackets), kRing);
    write_register(reg::queue(queue, reg::kWriteIndex), written_[queue]);
}

void GpuBench::host() {
    wait(go_);
    for (unsigned queue = 0; queue < written_.size(); ++queue)
        if (written_[queue] > 0) ring(queue);
    if (body_) body_();
}

void GpuBench::run(std::function<void()> body) {
    body_ = std::move(body);
    if (sc_core::sc_get_status() == sc_core::SC_ELABORATION) sc_core::sc_start(sc_core::SC_ZERO_TIME);
    go_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();
}

const hw::KernelRecord& GpuBench::record(std::uint64_t tag) const {
    for (const hw::KernelRecord& record : gpu.records())
        if (record.tag == tag) return record;
    throw std::runtime_error("no kernel with the tag " + std::to_string(tag));
}

void GpuBench::serve_host_memory(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    if (payload.get_address() + memory_span(payload) > host_bytes_.size()) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    payload.set_response_status(access_memory(payload, host_bytes_.data() + payload.get_address()));
}

unsigned GpuBench::debug_host_memory(::tlm::tlm_generic_payload& payload) {
    return debug_access_memory(payload, host_bytes_.data() + payload.get_address(),
                               host_bytes_.size() - payload.get_address());
}

}  // namespace switchyard::testing
