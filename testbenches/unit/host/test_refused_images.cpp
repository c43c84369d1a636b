// SPDX-License-Identifier: Apache-2.0
// What is no image is refused by an error code and an interrupt, and the image that was loaded before still runs.

#include "switchyard/testbenches/unit/host/host_rig.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using regs::ErrorCode;

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kHeaderBytes = 64;

ErrorCode error(HostRig& r) {
    return static_cast<ErrorCode>(r.read(regs::kError));
}

/// Rings the doorbell and sees the batch through on the image of two segments.
void run_a_batch(HostRig& r, std::uint32_t done_before) {
    const std::size_t starts = r.chip.starts.size();
    r.write(regs::kDoorbell, 3);
    CHECK(r.wait_for_interrupt() == regs::kIrqBatchDone);
    CHECK(r.read(regs::kBatchDone) == done_before + 1);
    REQUIRE(r.chip.starts.size() == starts + 2);
    CHECK(r.chip.starts[starts].tiles == std::vector<Endpoint>{0, 1});
    CHECK(r.chip.starts[starts + 1].tiles == std::vector<Endpoint>{1});
}

/// Each of `wrong` in turn, a batch of the good image after each of them.
void expect_refused(const std::vector<Bytes>& wrong) {
    HostRig rig;
    rig.run([&](HostRig& r) {
        r.load(host_image());
        const std::size_t packets = r.chip.config_sizes.size();
        std::uint32_t batches = 0;
        for (std::size_t i = 0; i < wrong.size(); ++i) {
            INFO("image " << i);
            r.put_image(wrong[i]);
            CHECK(r.commit() == regs::kIrqError);
            CHECK(error(r) != ErrorCode::none);
            CHECK_FALSE(r.error_text().empty());
            const std::uint32_t batch_done = batches > 0 ? regs::kLastBatchDone : 0u;
            CHECK(r.read(regs::kStatus) == (regs::kLoaded | batch_done | regs::kFailed));
            run_a_batch(r, batches++);
        }
        CHECK(r.chip.config_sizes.size() == packets);  // nothing of them has reached a tile
        CHECK(r.read(regs::kBatchDone) == wrong.size());
        r.put_image(encode(host_image()));
        CHECK(r.commit() == regs::kIrqLoaded);
        CHECK(r.read(regs::kStatus) == regs::kLoaded);
        CHECK(r.read(regs::kBatchDone) == 0);
        run_a_batch(r, 0);
    });
}

}  // namespace

SIM_TEST("a flipped bit in any byte of the header or the table leaves the image before running", "[host][images]") {
    const Bytes good = encode(host_image());
    std::vector<Bytes> wrong;
    const std::size_t bytes = kHeaderBytes + 32 * read_section_table(good, "image").size();
    for (std::size_t i = 0; i < bytes; ++i) {
        wrong.push_back(good);
        wrong.back()[i] ^= static_cast<std::uint8_t>(1u << i % 8);
    }
    expect_refused(wrong);
}

SIM_TEST("a cut, a byte too many and no bytes at all leave the image before running", "[host][images]") {
    const Bytes good = encode(host_image());
    std::vector<Bytes> wrong;
    for (std::size_t bytes = 0; bytes < good.size(); bytes += bytes < kHeaderBytes ? 7 : 101)
        wrong.emplace_back(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes));
    wrong.push_back(good);
    wrong.back().push_back(0);
    expect_refused(wrong);
}

SIM_TEST("a wrong IMAGE_BYTES is refused, whatever lies in the window behind the image", "[host][images]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        const Bytes good = encode(host_image());
        r.load(host_image());
        const auto size = static_cast<std::uint32_t>(good.size());
        for (const std::uint32_t bytes : {0u, 1u, size - 1, size + 1, size + 4096, 64u << 20, 0xFFFFFFFFu}) {
            INFO(bytes << " bytes");
            r.put_image(good);
            r.write(regs::kImageBytes, bytes);
            CHECK(r.commit() == regs::kIrqError);
            CHECK(error(r) != ErrorCode::none);
        }
        run_a_batch(r, 0);
    });
}

SIM_TEST("an image that is written twice is loaded twice", "[host][images]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        r.load(host_image());
        run_a_batch(r, 0);
        r.put_image(encode(host_image()), 1u << 20);
        r.put_image(encode(host_image()), 3);
        CHECK(r.commit() == regs::kIrqLoaded);
        run_a_batch(r, 0);
        CHECK(r.commit() == regs::kIrqLoaded);  // the window still holds it
        run_a_batch(r, 0);
    });
    CHECK(rig.registry.sum("rig.host", "images_loaded") == 3);
}

SIM_TEST("an image that is written while a batch runs disturbs nothing, and waits for its commit", "[host][images]") {
    HostRig rig;
    rig.chip.tile_delay = {{0, ns(5000)}};
    rig.run([](HostRig& r) {
        r.load(host_image());
        Image next = host_image();
        next.chip.segments.pop_back();
        r.write(regs::kDoorbell, 0);
        r.put_image(encode(next), 64);
        r.write(regs::kControl, regs::kCommitImage);
        CHECK(r.wait_for_interrupt() == regs::kIrqError);
        CHECK(error(r) == ErrorCode::busy);
        CHECK(r.wait_for_interrupt() == regs::kIrqBatchDone);
        REQUIRE(r.chip.starts.size() == 2);  // of the old image
        run_a_batch(r, 1);
    });
}

SIM_TEST("what is written to the window after the commit is not part of it", "[host][images]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        r.put_image(encode(host_image()));
        r.write(regs::kControl, regs::kCommitImage);
        r.put_image(Bytes(200, 0xFF), 200);  // before the load has begun to read, were it to read the window
        CHECK(r.wait_for_interrupt() == regs::kIrqLoaded);
        CHECK(r.read(regs::kStatus) == regs::kLoaded);
        run_a_batch(r, 0);
        CHECK(r.commit() == regs::kIrqError);  // what has been written since
        CHECK(error(r) == ErrorCode::image_malformed);
        run_a_batch(r, 1);
    });
}

SIM_TEST("an image that a tile rejects takes the place of the one before, so that nothing runs", "[host][images]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        r.load(host_image());
        r.chip.rejecting = {1};
        CHECK(r.commit() == regs::kIrqError);
        CHECK(error(r) == ErrorCode::tile_rejected);
        CHECK(r.read(regs::kStatus) == regs::kFailed);
        r.write(regs::kDoorbell, 0);
        CHECK(error(r) == ErrorCode::not_loaded);
    });
}
