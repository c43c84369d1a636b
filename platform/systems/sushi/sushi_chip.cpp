// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/sushi_chip.h"

#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#if defined(SWITCHYARD_RTL)
#include "switchyard/rtl/dot_product_array/make_dot_product_core.h"
#include "switchyard/tlm/simulated_time.h"
#endif

namespace switchyard::platform::sushi {

namespace {

#if defined(SWITCHYARD_RTL)
const hw::DotProductCoreFactory kMakeCore = &rtl::make_dot_product_core;
const hw::LineBufferFactory kMakeLineBuffer = &rtl::make_line_buffer;
#else
const hw::DotProductCoreFactory kMakeCore = &hw::make_dot_product_core;
const hw::LineBufferFactory kMakeLineBuffer = &hw::make_line_buffer;
#endif

hw::LayerController::Config controller_config(const SushiConfig& config, const BufferConfig& buffers) {
    hw::LayerController::Config controller;
    controller.impl = config.accelerator.impl;
    controller.has_values = config.accelerator.functional;
    controller.shape = config.shape(buffers);
    controller.request_bytes = config.accelerator.request_bytes;
    controller.clock_ghz = config.accelerator.clock_ghz;
    return controller;
}

hw::DotProductArray::Config array_config(const SushiConfig& config) {
    hw::DotProductArray::Config array = config.array;
    array.clock_ghz = config.accelerator.clock_ghz;
    return array;
}

hw::DramTarget::Config dram_config(const SushiConfig& config) {
    hw::DramTarget::Config dram;
    dram.device = config.dram.device;
    dram.settings = config.dram_settings();
    dram.bytes = hw::dram::read_device(dram.device, {}).geometry.bytes();
    dram.outstanding = config.dram.outstanding;
    dram.check_timing = config.dram.check_timing;
    return dram;
}

}  // namespace

SharedMemory::SharedMemory(const sc_core::sc_module_name& module_name)
    : sc_module(module_name), from_controller("from_controller"), from_host("from_host"), memory("memory") {
    from_controller.register_b_transport(this, &SharedMemory::b_transport);
    from_controller.register_nb_transport_fw(this, &SharedMemory::forward);
    memory.register_nb_transport_bw(this, &SharedMemory::backward);
    from_controller.register_transport_dbg(this, &SharedMemory::debug_transport);
    from_host.register_b_transport(this, &SharedMemory::b_transport);
    from_host.register_transport_dbg(this, &SharedMemory::debug_transport);
}

void SharedMemory::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    memory->b_transport(payload, delay);
}

::tlm::tlm_sync_enum SharedMemory::forward(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) {
    return memory->nb_transport_fw(payload, phase, delay);
}

::tlm::tlm_sync_enum SharedMemory::backward(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
    return from_controller->nb_transport_bw(payload, phase, delay);
}

unsigned SharedMemory::debug_transport(::tlm::tlm_generic_payload& payload) {
    return memory->transport_dbg(payload);
}

SushiChip::SushiChip(const sc_core::sc_module_name& module_name, const SushiConfig& config, const BufferConfig& buffers,
                     const SupernetMemory& memory)
    : sc_module(module_name),
      port("port", config.commands, registry),
      controller("controller", controller_config(config, buffers), registry),
      array("array", array_config(config), registry, kMakeCore, kMakeLineBuffer),
      persistent("persistent_buffer", {buffers.bytes().persistent}, registry),
      dynamic("dynamic_buffer", {2 * buffers.bytes().dynamic}, registry),
      streaming("streaming_buffer", {buffers.bytes().streaming}, registry),
      parameters("parameter_buffer", {buffers.bytes().parameters}, registry),
      output("output_buffer", {buffers.bytes().output}, registry),
      shared("shared_dram"),
      dram("dram", dram_config(config), registry) {
    port.irq.bind(irq);
    port.commands.bind(controller.commands);
    controller.array.bind(array.command);
    controller.dram.bind(shared.from_controller);
    shared.memory.bind(dram.socket);
    controller.persistent.bind(persistent.socket);
    controller.dynamic.bind(dynamic.socket);
    controller.streaming.bind(streaming.socket);
    controller.parameters.bind(parameters.socket);
    controller.output.bind(output.socket);
    array.persistent.bind(persistent.socket);
    array.dynamic.bind(dynamic.socket);
    array.streaming.bind(streaming.socket);
    array.parameters.bind(parameters.socket);
    array.output.bind(output.socket);
    controller.load(memory.program);
}

void SushiChip::access_dram(bool writes, std::uint64_t address, std::vector<std::uint8_t>& bytes) {
    if (bytes.empty()) return;
    ::tlm::tlm_generic_payload payload;
    payload.set_command(writes ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(static_cast<unsigned>(bytes.size()));
    payload.set_streaming_width(static_cast<unsigned>(bytes.size()));
    const unsigned moved = controller.dram->transport_dbg(payload);
    if (moved != bytes.size())
        throw std::runtime_error(
            fmt::format("expected DRAM of {} bytes at {:#x}, found {}", bytes.size(), address, moved));
}

void SushiChip::write_dram(std::uint64_t address, std::vector<std::uint8_t> bytes) {
    access_dram(true, address, bytes);
}

std::vector<std::uint8_t> SushiChip::read_dram(std::uint64_t address, std::uint64_t count) {
    std::vector<std::uint8_t> bytes(count);
    access_dram(false, address, bytes);
    return bytes;
}

RateServer::RateServer(const sc_core::sc_module_name& module_name, std::vector<double> us)
    : sc_module(module_name), commands("commands"), us_(std::move(us)) {
    commands.register_b_transport(this, &RateServer::b_transport);
}

void RateServer::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    std::uint32_t words[2];
    std::memcpy(words, payload.get_data_ptr(), sizeof words);
    wait(delay + microseconds(us_.at(words[1]), "the latency of a SubNet"));
    delay = sc_core::SC_ZERO_TIME;
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

}  // namespace switchyard::platform::sushi
