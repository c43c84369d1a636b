// SPDX-License-Identifier: Apache-2.0
// What is too large, endless, contradictory or misspelt ends in one line, before anything is written.

#include <filesystem>

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

std::string file_of(const std::string& name, const std::string& text) {
    std::string path = scratch(name);
    write_text(path, text);
    return path;
}

Outcome compile(const std::string& model, const std::string& more = "", const std::string& platform = kMini) {
    return sy_sched("compile " + model + " --platform " + platform + " --design adyna -o " + scratch("never.syk") +
                    " " + more);
}

Outcome run_mini(const std::string& arguments) {
    return sy_sim(std::string("run --platform ") + kMini + " --image " + digits_image() + " --batches 1 " + arguments);
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)  // whose shadow is beyond any limit
TEST_CASE("a run needs no more address space than it uses", "[cli][limits]") {
    const std::string arguments =
        std::string("run --platform ") + kMini + " --image " + digits_image() + " --batches 1 --trace " + kDigitsTrace;
    const Outcome free = sy_sim(arguments);
    REQUIRE(free.status == 0);
    for (const char* impl : {"tiles", "stages"}) {
        INFO(impl);
        const Outcome bound = sy_sim_within("ulimit -v 1000000", arguments + " --set chip.impl=" + impl);
        INFO(bound.err);
        CHECK(bound.status == 0);
    }
    const Outcome little = sy_sim_within("ulimit -v 60000", arguments);
    check_refused(little, {"sy-sim: there is not enough memory"});
}
#endif

TEST_CASE("files that never end and networks that fill the memory are refused", "[cli][limits]") {
    check_refused(sy_sim("noc --size 100000x100000"), {"--size: 100000x100000: expected 1 to 4096 nodes"});
    check_refused(sy_sim("noc --size 0x8"), {"--size: 0x8: expected 1 to 4096 nodes"});
    check_refused(sy_sim("noc --pipeline 4000000000,1,1,1"), {"--pipeline: ", "expected 100 cycles at most"});
    check_refused(compile("/dev/zero"), {"/dev/zero: expected a file or a pipe, found neither"});
    check_refused(compile(kDigits, "", "/dev/zero"), {"/dev/zero: expected a file or a pipe, found neither"});
    check_refused(compile(kDigits, "--profile /dev/zero"), {"/dev/zero: expected a file or a pipe, found neither"});
    check_refused(run_mini("--trace /dev/zero"), {"/dev/zero: expected a file or a pipe, found neither"});
    check_refused(sy_sched("inspect /dev/zero"), {"/dev/zero: expected a file or a pipe, found neither"});
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image /dev/zero"),
                  {"/dev/zero: expected a file or a pipe, found neither"});
    check_refused(sy_sim("mem --pattern trace --trace /dev/zero"),
                  {"/dev/zero: expected a file or a pipe, found neither"});
    check_refused(sy_sim("experiment /dev/zero --report " + scratch("never")),
                  {"/dev/zero: expected a file or a pipe, found neither"});
}

TEST_CASE("messages are our own, not those of libraries", "[cli][limits]") {
    const std::string folder = fs::current_path().string();
    check_refused(run_mini("--trace " + folder), {": expected a file, found a directory"});
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image " + folder),
                  {": expected a file, found a directory"});
    check_refused(compile(kDigits, "--profile " + folder), {": expected a file, found a directory"});
    check_refused(
        run_mini("--set chip.functional=yes --weights configs/workloads/digits/skipnet/weights --inputs " + folder),
        {": expected a file, found a directory"});
    check_refused(sy_sim("mem --pattern trace --trace " + folder), {": expected a file, found a directory"});
    check_refused(run_mini("--trace " + file_of("broken.jsonl", "{\"batch\": 0,")),
                  {"broken.jsonl:1: expected JSON, found other text from byte"});
    check_refused(compile(kDigits, "--profile " + file_of("broken.json", "{\n\"batches\": 1,,\n}")),
                  {"broken.json:2: expected JSON, found other text from byte 16 on"});
}

