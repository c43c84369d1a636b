// SPDX-License-Identifier: Apache-2.0
// Reads 64 bytes from a DDR4 channel, bank by bank.
#include <switchyard/hw/memory/dram_target.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <cstdio>

struct Core : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Core> socket{"socket"};
    SC_CTOR(Core) { SC_THREAD(read); }
    void read() {
        unsigned char data[64] = {};
        tlm::tlm_generic_payload payload;
        payload.set_read();
        payload.set_data_ptr(data);
        payload.set_data_length(sizeof data);
        payload.set_streaming_width(sizeof data);
        sc_core::sc_time delay;
        socket->b_transport(payload, delay);
        std::printf("%s at %s\n", payload.get_response_string().c_str(), sc_core::sc_time_stamp().to_string().c_str());
    }
};

int sc_main(int, char**) {
    switchyard::SimulationRegistry registry;
    switchyard::hw::DramTarget dram("dram", {}, registry);
    Core core("core");
    core.socket.bind(dram.socket);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    return dram.stats().read_bytes == 64 ? 0 : 1;
}
