// SPDX-License-Identifier: Apache-2.0
// The accelerator as one module of somebody else's prototype: it shares nothing, says nothing and costs nothing while
// it is idle.

#include <boost/crc.hpp>

#include "switchyard/testbenches/compliance/accelerator_rig.h"
#include "switchyard/tlm/simulation_registry.h"

using namespace switchyard;
using namespace switchyard::compliance;
using namespace switchyard::testing;

namespace {

std::uint32_t checksum(const platform::NpyArray& array) {
    boost::crc_32_type crc;
    crc.process_bytes(array.values.data(), array.values.size() * sizeof(float));
    return crc.checksum();
}

}  // namespace

TEST_CASE("an idle accelerator has no event pending, whatever it is made of", "[accelerator]") {
    const std::vector<std::map<std::string, std::string>> platforms {
        {}, {{"chip.impl", "stages"}}, {{"noc.impl", "flit"}}, {{"hbm.impl", "bank"}},
            {{"pe_array.impl", "cycle"}, {"dispatcher.impl", "walk"}},
#if defined(SWITCHYARD_RTL)
            {{"pe_array.impl", "rtl"}, {"dispatcher.impl", "rtl"}},
#endif
    };
    for (const auto& overrides : platforms) {
        INFO((overrides.empty() ? "as it is" : overrides.begin()->first + "=" + overrides.begin()->second));
        in_child([&] {
            AcceleratorRig rig(mini(overrides));
            sc_core::sc_start(sc_core::SC_ZERO_TIME);
            CHECK_FALSE(sc_core::sc_pending_activity());
            CHECK(sc_core::sc_time_to_pending_activity() == sc_core::sc_max_time() - sc_core::sc_time_stamp());
            const std::uint64_t deltas = sc_core::sc_delta_count();
            sc_core::sc_start(1, sc_core::SC_SEC);
            CHECK(sc_core::sc_delta_count() <= deltas + 1);
        });
    }
}

SIM_TEST("an accelerator is idle again after a batch", "[accelerator]") {
    AcceleratorRig rig(mini({{"chip.functional", "yes"}}));
    rig.run([](AcceleratorRig& r) { CHECK(wrong_digits(run_digits(r)) == 0); });
    CHECK_FALSE(sc_core::sc_pending_activity());
    CHECK(rig.accelerator.registry().waits().empty());
    CHECK(rig.accelerator.registry().sum("rig.accelerator", "batches") == 1);
    CHECK(rig.accelerator.last_error_text().empty());
}

SIM_TEST("images with a flipped bit are refused one after another, and the one before still computes",
         "[accelerator]") {
    AcceleratorRig rig(mini({{"chip.functional", "yes"}}));
    rig.run([](AcceleratorRig& r) {
        const Image image = decode_image(digits_image(), "digits");
        const std::string folder = "configs/workloads/digits/skipnet/";
        platform::NetworkValues values(image, folder + "weights", folder + "input_batch0.npy");
        CHECK(wrong_digits(run_digits(r)) == 0);
        for (std::size_t byte = 0; byte < 64; ++byte) {  // the header
            INFO("byte " << byte);
            std::vector<std::uint8_t> flipped = digits_image();
            flipped[byte] ^= static_cast<std::uint8_t>(1u << byte % 8);
            r.put_image(flipped);
            r.write(regs::kControl, regs::kCommitImage);
            CHECK(r.wait_for_interrupt() == regs::kIrqError);
            CHECK(r.read(regs::kError) != 0);
            CHECK((r.read(regs::kStatus) & regs::kLoaded) != 0);
        }
        r.run_batch(image, values);  // weights and input are still there
        CHECK(wrong_digits(values.output()) == 0);
        CHECK(r.read(regs::kBatchDone) == 2);
    });
}

SIM_TEST("two accelerators with different configurations work side by side", "[accelerator]") {
    AcceleratorRig first(mini({{"chip.functional", "yes"}}), {}, "first");
    AcceleratorRig second(mini({{"chip.functional", "yes"},
                                {"dispatcher.impl", "walk"},
                                {"pe_array.acc", "fp16"},
                                {"hbm.impl", "bank"},
                                {"host.link_bytes_per_cycle", "64"}}),
                          port_styles().back(), "second");
    AcceleratorRig idle(mini({{"chip.impl", "stages"}}), {}, "idle");
    std::map<std::string, std::uint32_t> checksums;
    std::map<std::string, sc_core::sc_time> finished;
    for (AcceleratorRig* const rig : {&first, &second}) {
        rig->drive([&](AcceleratorRig& r) {
            const platform::NpyArray logits = run_digits(r);
            CHECK(wrong_digits(logits) == 0);
            checksums[r.name()] = checksum(logits);
            finished[r.name()] = sc_core::sc_time_stamp();
        });
    }
    sc_core::sc_start();
    REQUIRE(checksums.size() == 2);
    CHECK(checksums["first"] != checksums["second"]);  // binary16 accumulates otherwise than binary32
    CHECK(finished["first"] != finished["second"]);
    CHECK(first.accelerator.registry().sum("first", "batches") == 1);
    CHECK(first.accelerator.registry().sum("second", "batches") == 0);
    CHECK(idle.accelerator.registry().sum("idle", "packets_sent") == 0);
    CHECK(second.port_checker.monitor().transactions() > 300);
}

namespace {

std::vector<std::string> heard;

void listen(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
    heard.push_back(std::string(report.get_msg_type()) + "|" + report.get_msg());
    if (report.get_severity() != sc_core::SC_INFO) sc_core::sc_report_handler::default_handler(report, actions);
}

void load_and_fail(AcceleratorRig& rig) {
    rig.load(digits_image());
    rig.write(regs::kControl, regs::kResetImage);
    rig.write(regs::kDoorbell, 0);
    CHECK(rig.wait_for_interrupt() == regs::kIrqError);
    rig.pulse_reset(ns(10));
}

}  // namespace

SIM_TEST("nothing is reported unless asked for", "[accelerator]") {
    sc_core::sc_report_handler::set_handler(listen);
    AcceleratorRig rig(mini());
    rig.run(load_and_fail);
    CHECK(heard.empty());
}

SIM_TEST("what happens is reported with types that a user can filter", "[accelerator]") {
    sc_core::sc_report_handler::set_handler(listen);
    sc_core::sc_report_handler::set_verbosity_level(sc_core::SC_HIGH);
    sc_core::sc_report_handler::set_actions("switchyard/host_interface/image", sc_core::SC_INFO,
                                            sc_core::SC_DO_NOTHING);
    AcceleratorRig rig(mini());
    rig.run(load_and_fail);
    const std::string host = "rig.accelerator.chip.host: ";
    CHECK(heard ==
          std::vector<std::string>{"switchyard/host_interface/image|" + host + "image loaded, 22 segments",
                                   "switchyard/host_interface/error|" + host +
                                       "batch 0: expected a loaded image before the doorbell, found none; load one (9)",
                                   "switchyard/host_interface/reset|" + host + "reset",
                                   "switchyard/host_interface/reset|" + host + "out of reset"});
    CHECK(sc_core::sc_report_handler::get_count("switchyard/host_interface/image") == 1);
}
