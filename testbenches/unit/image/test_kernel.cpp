// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/crc.hpp>

#include "small_image.h"
#include "switchyard/sw_scheduler/adyna/image/crc16.h"
#include "switchyard/sw_scheduler/adyna/image/kernel.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using switchyard::testing::error_of;

namespace {

/// CRC-16/CCITT-FALSE, bit by bit: polynomial 0x1021, initial value 0xFFFF, nothing reflected.
std::uint16_t crc16(const std::uint8_t* bytes, std::size_t size) {
    unsigned crc = 0xFFFF;
    for (std::size_t i = 0; i < size; ++i) {
        crc ^= static_cast<unsigned>(bytes[i]) << 8;
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
    }
    return static_cast<std::uint16_t>(crc);
}

Kernel strided_convolution() {
    Kernel kernel;
    kernel.total = {40, 0x0180, 64, 28, 28, 3, 5};
    kernel.loop(Level::reg, Dim::p) = {4, 2, 1};
    kernel.loop(Level::reg, Dim::q) = {7, 2, 0};
    kernel.loop(Level::pe, Dim::n) = {8, 1, 6};
    kernel.loop(Level::spm, Dim::k) = {0x1234, 15, 5};
    kernel.loop(Level::unit, Dim::s) = {5, 1, 3};
    kernel.op_id = 0x0203;
    kernel.vector_op = 1;
    kernel.pad = 2;
    return kernel;
}

KernelBytes with_crc(KernelBytes bytes) {
    const std::uint16_t crc = crc16(bytes.data(), 126);
    bytes[126] = crc & 0xFF;
    bytes[127] = crc >> 8;
    return bytes;
}

}  // namespace

TEST_CASE("the checksum's reference value", "[kernel]") {
    const std::string digits = "123456789";
    CHECK(crc16(reinterpret_cast<const std::uint8_t*>(digits.data()), digits.size()) == 0x29B1);
}

TEST_CASE("the checksum of any number of bytes is Boost's", "[kernel]") {
    std::minstd_rand random(16);
    std::vector<std::uint8_t> bytes(200);
    std::generate(bytes.begin(), bytes.end(), [&random] { return static_cast<std::uint8_t>(random() >> 8); });
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        boost::crc_ccitt_false_t expected;
        expected.process_bytes(bytes.data(), size);
        CHECK(crc16_of(bytes.data(), size) == expected.checksum());
    }
}

TEST_CASE("a kernel is laid out as documented", "[kernel]") {
    KernelBytes expected{};
    for (std::size_t loop = 0; loop < 35; ++loop) {
        expected[3 * loop] = 1;      // block, low byte
        expected[3 * loop + 2] = 1;  // stride 1, order 0
    }
    const auto place = [&expected](std::size_t at, std::initializer_list<std::uint8_t> bytes) {
        std::copy(bytes.begin(), bytes.end(), expected.begin() + at);
    };
    place(9, {4, 0, 0x12});           // loop 3: reg.p
    place(12, {7, 0, 0x02});          // loop 4: reg.q
    place(21, {8, 0, 0x61});          // loop 7: pe.n
    place(45, {0x34, 0x12, 0x5F});    // loop 15: spm.k
    place(102, {5, 0, 0x31});         // loop 34: unit.s
    place(105, {40, 0, 0x80, 0x01});  // totals n, k
    place(109, {64, 0, 28, 0, 28, 0, 3, 0, 5, 0});
    place(119, {0x03, 0x02, 1, 2, 0, 0, 0});
    CHECK(encode(strided_convolution()) == with_crc(expected));
}

TEST_CASE("kernels survive a round trip", "[kernel]") {
    const KernelBytes bytes = encode(strided_convolution());
    const Kernel kernel = decode_kernel(bytes.data());
    CHECK(kernel.dyn_dim() == 40);
    CHECK(kernel.size(Dim::k) == 0x180);
    CHECK(kernel.loop(Level::spm, Dim::k).block == 0x1234);
    CHECK(kernel.loop(Level::spm, Dim::k).stride == 15);
    CHECK(kernel.loop(Level::spm, Dim::k).order == 5);
    CHECK(kernel.op_id == 0x0203);
    CHECK(kernel.vector_op == 1);
    CHECK(kernel.pad == 2);
    CHECK(encode(kernel) == bytes);
    CHECK(encode(decode_kernel(encode(Kernel{}).data())) == encode(Kernel{}));
}

TEST_CASE("every flipped bit of a kernel is noticed", "[kernel]") {
    KernelBytes bytes = encode(strided_convolution());
    for (std::size_t bit = 0; bit < 8 * kKernelBytes; ++bit) {
        bytes[bit / 8] ^= 1U << bit % 8;
        CHECK_THAT(error_of([&] { decode_kernel(bytes.data()); }),
                   Catch::Matchers::StartsWith("kernel: expected bytes with the stored CRC-16 "));
        bytes[bit / 8] ^= 1U << bit % 8;
    }
}

TEST_CASE("values that the format cannot hold are refused on both sides", "[kernel]") {
    const auto encode_error = [](const std::function<void(Kernel&)>& spoil) -> std::string {
        Kernel kernel = strided_convolution();
        spoil(kernel);
        try {
            encode(kernel);
        } catch (const std::out_of_range& error) {
            return error.what();
        }
        return {};
    };
    CHECK(encode_error([](Kernel& k) { k.loop(Level::spm, Dim::c).block = 0; }) ==
          "kernel: loop spm.c: expected a block of at least 1, found 0");
    CHECK(encode_error([](Kernel& k) { k.loop(Level::pe, Dim::q).stride = 16; }) ==
          "kernel: loop pe.q: expected a stride of 1 to 15, found 16");
    CHECK(encode_error([](Kernel& k) { k.loop(Level::pe, Dim::q).stride = 0; }) ==
          "kernel: loop pe.q: expected a stride of 1 to 15, found 0");
    CHECK(encode_error([](Kernel& k) { k.loop(Level::tile, Dim::n).order = 7; }) ==
          "kernel: loop tile.n: expected an order below 7, found 7");
    CHECK(encode_error([](Kernel& k) { k.total[2] = 0; }) == "kernel: total c: expected at least 1, found 0");
    CHECK(encode_error([](Kernel& k) { k.vector_op = 2; }) == "kernel: expected flags of 0 or 1, found 2");

    const auto decode_error = [](std::size_t at, std::uint8_t value) {
        KernelBytes bytes = encode(strided_convolution());
        bytes[at] = value;
        bytes = with_crc(bytes);
        return error_of([&] { decode_kernel(bytes.data()); });
    };
    CHECK(decode_error(0, 0) == "kernel: loop reg.n: expected a block of at least 1, found 0");
    CHECK(decode_error(2, 0x71) == "kernel: loop reg.n: expected an order below 7, found 7");
    CHECK(decode_error(2, 0x00) == "kernel: loop reg.n: expected a stride of 1 to 15, found 0");
    CHECK(decode_error(105, 0) == "kernel: total n: expected at least 1, found 0");
    CHECK(decode_error(121, 2) == "kernel: expected flags of 0 or 1, found 2");
    for (std::size_t at : {123, 124, 125})
        CHECK(decode_error(at, 1) == "kernel: expected reserved bytes of 0, found 0x01");
}
