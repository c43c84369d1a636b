// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <vector>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/tlm/register_file.h"

using namespace switchyard;
using Access = RegisterFile::Access;
using Bytes = std::vector<unsigned char>;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr ::tlm::tlm_command kRead = ::tlm::TLM_READ_COMMAND, kWrite = ::tlm::TLM_WRITE_COMMAND;

/// One register of each kind, at 0x0 .. 0x10 and, behind a hole, at 0x20.
struct Fixture {
    RegisterFile file{"device"};
    ::tlm::tlm_generic_payload payload;
    int reads = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;

    Fixture() {
        const auto record = [this](std::uint32_t now, std::uint32_t enabled) { writes.emplace_back(now, enabled); };
        file.add(0x00, "ID", Access::ro, 0x11223344, 0, "identity");
        file.add(0x04, "MODE", Access::rw, 0xA5000000, 0x0000FFFF, "mode").on_write(record);
        file.add(0x08, "GO", Access::wo, 0, 0x0000000F, "start").on_write(record);
        file.add(0x0C, "FLAGS", Access::w1c, 0, 0x000000FF, "events").on_write(record);
        file.add(0x10, "COUNT", Access::rc, 0, 0, "events since the last read").on_read([this](std::uint32_t stored) {
            ++reads;
            return stored;
        });
        file.add(0x20, "SCRATCH", Access::rw, 0, 0xFFFFFFFF, "free");
    }

