// SPDX-License-Identifier: Apache-2.0
// Pilot files that the programs refuse: one line, exit status 2.
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;

namespace {

const char* const kSmall =
    " --gpu configs/gpus/rtx6000.yaml --set training.width=256 --set training.label_buffer_gb=0.02";
const char* const kUgan = "configs/workloads/dynn_offload/ugan.yaml";

/// Trained with a few samples of a small UGAN.
const std::string& small_pilot() {
    static const std::string kPath = [] {
        const std::string trace = scratch("ugan.jsonl"), pilot = scratch("pilot.json");
        REQUIRE(sy_sched(std::string("pilot trace ") + kUgan + kSmall + " --samples 40 -o " + trace).status == 0);
        REQUIRE(sy_sched("pilot train " + trace + " --neurons 8 --epochs 1 -o " + pilot).status == 0);
        return pilot;
    }();
    return kPath;
}

std::string damaged(const std::string& from, const std::string& to) {
    std::string text = read_text(small_pilot());
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    const std::string path = scratch("damaged.json");
    write_text(path, text.replace(at, from.size(), to));
    return path;
}

/// Both programs that read pilots.
void check_both(const std::string& pilot, const std::string& network, std::initializer_list<const char*> parts) {
    check_refused(sy_sched("pilot evaluate " + pilot + " " + network + kSmall + " --samples 10"), parts);
    check_refused(
        sy_sim("run --design dynn-offload --platform configs/platforms/training_rtx6000.yaml --workload " + network +
               " --batches 2 --set network.width=256 --set network.label_buffer_gb=0.02"
               " --set training.budget_gb=0.04 --set training.pilot=" +
               pilot),
        parts);
}

}  // namespace

TEST_CASE("a pilot that fits is not refused", "[cli][bad][pilot]") {
    CHECK(sy_sched("pilot evaluate " + small_pilot() + " " + kUgan + kSmall + " --samples 10").status == 0);
}

TEST_CASE("pilot files of another version or network, and damaged ones, are refused", "[cli][bad][pilot]") {
    check_both(damaged("\"version\":2", "\"version\":1"), kUgan,
               {"damaged.json: version: expected version 2 of the format, found 1"});
    check_both(damaged("\"neurons\":8", "\"neurons\":9"), kUgan,
               {"damaged.json: ", "expected 396 numbers, 9 x 44, found 352"});
    check_both(kUgan, kUgan, {"ugan.yaml:1: expected JSON, found other text from byte 1 on"});
    check_both(scratch("nowhere.json"), kUgan, {"nowhere.json"});
    const std::string text = read_text(small_pilot()), half = scratch("half.json");
    write_text(half, text.substr(0, text.size() / 2));
    check_both(half, kUgan, {"half.json:1: expected JSON, found other text from byte "});
    check_both(small_pilot(), "configs/workloads/dynn_offload/tree_cnn.yaml",
               {"pilot.json: trained_on: expected a pilot trained on the network's type, found ugan, not convolution, "
                "the type of tree_cnn"});
}
