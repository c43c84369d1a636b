// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/cell_links.h"

#include <cstddef>
#include <utility>

#include <sysc/kernel/sc_dynamic_processes.h>

#include "switchyard/hw/link/link_network.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/simulated_time.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform::expert_parallel {

class CellExchange {
public:
    sched::CollectiveProgram program;
    CellLinks::Complete complete;
    std::vector<std::size_t> waits;                     ///< of each transfer: earlier ones
    std::vector<std::vector<std::uint32_t>> followers;  ///< of each transfer
    std::vector<std::size_t> missing;                   ///< of each device: transfers to it, and its own readiness
};

CellLinks::CellLinks(const sc_core::sc_module_name& module_name, unsigned devices)
    : sc_module(module_name), to_links("to_links", devices), from_links("from_links", devices) {
    for (auto& socket : from_links) socket.register_b_transport(this, &CellLinks::b_transport);
}

CellLinks::Exchange CellLinks::begin(sched::CollectiveProgram program, Complete complete) {
    auto exchange = std::make_shared<CellExchange>();
    exchange->missing.assign(program.devices, 1);
    exchange->followers.resize(program.transfers.size());
    for (std::uint32_t i = 0; i < program.transfers.size(); ++i) {
        const sched::Transfer& transfer = program.transfers[i];
        exchange->waits.push_back(transfer.after.size());
        for (const std::uint32_t before : transfer.after) exchange->followers[before].push_back(i);
        ++exchange->missing[transfer.to];
    }
    exchange->program = std::move(program);
    exchange->complete = std::move(complete);
    return exchange;
}

void CellLinks::sender_ready(const Exchange& exchange, unsigned device) {
    for (std::uint32_t i = 0; i < exchange->program.transfers.size(); ++i)
        if (exchange->program.transfers[i].from == device && exchange->program.transfers[i].after.empty())
            start(exchange, i);
    count_down(exchange, device);
}

void CellLinks::start(const Exchange& exchange, std::uint32_t number) {
    const sched::Transfer& transfer = exchange->program.transfers[number];
    const double ns = transfer.step_ns + (transfer.after.empty() ? exchange->program.base_ns : 0);
    if (transfer.from == transfer.to && ns == 0) return arrived(exchange, number);
    sc_core::sc_spawn([this, exchange, number, ns] {
        if (ns > 0) sc_core::wait(nanoseconds(ns, "a step of a collective"));
        const sched::Transfer& own = exchange->program.transfers[number];
        if (own.from != own.to) carry(own);
        arrived(exchange, number);
    });
}

void CellLinks::carry(const sched::Transfer& transfer) {
    const auto bytes = static_cast<unsigned>(transfer.on_wire());
    ::tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(std::uint64_t{transfer.to} << hw::LinkNetwork::kWindowBits | transfer.destination);
    payload.set_data_ptr(dummy_buffer(transfer.on_wire()));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay;
    stats_.sent_bytes += bytes;
    to_links[transfer.from]->b_transport(payload, delay);
    if (!payload.is_response_ok())
        throw ModelError(*this, "expected the links to take a message, found " + payload.get_response_string());
    if (delay > sc_core::SC_ZERO_TIME) sc_core::wait(delay);
}

void CellLinks::arrived(const Exchange& exchange, std::uint32_t number) {
    for (const std::uint32_t later : exchange->followers[number])
        if (--exchange->waits[later] == 0) start(exchange, later);
    count_down(exchange, exchange->program.transfers[number].to);
}

void CellLinks::count_down(const Exchange& exchange, unsigned device) {
    if (--exchange->missing[device] == 0) exchange->complete(device);
}

void CellLinks::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
    stats_.received_bytes += payload.get_data_length();
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

}  // namespace switchyard::platform::expert_parallel