    ::tlm::tlm_response_status access(::tlm::tlm_command command, std::uint64_t address, Bytes& data,
                                      Bytes enables = {}) {
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data.data());
        payload.set_data_length(static_cast<unsigned>(data.size()));
        payload.set_streaming_width(static_cast<unsigned>(data.size()));
        payload.set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
        payload.set_byte_enable_length(static_cast<unsigned>(enables.size()));
        payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
        file.transport(payload);
        return payload.get_response_status();
    }
    ::tlm::tlm_response_status write(std::uint64_t address, Bytes data, Bytes enables = {}) {
        return access(kWrite, address, data, std::move(enables));
    }
    Bytes read(std::uint64_t address, unsigned bytes, Bytes enables = {}) {
        Bytes data(bytes, 0xEE);
        const ::tlm::tlm_response_status status = access(kRead, address, data, std::move(enables));
        REQUIRE(status == ::tlm::TLM_OK_RESPONSE);
        return data;
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a read-only register reads its value, little-endian, and ignores writes",
                 "[tlm][registers]") {
    CHECK(read(0x00, 4) == Bytes{0x44, 0x33, 0x22, 0x11});
    CHECK(write(0x00, {1, 2, 3, 4}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(read(0x00, 4) == Bytes{0x44, 0x33, 0x22, 0x11});
    file.set(0x00, 0xFFFFFFFF);
    CHECK(read(0x00, 4) == Bytes(4, 0xFF));
}

TEST_CASE_METHOD(Fixture, "reserved bits keep their reset value", "[tlm][registers]") {
    CHECK(write(0x04, {0xFF, 0xFF, 0xFF, 0xFF}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(file.get(0x04) == 0xA500FFFF);
    CHECK(write(0x04, {0, 0, 0, 0}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(file.get(0x04) == 0xA5000000);
    file.reset();
    CHECK(file.get(0x04) == 0xA5000000);
}

TEST_CASE_METHOD(Fixture, "a write-only register reads as zero and passes its writable bits on", "[tlm][registers]") {
    CHECK(write(0x08, {0xFF, 0xFF, 0, 0}) == ::tlm::TLM_OK_RESPONSE);
    REQUIRE(writes.size() == 1);
    CHECK(writes[0].first == 0x0F);
    CHECK(read(0x08, 4) == Bytes(4, 0));
}

TEST_CASE_METHOD(Fixture, "writing ones clears, writing zeros leaves", "[tlm][registers]") {
    file.set(0x0C, 0xF00000F3);
    CHECK(write(0x0C, {0x31, 0, 0, 0xFF}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(file.get(0x0C) == 0xF00000C2);
    CHECK(write(0x0C, {0xFF, 0, 0, 0}, {0, 0xFF}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(file.get(0x0C) == 0xF00000C2);
}

TEST_CASE_METHOD(Fixture, "reading clears the bytes that were read", "[tlm][registers]") {
    file.set(0x10, 0x04030201);
    CHECK(read(0x11, 1) == Bytes{0x02});
    CHECK(file.get(0x10) == 0x04030001);
    CHECK(read(0x10, 4) == Bytes{0x01, 0x00, 0x03, 0x04});
    CHECK(file.get(0x10) == 0);
    CHECK(reads == 2);
    file.set(0x10, 9);
    CHECK(write(0x10, {0, 0, 0, 0}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(file.get(0x10) == 9);
}

TEST_CASE_METHOD(Fixture, "single bytes and halfwords reach their lanes", "[tlm][registers]") {
    CHECK(write(0x20, {0x11, 0x22, 0x33, 0x44}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(write(0x22, {0xAA}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(file.get(0x20) == 0x44AA2211);
    CHECK(write(0x21, {0xBB, 0xCC}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(file.get(0x20) == 0x44CCBB11);
    CHECK(read(0x23, 1) == Bytes{0x44});
}

TEST_CASE_METHOD(Fixture, "a hook is called once an access, with the lanes that were written", "[tlm][registers]") {
    CHECK(write(0x05, {0x12}) == ::tlm::TLM_OK_RESPONSE);
    REQUIRE(writes.size() == 1);
    CHECK(writes[0] == std::pair<std::uint32_t, std::uint32_t>(0xA5001200, 0x0000FF00));
    CHECK(write(0x04, {1, 2, 3, 4}, {0}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(writes.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a burst touches each register once, in order, unaligned at both ends", "[tlm][registers]") {
    file.set(0x10, 0x99);
    const Bytes data = read(0x03, 14);
    CHECK(data == Bytes{0x11, 0, 0, 0, 0xA5, 0, 0, 0, 0, 0, 0, 0, 0, 0x99});
    CHECK(reads == 1);
    CHECK(write(0x06, {0, 0, 3, 0, 0, 0, 0, 0}) == ::tlm::TLM_OK_RESPONSE);
    REQUIRE(writes.size() == 3);
    CHECK(writes[1] == std::pair<std::uint32_t, std::uint32_t>(3, 0xFFFFFFFF));
    CHECK(writes[2].second == 0x0000FFFF);
}

TEST_CASE_METHOD(Fixture, "byte enables shorter than the data repeat, and mask reads too", "[tlm][registers]") {
    CHECK(write(0x20, {1, 2, 3, 4}, {0xFF, 0}) == ::tlm::TLM_OK_RESPONSE);
    CHECK(file.get(0x20) == 0x00030001);
    CHECK(read(0x20, 4, {0, 0xFF, 0}) == Bytes{0xEE, 0, 0xEE, 0xEE});
}

TEST_CASE_METHOD(Fixture, "a hole is an address error and nothing happens", "[tlm][registers]") {
    file.set(0x10, 5);
    Bytes data(8, 0xEE);
    CHECK(access(kRead, 0x10, data) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(data == Bytes(8, 0xEE));
    CHECK(file.get(0x10) == 5);
    CHECK(reads == 0);
    CHECK(access(kRead, 0x1000, data) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(payload.get_address() == 0x1000);
}

TEST_CASE_METHOD(Fixture, "a streaming width below the length is a burst error", "[tlm][registers]") {
    Bytes data(4);
    payload.set_command(kRead);
    payload.set_address(0);
    payload.set_data_ptr(data.data());
    payload.set_data_length(4);
    payload.set_streaming_width(2);
    file.transport(payload);
    CHECK(payload.get_response_status() == ::tlm::TLM_BURST_ERROR_RESPONSE);
    payload.set_streaming_width(8);
    file.transport(payload);
    CHECK(payload.get_response_status() == ::tlm::TLM_OK_RESPONSE);
    payload.set_byte_enable_ptr(data.data());
    payload.set_byte_enable_length(0);
    file.transport(payload);
    CHECK(payload.get_response_status() == ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
}

TEST_CASE_METHOD(Fixture, "an ignore command is accepted and ignored", "[tlm][registers]") {
    payload.set_command(::tlm::TLM_IGNORE_COMMAND);
    file.transport(payload);
    CHECK(payload.get_response_status() == ::tlm::TLM_OK_RESPONSE);
    CHECK(file.transport_dbg(payload) == 0);
}

TEST_CASE("a strict register answers the wrong access with a command error", "[tlm][registers]") {
    Fixture f;
    f.file.add(0x30, "KEY", Access::wo, 0, 0xFF, "").refuse_wrong_access();
    f.file.add(0x34, "SEAL", Access::ro, 7, 0, "").refuse_wrong_access();
    Bytes data(4);
    CHECK(f.access(kRead, 0x30, data) == ::tlm::TLM_COMMAND_ERROR_RESPONSE);
    CHECK(f.access(kWrite, 0x34, data) == ::tlm::TLM_COMMAND_ERROR_RESPONSE);
    CHECK(f.access(kWrite, 0x30, data) == ::tlm::TLM_OK_RESPONSE);
    CHECK(f.access(kRead, 0x34, data) == ::tlm::TLM_OK_RESPONSE);
}

TEST_CASE_METHOD(Fixture, "debug transport has no side effects", "[tlm][registers]") {
    file.set(0x10, 0x55);
    Bytes data(8, 0xEE);
    payload.set_command(kRead);
    payload.set_address(0x10);
    payload.set_data_ptr(data.data());
    payload.set_data_length(8);
    CHECK(file.transport_dbg(payload) == 4);
    CHECK(data[0] == 0x55);
    CHECK(data[4] == 0xEE);
    CHECK(file.get(0x10) == 0x55);
    CHECK(reads == 0);
    data.assign(8, 0xFF);
    payload.set_command(kWrite);
    payload.set_address(0x04);
    CHECK(file.transport_dbg(payload) == 8);
    CHECK(file.get(0x04) == 0xA500FFFF);
    CHECK(writes.empty());
}

TEST_CASE_METHOD(Fixture, "overlapping, misaligned and contradictory registers are refused", "[tlm][registers]") {
    CHECK_THROWS_WITH(file.add(0x04, "OTHER", Access::rw, 0, 0, ""),
                      ContainsSubstring("MODE") && ContainsSubstring("OTHER") && ContainsSubstring("device"));
    CHECK_THROWS_WITH(file.add(0x26, "ODD", Access::rw, 0, 0, ""),
                      ContainsSubstring("ODD: expected an offset that is a multiple of 4, found 0x26"));
    CHECK_THROWS_WITH(file.add(0x28, "RO", Access::ro, 0, 1, ""), ContainsSubstring("RO"));
    CHECK(file.list().size() == 6);
    CHECK_THROWS_AS(file.get(0x28), std::out_of_range);
}

TEST_CASE_METHOD(Fixture, "the contract can be printed", "[tlm][registers]") {
    CHECK(file.list()[1].name == "MODE");
    CHECK_THAT(file.markdown(), ContainsSubstring("| `0x004` | MODE | rw | `0xa5000000` | `0x0000ffff` | mode |"));
}

TEST_CASE("random accesses agree with a byte-wise reference", "[tlm][registers]") {
    RegisterFile file("random");
    constexpr unsigned kRegisters = 8;
    std::mt19937 random(11);
    Bytes value(4 * kRegisters, 0), writable(4 * kRegisters);
    for (unsigned i = 0; i < kRegisters; ++i) {
        const std::uint32_t mask = random();
        file.add(4 * i, "R" + std::to_string(i), Access::rw, 0, mask, "");
        for (unsigned byte = 0; byte < 4; ++byte) writable[4 * i + byte] = static_cast<unsigned char>(mask >> 8 * byte);
    }
    for (int round = 0; round < 2000; ++round) {
        const unsigned length = 1 + random() % 16, address = random() % (4 * kRegisters - length);
        Bytes data(length), enables(1 + random() % 5);
        std::generate(data.begin(), data.end(), random);
        for (unsigned char& enable : enables) enable = random() % 2 ? 0xFF : 0;
        ::tlm::tlm_generic_payload payload;
        payload.set_command(random() % 2 ? kRead : kWrite);
        payload.set_address(address);
        Bytes moved = data;
        payload.set_data_ptr(moved.data());
        payload.set_data_length(length);
        payload.set_streaming_width(length);
        payload.set_byte_enable_ptr(enables.data());
        payload.set_byte_enable_length(static_cast<unsigned>(enables.size()));
        file.transport(payload);
        REQUIRE(payload.is_response_ok());
        for (unsigned i = 0; i < length; ++i) {
            if (!enables[i % enables.size()]) continue;
            unsigned char& byte = value[address + i];
            if (payload.is_write())
                byte = static_cast<unsigned char>((byte & ~writable[address + i]) | (data[i] & writable[address + i]));
            else
                data[i] = byte;
        }
        if (payload.is_read()) REQUIRE(moved == data);
    }
    for (unsigned i = 0; i < 4 * kRegisters; ++i) REQUIRE((file.get(i & ~3u) >> 8 * (i % 4) & 0xFF) == value[i]);
}
