// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

/// Writes a variant of `source` and returns its path.
std::string variant(const std::string& source, const std::string& from, const std::string& to) {
    const std::string path = scratch("variant" + std::filesystem::path(source).extension().string());
    write_text(path, replaced(read_text(source), from, to));
    return path;
}

Outcome compile(const std::string& model, const std::string& platform, const std::string& more = "") {
    return sy_sched("compile " + model + " --platform " + platform + " --design adyna -o " + scratch("bad.syk") + " " +
                    more);
}

Outcome run_digits(const std::string& arguments) {
    return sy_sim(std::string("run --platform ") + kMini + " --image " + digits_image() + " " + arguments);
}

/// The first line of the digits' trace, changed, in a file of its own with the rest behind it.
std::string trace_with(const std::string& from, const std::string& to) {
    return variant(kDigitsTrace, from, to);
}

}  // namespace

TEST_CASE("bad platforms are refused with file, line and key", "[cli][bad]") {
    check_refused(compile(kDigits, variant(kMini, "  stacks: 1", "  stacks: 1\n  stacs: 1")),
                  {"sy-sched: ", "variant.yaml:", "hbm.stacs: expected one of "});
    check_refused(compile(kDigits, variant(kMini, "clock_ghz: 1.0", "clock_ghz: 1 GHz")),
                  {"variant.yaml:8: chip.clock_ghz: expected a plain number in GHz"});
    check_refused(compile(kDigits, variant(kMini, "energy: {}", "")),
                  {"variant.yaml:", "energy: expected a section, found none"});
    check_refused(compile(kDigits, scratch("nowhere.yaml")), {"nowhere.yaml: cannot be read"});
    check_refused(run_digits("--set noc.link_bytes_per_cycl=96"),
                  {"sy-sim: --set: noc.link_bytes_per_cycl: expected a known key, found noc.link_bytes_per_cycl"});
    check_refused(run_digits("--set noc.link_bytes_per_cycle"),
                  {"expected section.key=value, found nothing of this form"});
    check_refused(run_digits("--set noc.link_bytes_per_cycle=wide"),
                  {"noc.link_bytes_per_cycle: expected a plain integer"});
    check_refused(sy_sim("gemm --platform " + variant(kMini, "rows: 8", "rows: -8") + " --m 1 --n 1 --k 1"),
                  {"variant.yaml:", "pe_array.rows: expected 1 to 1024"});
}

TEST_CASE("values that do not fit the network are refused", "[cli][bad][values]") {
    const std::string folder = "configs/workloads/digits/skipnet/";
    const std::string weights = " --weights " + folder + "weights", inputs = " --inputs " + folder + "input_batch0.npy";
    check_refused(run_digits("--set chip.functional=yes"),
                  {"chip.functional: expected --weights and --inputs, found one or none of them"});
    check_refused(run_digits(weights + inputs),
                  {"chip.functional: expected yes for --weights, --inputs, --outputs and --expect, found no"});
    check_refused(run_digits("--set chip.functional=yes" + inputs + " --weights " + scratch("nothing")),
                  {"nothing/stem.weight.npy: cannot be read"});
    check_refused(run_digits("--set chip.functional=yes --inputs " + folder + "weights/head.weight.npy" + weights),
                  {"head.weight.npy: shape: expected batches of (128, 1, 8, 8), at least 1 of them, found (10, 16)"});
    check_refused(run_digits("--set chip.functional=yes --batches 2" + weights + inputs),
                  {"--batches: expected at most 1, the batches in the file, found 2"});
    const std::string broken = scratch("broken");
    std::filesystem::create_directories(broken);
    std::filesystem::copy(folder + "weights", broken, std::filesystem::copy_options::recursive);
    std::filesystem::copy_file(folder + "weights/head.bias.npy", broken + "/a.3.bias.npy",
                               std::filesystem::copy_options::overwrite_existing);
    check_refused(run_digits("--set chip.functional=yes --weights " + broken + inputs),
                  {"a.3.bias.npy: shape: expected 16 channels for operator block3.a, found (10)"});
}

TEST_CASE("bad models are refused with file, line and key", "[cli][bad]") {
    check_refused(compile(variant(kDigits, "batch: 128", "batch: 128\nbatches: 1"), kMini),
                  {"variant.yaml:", "batches"});
    check_refused(compile(variant(kDigits, "batch: 128", "batch: 128 images"), kMini), {"variant.yaml:", "batch"});
    check_refused(compile(variant(kDigits, "with: {i: 0, h: stem}", "with: {i: 0, h: steam}"), kMini),
                  {"variant.yaml:", "steam"});
    // A sample that skips block 3 would have no way out: both of the merge's sources stand on branch 1.
    check_refused(compile(variant(kDigits, "from: [block<i>.0, block<i>.b]", "from: [block<i>.a, block<i>.b]"), kMini),
                  {"variant.yaml:", "block0"});
    check_refused(compile(scratch("nowhere.yaml"), kMini), {"nowhere.yaml: cannot be read"});
    check_refused(compile(kDigits, kMini, "--profile " + scratch("nowhere.json")), {"nowhere.json: cannot be read"});
    CHECK_FALSE(std::filesystem::exists(scratch("bad.syk")));
}

