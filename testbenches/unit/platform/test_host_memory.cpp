// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include <tlm_utils/simple_initiator_socket.h>

#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/platform/chip/host_memory.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"

using namespace switchyard;
using platform::HostMemory;
using sc_core::sc_time;

namespace {

struct Bench : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Bench> port;
    BaseProtocolChecker<> checker;
    HostMemory memory;

    explicit Bench(const sc_core::sc_module_name& name = "bench")
        : sc_core::sc_module(name), port("port"), checker("checker"), memory("memory", config()) {
        port.bind(checker.target_socket);
        checker.initiator_socket.bind(memory.port);
    }
    static HostMemory::Config config() {
        HostMemory::Config c;
        c.memory_bytes = 8192;
        c.memory_latency_ns = 10;
        c.memory_gb_per_s = 4;
        return c;
    }
};

struct Access {
    ::tlm::tlm_generic_payload payload;
    std::array<unsigned char, 16> data{};
    Access(::tlm::tlm_command command, std::uint64_t address, unsigned bytes) {
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data.data());
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    }
};

}  // namespace

SIM_TEST("host memory stores, takes latency and bandwidth, and honours byte enables", "[host]") {
    Bench bench;
    Access write(::tlm::TLM_WRITE_COMMAND, 4090, 16);
    for (unsigned i = 0; i < 16; ++i) write.data[i] = static_cast<unsigned char>(i + 1);
    sc_time delay(5, sc_core::SC_NS);
    bench.port->b_transport(write.payload, delay);
    CHECK(write.payload.is_response_ok());
    CHECK(write.payload.is_dmi_allowed());
    CHECK(delay == sc_time(5 + 10 + 4, sc_core::SC_NS));  // added to what was there

    std::array<unsigned char, 2> enables{TLM_BYTE_DISABLED, TLM_BYTE_ENABLED};
    Access odd(::tlm::TLM_WRITE_COMMAND, 4090, 16);
    odd.data.fill(99);
    odd.payload.set_byte_enable_ptr(enables.data());
    odd.payload.set_byte_enable_length(2);
    bench.port->b_transport(odd.payload, delay);
    CHECK(odd.payload.is_response_ok());

    Access read(::tlm::TLM_READ_COMMAND, 4090, 16);
    CHECK(bench.port->transport_dbg(read.payload) == 16);
    for (unsigned i = 0; i < 16; ++i) CHECK(read.data[i] == (i % 2 == 1 ? 99 : i + 1));
}

SIM_TEST("host memory moves time only when there are no values", "[host]") {
    Bench bench;
    Access write(::tlm::TLM_WRITE_COMMAND, 0, 8);
    write.data.fill(1);
    RepeatExtension repeat;
    repeat.has_values = false;
    write.payload.set_extension(&repeat);
    sc_time delay;
    bench.port->b_transport(write.payload, delay);
    write.payload.clear_extension(&repeat);
    CHECK(write.payload.is_response_ok());
    CHECK(delay == sc_time(12, sc_core::SC_NS));
    Access read(::tlm::TLM_READ_COMMAND, 0, 8);
    bench.port->b_transport(read.payload, delay);
    CHECK(read.data[0] == 0);
}

SIM_TEST("host memory refuses what lies beyond its end", "[host]") {
    Bench bench;
    Access beyond(::tlm::TLM_READ_COMMAND, 8190, 4);
    sc_time delay;
    bench.port->b_transport(beyond.payload, delay);
    CHECK(beyond.payload.get_response_status() == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(delay == sc_core::SC_ZERO_TIME);
    CHECK(bench.port->transport_dbg(beyond.payload) == 2);  // debug access gives what there is
    beyond.payload.set_address(~std::uint64_t{0});
    CHECK(bench.port->transport_dbg(beyond.payload) == 0);
    const unsigned char byte = 1;
    CHECK_THROWS_AS(bench.memory.write(8192, &byte, 1), std::out_of_range);
}

SIM_TEST("host memory offers DMI from end to end", "[host]") {
    Bench bench;
    const unsigned char byte = 42;
    bench.memory.write(8191, &byte, 1);
    Access read(::tlm::TLM_READ_COMMAND, 4096, 1);
    ::tlm::tlm_dmi dmi;
    REQUIRE(bench.port->get_direct_mem_ptr(read.payload, dmi));
    CHECK(dmi.get_start_address() == 0);
    CHECK(dmi.get_end_address() == 8191);
    CHECK(dmi.get_dmi_ptr()[8191] == 42);
    CHECK(dmi.is_read_write_allowed());
    read.payload.set_address(8192);
    dmi.init();
    CHECK_FALSE(bench.port->get_direct_mem_ptr(read.payload, dmi));
    CHECK(dmi.get_start_address() == 8192);
}
