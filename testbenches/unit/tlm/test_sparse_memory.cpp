// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/sparse_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <vector>

#include "switchyard/testbenches/catch.h"
#include "switchyard/tlm/memory_access.h"

using namespace switchyard;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kTiB = std::uint64_t{1} << 40;

std::vector<unsigned char> counted(std::size_t bytes) {
    std::vector<unsigned char> values(bytes);
    std::iota(values.begin(), values.end(), static_cast<unsigned char>(1));
    return values;
}

}  // namespace

TEST_CASE("sparse memory is zero until it is written, across its pieces too", "[tlm][sparse_memory]") {
    SparseMemory memory(kTiB);
    const std::vector<unsigned char> values = counted(40 * kMiB);
    const std::uint64_t address = kTiB / 2 - 12345;
    memory.write(address, values.data(), values.size());
    std::vector<unsigned char> back(values.size() + 2, 99);
    memory.read(address - 1, back.data(), back.size());
    CHECK(back.front() == 0);
    CHECK(back.back() == 0);
    CHECK(std::equal(values.begin(), values.end(), back.begin() + 1));
    memory.read(0, back.data(), back.size());
    CHECK(std::all_of(back.begin(), back.end(), [](unsigned char byte) { return byte == 0; }));
}

TEST_CASE("a piece of sparse memory is the memory itself, as far as it goes", "[tlm][sparse_memory]") {
    SparseMemory memory(100 * kMiB + 7);
    const SparseMemory::Piece last = memory.piece(100 * kMiB + 6);
    CHECK(last.end == memory.size());
    CHECK(last.begin <= 100 * kMiB);
    *last.at(100 * kMiB + 6) = 42;
    unsigned char byte = 0;
    memory.read(100 * kMiB + 6, &byte, 1);
    CHECK(byte == 42);
    CHECK(memory.holds_together(last.begin, last.end - last.begin));
    CHECK_FALSE(memory.holds_together(last.begin - 1, 2));
}

TEST_CASE("payloads reach sparse memory over the edge of a piece", "[tlm][sparse_memory]") {
    SparseMemory memory(64 * kMiB);
    const std::uint64_t edge = memory.piece(0).end, address = edge - 3;
    std::vector<unsigned char> data = counted(8);
    std::vector<unsigned char> enables{TLM_BYTE_ENABLED, TLM_BYTE_DISABLED};
    ::tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_data_ptr(data.data());
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    payload.set_byte_enable_ptr(enables.data());
    payload.set_byte_enable_length(2);
    CHECK(access_memory(payload, memory, address) == ::tlm::TLM_OK_RESPONSE);
    unsigned char back[8];
    memory.read(address, back, 8);
    for (unsigned i = 0; i < 8; ++i) CHECK(back[i] == (i % 2 == 0 ? i + 1 : 0));
    payload.set_read();
    payload.set_byte_enable_ptr(nullptr);
    CHECK(access_memory(payload, memory, address) == ::tlm::TLM_OK_RESPONSE);
    CHECK(std::equal(data.begin(), data.end(), back));
    CHECK(debug_access_memory(payload, memory, memory.size() - 5) == 5);
    CHECK(data[0] == 0);
}

#if !defined(__SANITIZE_ADDRESS__)  // whose shadow is beyond any limit
TEST_CASE("sparse memory takes address space for what is touched only", "[tlm][sparse_memory]") {
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    rlimit little = before;
    little.rlim_cur = std::uint64_t{8} << 30;
    setrlimit(RLIMIT_AS, &little);
    SparseMemory memory(kTiB);
    const unsigned char byte = 1;
    for (std::uint64_t address = 0; address < kTiB; address += kTiB / 8) memory.write(address, &byte, 1);
    CHECK_THROWS_AS(DemandPagedMemory(kTiB), std::bad_alloc);
    setrlimit(RLIMIT_AS, &before);
}
#endif
