// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <vector>

#include "switchyard/testbenches/catch.h"
#include "switchyard/tlm/memory_access.h"

using namespace switchyard;
using Bytes = std::vector<unsigned char>;

namespace {

::tlm::tlm_generic_payload& set(::tlm::tlm_generic_payload& payload, ::tlm::tlm_command command, Bytes& data,
                                unsigned width) {
    payload.set_command(command);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(data.size()));
    payload.set_streaming_width(width);
    return payload;
}

}  // namespace

TEST_CASE("memory is written and read back", "[tlm][memory_access]") {
    Bytes memory(8, 0xEE), data{1, 2, 3, 4}, back(4);
    ::tlm::tlm_generic_payload payload;
    CHECK(access_memory(set(payload, ::tlm::TLM_WRITE_COMMAND, data, 4), &memory[2]) == ::tlm::TLM_OK_RESPONSE);
    CHECK(memory == Bytes{0xEE, 0xEE, 1, 2, 3, 4, 0xEE, 0xEE});
    CHECK(access_memory(set(payload, ::tlm::TLM_READ_COMMAND, back, 100), &memory[2]) == ::tlm::TLM_OK_RESPONSE);
    CHECK(back == data);
    CHECK(memory_span(payload) == 4);
}

TEST_CASE("byte enables repeat over the data", "[tlm][memory_access]") {
    Bytes memory(6, 0xEE), data{1, 2, 3, 4, 5, 6}, enables{0xFF, 0, 0xFF, 0};
    ::tlm::tlm_generic_payload payload;
    set(payload, ::tlm::TLM_WRITE_COMMAND, data, 6);
    payload.set_byte_enable_ptr(enables.data());
    payload.set_byte_enable_length(4);
    CHECK(access_memory(payload, memory.data()) == ::tlm::TLM_OK_RESPONSE);
    CHECK(memory == Bytes{1, 0xEE, 3, 0xEE, 5, 0xEE});
    Bytes back(6, 0x77);
    set(payload, ::tlm::TLM_READ_COMMAND, back, 6);
    CHECK(access_memory(payload, data.data()) == ::tlm::TLM_OK_RESPONSE);
    CHECK(back == Bytes{1, 0x77, 3, 0x77, 5, 0x77});
}

TEST_CASE("streaming comes back to the first address", "[tlm][memory_access]") {
    Bytes memory(4, 0xEE), data{1, 2, 3, 4, 5, 6};
    ::tlm::tlm_generic_payload payload;
    CHECK(access_memory(set(payload, ::tlm::TLM_WRITE_COMMAND, data, 2), &memory[1]) == ::tlm::TLM_OK_RESPONSE);
    CHECK(memory == Bytes{0xEE, 5, 6, 0xEE});
    CHECK(memory_span(payload) == 2);
    Bytes back(5);
    access_memory(set(payload, ::tlm::TLM_READ_COMMAND, back, 2), &memory[1]);
    CHECK(back == Bytes{5, 6, 5, 6, 5});
}

TEST_CASE("attributes without meaning are errors and do nothing", "[tlm][memory_access]") {
    Bytes memory(4, 0xEE), data{1, 2, 3, 4}, enables{0xFF};
    ::tlm::tlm_generic_payload payload;
    CHECK(access_memory(set(payload, ::tlm::TLM_WRITE_COMMAND, data, 0), memory.data()) ==
          ::tlm::TLM_BURST_ERROR_RESPONSE);
    set(payload, ::tlm::TLM_WRITE_COMMAND, data, 4).set_byte_enable_ptr(enables.data());
    CHECK(access_memory(payload, memory.data()) == ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    CHECK(access_memory(set(payload, ::tlm::TLM_IGNORE_COMMAND, data, 4), memory.data()) == ::tlm::TLM_OK_RESPONSE);
    CHECK(memory == Bytes(4, 0xEE));
}

TEST_CASE("a debug access moves what lies inside", "[tlm][memory_access]") {
    Bytes memory(6, 0xEE), data{1, 2, 3, 4}, back(4, 0x77);
    ::tlm::tlm_generic_payload payload;
    CHECK(debug_access_memory(set(payload, ::tlm::TLM_WRITE_COMMAND, data, 4), &memory[1], 5) == 4);
    CHECK(memory == Bytes{0xEE, 1, 2, 3, 4, 0xEE});
    CHECK(debug_access_memory(set(payload, ::tlm::TLM_READ_COMMAND, back, 4), &memory[3], 3) == 3);
    CHECK(back == Bytes{3, 4, 0xEE, 0x77});
    CHECK(debug_access_memory(set(payload, ::tlm::TLM_IGNORE_COMMAND, data, 4), &memory[1], 5) == 0);
    CHECK(memory == Bytes{0xEE, 1, 2, 3, 4, 0xEE});
}

TEST_CASE("random accesses agree with byte-by-byte transactions", "[tlm][memory_access]") {
    // 14.15 e: a streamed transaction is a sequence of transactions to the same address.
    std::mt19937 random(7);
    const auto draw = [&random](unsigned low, unsigned high) { return low + random() % (high - low + 1); };
    for (int round = 0; round < 500; ++round) {
        Bytes memory(32), data(draw(1, 16)), enables(draw(1, 6));
        for (Bytes* array : {&memory, &data}) std::generate(array->begin(), array->end(), random);
        for (unsigned char& enable : enables) enable = draw(0, 1) ? 0xFF : 0;
        Bytes expected = memory;
        const unsigned width = draw(1, 20), start = draw(0, 12);
        for (unsigned i = 0; i < data.size(); ++i)
            if (enables[i % enables.size()]) expected[start + i % width] = data[i];
        ::tlm::tlm_generic_payload payload;
        set(payload, ::tlm::TLM_WRITE_COMMAND, data, width);
        payload.set_byte_enable_ptr(enables.data());
        payload.set_byte_enable_length(static_cast<unsigned>(enables.size()));
        access_memory(payload, &memory[start]);
        REQUIRE(memory == expected);
    }
}
