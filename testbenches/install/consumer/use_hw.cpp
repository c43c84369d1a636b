// SPDX-License-Identifier: Apache-2.0
// Mounts one component in a test bench of somebody else's: writes a scratchpad through its socket and reads it back.
#include <switchyard/hw/scratchpad/scratchpad.h>

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <cstdio>

namespace {

constexpr std::uint64_t kAddress = 0x8000;  // behind the kernel region

struct Initiator : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Initiator> socket;

    explicit Initiator(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {}

    sc_core::sc_time access(tlm::tlm_command command, std::array<unsigned char, 64>& data) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(kAddress);
        payload.set_data_ptr(data.data());
        payload.set_data_length(data.size());
        payload.set_streaming_width(data.size());
        payload.set_byte_enable_ptr(nullptr);
        payload.set_dmi_allowed(false);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        sc_core::sc_time delay;
        socket->b_transport(payload, delay);
        if (payload.is_response_error()) SC_REPORT_ERROR("consumer", payload.get_response_string().c_str());
        return delay;
    }
};

}  // namespace

int sc_main(int, char**) {
    switchyard::SimulationRegistry registry;
    switchyard::hw::Scratchpad scratchpad("scratchpad", {}, registry);
    std::array<Initiator, 3> idle{Initiator("controller"), Initiator("dispatcher"), Initiator("pe_array")};
    Initiator network("network");
    idle[0].socket.bind(scratchpad.controller);
    idle[1].socket.bind(scratchpad.dispatcher);
    idle[2].socket.bind(scratchpad.pe_array);
    network.socket.bind(scratchpad.network_interface);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    std::array<unsigned char, 64> written{}, read{};
    for (std::size_t i = 0; i < written.size(); ++i) written[i] = static_cast<unsigned char>(i);
    const sc_core::sc_time took = network.access(tlm::TLM_WRITE_COMMAND, written);
    network.access(tlm::TLM_READ_COMMAND, read);
    std::printf("wrote and read %zu bytes, first access took %s\n", read.size(), took.to_string().c_str());
    return read == written && took > sc_core::SC_ZERO_TIME ? 0 : 1;
}