TEST_CASE("numbers that are none are refused, with what is wanted", "[cli][limits]") {
    check_refused(run_mini("--batches 0"), {"--batches: expected an integer of 1 to 1000000, found 0\n"});
    check_refused(run_mini("--batches -1"), {"--batches: expected an integer of 1 to 1000000, found -1\n"});
    check_refused(run_mini("--batches 010"), {"--batches: expected an integer of 1 to 1000000, found 010\n"});
    check_refused(run_mini("--seed -3"), {"--seed: expected an integer of 0 or more, found -3\n"});
    check_refused(run_mini("--bound nan"), {"--bound: expected a number of 0 or more, found nan\n"});
    check_refused(sy_sim("mem --load nan"), {"--load: expected a number above 0, found nan\n"});
    check_refused(sy_sim("mem --load 0"), {"--load: expected a number above 0, found 0\n"});
    check_refused(sy_sim("mem --requests 0"), {"--requests: expected an integer of 1 to 4294967296, found 0\n"});
    check_refused(sy_sim("mem --seed -3"), {"--seed: expected an integer of 0 or more, found -3\n"});
    check_refused(sy_sim("noc --rate nan"), {"--rate: expected a number of 0 or more, found nan\n"});
    check_refused(sy_sim("noc --seed -3"), {"--seed: expected an integer of 0 or more, found -3\n"});
    check_refused(sy_sim("noc --cycles 0"), {"--cycles: expected an integer of 1 to 1000000000000, found 0\n"});
    check_refused(sy_sim("run --design gpu --workload m.yaml --batches 0"),
                  {"--batches: expected an integer of 1 to 1000000, found 0\n"});
    check_refused(sy_sim("run --design gpu --workload m.yaml --seed -3"),
                  {"--seed: expected an integer of 0 or more, found -3\n"});
    check_refused(compile(kDigits, "--batch 010"), {"--batch: expected an integer of 1 to 1048576, found 010\n"});
    const std::string pack = "pack " + digits_image() +
                             " --weights configs/workloads/digits/skipnet/weights"
                             " --inputs configs/workloads/digits/skipnet/input_batch0.npy -o " +
                             scratch("package.syp") + " --address ";
    CHECK_THAT(sy_sched(pack + "0x80100000").out, ContainsSubstring(" bytes for 0x80100000, "));
    CHECK_THAT(sy_sched(pack + "2148532224").out, ContainsSubstring(" bytes for 0x80100000, "));
    for (const char* address : {"020", "-16", "0x", "0x10g", "0x10000000000000000"})
        check_refused(sy_sched(pack + address),
                      {"--address: expected an address, decimal or behind 0x hexadecimal, found "});
}

TEST_CASE("files that can be read in two ways are refused", "[cli][limits]") {
    const std::string model = read_text(kDigits);
    check_refused(compile(file_of("octal.yaml", replaced(model, "batch: 128", "batch: 0128"))),
                  {"octal.yaml:", "batch: expected a plain integer, found \"0128\""});
    check_refused(compile(kDigits, "", file_of("octal.yaml", replaced(read_text(kMini), "columns: 2", "columns: 02"))),
                  {"octal.yaml:", "chip.columns: expected a plain integer, found \"02\""});
    check_refused(compile(file_of("second.yaml", model + "---\nname: second\n")),
                  {"second.yaml:", "expected one YAML document, found a second"});
    check_refused(compile(kDigits, "--profile " + file_of("twice.json", R"({"batches": 1, "batches": 2})")),
                  {"twice.json: batches: expected the key once, found it twice"});
    check_refused(run_mini("--trace " + file_of("twice.jsonl", R"({"batch": 0, "batch": 0})")),
                  {"twice.jsonl: batch: expected the key once, found it twice"});
}

TEST_CASE("a misspelt key is named, also where it leaves another missing", "[cli][limits]") {
    const std::string model = read_text(kDigits);
    check_refused(compile(file_of("misspelt.yaml", replaced(model, "batch: 128", "bacth: 128"))),
                  {"misspelt.yaml:", ": bacth: expected one of batch, "});
    check_refused(compile(file_of("misspelt.yaml", replaced(model, "out_channels:", "channels:"))),
                  {"misspelt.yaml:", "channels: expected one of "});
    const std::string experiment = read_text("configs/experiments/digits.yaml");
    check_refused(sy_sim("experiment " + file_of("misspelt.yaml", replaced(experiment, "platform:", "platfrom:")) +
                         " --report " + scratch("never")),
                  {"misspelt.yaml:", ": platfrom: expected one of "});
}