TEST_CASE("traces that do not match the model are refused with file, line and key", "[cli][bad]") {
    check_refused(run_digits("--batches 1 --trace " + trace_with("\"block0\"", "\"block9\"")),
                  {"sy-sim: ", "variant.jsonl:1: ", "block9"});
    check_refused(run_digits("--batches 1 --trace " + trace_with("\"branches\":2", "\"branches\":3")),
                  {"variant.jsonl:1: ", "branches"});
    check_refused(run_digits("--batches 1 --trace " + trace_with("\"samples\":128", "\"samples\":129")),
                  {"variant.jsonl:1: ", "samples"});
    check_refused(run_digits("--batches 1 --trace " + trace_with("\"mask\":[2,", "\"mask\":[4,")),
                  {"variant.jsonl:1: ", "mask"});
    check_refused(run_digits("--batches 1 --trace " + trace_with("\"mask\":[2,", "\"mask\":[0,")),
                  {"variant.jsonl:1: ", "mask"});
    check_refused(run_digits("--batches 1 --trace " + trace_with("{\"batch\":0", "{batch:0")), {"variant.jsonl:1: "});
    check_refused(run_digits("--batches 1 --trace " + scratch("nowhere.jsonl")), {"nowhere.jsonl"});
    check_refused(run_digits(std::string("--batches 201 --trace ") + kDigitsTrace),
                  {"expected 201 batches or more, found 200"});
}

TEST_CASE("bad command lines are refused in one line", "[cli][bad]") {
    check_refused(sy_sim(""), {"sy-sim: "});
    check_refused(sy_sim("fly"), {"sy-sim: fly: unknown command of sy-sim; known commands: run, "});
    check_refused(run_digits("--batches 0"), {"--batches"});
    check_refused(run_digits("--batches many"), {"--batches"});
    check_refused(run_digits("--trce x"), {"sy-sim: --trce: unknown option of sy-sim run; did you mean --trace?"});
    // What is unknown is named before what is missing.
    for (const char* command : {"run", "gemm"})
        check_refused(sy_sim(std::string(command) + " --platfrom x --set chip.impl=tiles"),
                      {"sy-sim: --platfrom: unknown option of sy-sim ", "; did you mean --platform?"});
    check_refused(sy_sched("compile m.yaml --platfrom=x"),
                  {"sy-sched: --platfrom: unknown option of sy-sched compile; did you mean --platform?"});
    check_refused(sy_sched("pilot trian"),
                  {"sy-sched: trian: unknown command of sy-sched pilot; known commands: ", "did you mean train?"});
    check_refused(sy_sim("run --seed --platform --tirle x"), {"--tirle: unknown option of sy-sim run"});
    check_refused(sy_sim(std::string("run --platform ") + kMini), {"expected --image or --workload, found neither"});
    check_refused(sy_sim(std::string("run --image x.syk --workload y.yaml --platform ") + kMini),
                  {"expected --image or --workload, found both"});
    check_refused(sy_sim(std::string("run --workload y.yaml --weights w --platform ") + kMini),
                  {"--weights: expected no value here, as it goes with --image, found one"});
    check_refused(sy_sim(std::string("run --image x.syk --design adyna --platform ") + kMini),
                  {"--design: expected no value here, as it goes with --workload, found one"});
    check_refused(sy_sim("baseline gpu m.yaml --platform x.yaml --batches 3"),
                  {"use sy-sim run --platform FILE --workload FILE --design DESIGN"});
    check_refused(sy_sched("compile"), {"sy-sched: "});
    check_refused(sy_sched(std::string("compile ") + kDigits + " --platform " + kMini + " --design adjna -o " +
                           scratch("bad.syk")),
                  {"adjna", "adyna"});
    check_refused(sy_sim(std::string("gemm --platform ") + kMini + " --m 0 --n 1 --k 1"), {"--m"});
    check_refused(sy_sim(std::string("gemm --platform ") + kMini + " --m 1 --n 1 --k 1 --tiles 5"),
                  {"--tiles: expected at most the 4 tiles of platform mini, found 5"});
    check_refused(
        sy_sched(std::string("compile ") + kDigits + " --platform " + kMini + " --design adyna -o /dev/null/x.syk"),
        {"/dev/null/x.syk"});
}

TEST_CASE("a report that cannot be written is an error", "[cli][bad]") {
    check_refused(run_digits(std::string("--batches 1 --trace ") + kDigitsTrace + " --report /dev/null/x"),
                  {"/dev/null/x/report.json: cannot be written"});
}
