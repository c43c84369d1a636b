// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/network_meter.h"

#include <algorithm>
#include <string>

#include "switchyard/tlm/dummy_buffer.h"

namespace switchyard::platform {

NetworkMeter::NetworkMeter(const sc_core::sc_module_name& module_name, const PlatformConfig& platform)
    : sc_module(module_name),
      clock_(platform.chip.clock_ghz),
      network_("network", platform.noc, registry_, platform.endpoints().map.routers()),
      out_("out", network_.inject.size()),
      in_("in", network_.inject.size()),
      pool_(std::string(name()) + ".packets") {
    for (std::size_t e = 0; e < out_.size(); ++e) {
        out_[e].bind(network_.inject[e]);
        network_.eject[e].bind(in_[e]);
        in_[e].register_b_transport(this, &NetworkMeter::take);
    }
}

void NetworkMeter::take(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

std::uint64_t NetworkMeter::measure(std::vector<Packet> packets) {
    std::stable_sort(packets.begin(), packets.end(),
                     [](const Packet& a, const Packet& b) { return a.offset_cycles < b.offset_cycles; });
    const sc_core::sc_time now = sc_core::sc_time_stamp(), begin = std::max(free_, now) - now;
    sc_core::sc_time end = begin;
    for (Packet& packet : packets) {
        PooledPayload payload(pool_);
        PacketExtension& extension = payload.packet();
        extension.source = packet.source;
        extension.destinations = std::move(packet.destinations);
        extension.payload_bytes = packet.payload_bytes;
        payload->set_command(::tlm::TLM_WRITE_COMMAND);
        payload->set_data_ptr(dummy_buffer(1));
        payload->set_data_length(1);
        payload->set_streaming_width(1);
        sc_core::sc_time delay = begin + clock_.cycles(packet.offset_cycles);
        out_[packet.source]->b_transport(*payload, delay);
        end = std::max(end, delay);
    }
    free_ = now + end;
    return clock_.count(end - begin);
}

}  // namespace switchyard::platform