TEST_CASE("settings and documents agree", "[cli][limits]") {
    const std::string run_bank = std::string("--trace ") + kDigitsTrace + " --set hbm.device= --set hbm.impl=bandwidth";
    CHECK(run_mini(run_bank).status == 0);
    check_refused(run_mini("--set hbm.stacks="), {"--set: hbm.stacks: expected a plain integer, found \"\""});
    for (const char* share : {"0", "1"})
        check_refused(run_mini(std::string("--set scratchpad.kernel_share=") + share),
                      {"--set: scratchpad.kernel_share: expected 0.0001 to 0.9999, found "});
    CHECK_THAT(read_text("docs/platform_keys.md"),
               ContainsSubstring("`scratchpad.kernel_share` | number | 0.05 | 0.0001 to 0.9999 |"));
}

TEST_CASE("a run finds the trace that its model names", "[cli][trace]") {
    const std::string folder = scratch("named");
    fs::create_directories(folder + "/digits/skipnet");
    fs::create_directories(folder + "/images");
    fs::copy_file(kDigitsTrace, folder + "/digits/skipnet/routing.jsonl");
    fs::copy_file(kDigits, folder + "/model.yaml");
    const std::string image = folder + "/images/model.syk", elsewhere = folder + "/model.syk";
    REQUIRE(sy_sched("compile " + folder + "/model.yaml --platform " + kMini + " --design adyna -o " + image).status ==
            0);
    const auto report = [&](const std::string& arguments, const std::string& where) {
        const Outcome outcome = sy_sim_in(where, "run --platform " + fs::absolute(kMini).string() + " --batches 2 " +
                                                     arguments + " --report " + folder + "/report");
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return read_text(folder + "/report/report.json");
    };
    const std::string given = report("--image " + image + " --trace " + folder + "/digits/skipnet/routing.jsonl", ".");
    CHECK(report("--image " + image, "/tmp") == given);
    CHECK(switchyard::parse_json(given, "report").at("routing").at("source") == "trace");

    const std::string refused = std::string("run --platform ") + kMini + " --batches 2 --image ";
    fs::copy_file(image, elsewhere);
    check_refused(
        sy_sim(refused + elsewhere),
        {"model.syk: --trace: expected one, as the model declares no route generator, found none; give a trace"});
    fs::copy_file(image + ".trace", elsewhere + ".trace");
    check_refused(sy_sim(refused + elsewhere),
                  {"model.syk: --trace: expected the trace of the model at ", ", found no file; give a trace"});
    write_text(folder + "/digits/skipnet/routing.jsonl", read_text(kDigitsTrace) + "\n");
    check_refused(sy_sim(refused + image), {"--trace: expected ", "routing.jsonl with the CRC-32 0x",
                                            " of the trace that the image was compiled with"});

    // Of `--routing` too.
    write_text(folder + "/routes.yaml", "trace: digits/skipnet/routing.jsonl\n");
    REQUIRE(sy_sched("compile " + folder + "/model.yaml --routing " + folder + "/routes.yaml --platform " + kMini +
                     " --design adyna -o " + image)
                .status == 0);
    CHECK(report("--image " + image, ".") == given);
    fs::remove_all(folder);
}

TEST_CASE("an image that does not fit the chip's window is refused by scheduler, run and chip", "[cli][limits]") {
    check_refused(compile(kDigits, "--set host.image_window_bytes=65536"),
                  {"digits_skipnet.yaml: expected an image of at most the 65536 bytes of mini's image window, found ",
                   "; raise host.image_window_bytes"});
    CHECK_FALSE(fs::exists(scratch("never.syk")));
    check_refused(run_mini(std::string("--trace ") + kDigitsTrace + " --set host.image_window_bytes=65536"),
                  {"digits_skipnet.syk: expected an image of at most the 65536 bytes of mini's image window, found ",
                   "; raise host.image_window_bytes"});
}
