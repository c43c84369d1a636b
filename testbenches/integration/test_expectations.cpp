// SPDX-License-Identifier: Apache-2.0
// What a run is compared with has to be whole: an expectation of nothing, or of less than the run, is no success.
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

struct Array {
    const char* type;
    std::vector<std::size_t> shape;
    const char* message;  ///< "": fits
};

/// Zeros, as NumPy stores them.
void write_array(const std::string& path, const Array& array) {
    std::size_t bytes = array.type[2] - '0';
    for (const std::size_t size : array.shape) bytes *= size;
    std::string header = fmt::format(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", array.type,
        array.shape.size() == 1 ? fmt::format("{},", array.shape[0]) : fmt::format("{}", fmt::join(array.shape, ", ")));
    header.resize(117, ' ');
    header += '\n';
    write_text(path, std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string(bytes, '\0'));
}

void check(const Outcome& outcome, const Array& array, const std::string& file) {
    CAPTURE(array.type, array.shape, outcome.err);
    if (*array.message == '\0') {
        CHECK(outcome.status == 0);
        return;
    }
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, ContainsSubstring(file + ": " + array.message));
}

}  // namespace

TEST_CASE("SUSHI's golden values are those of all images", "[cli][values]") {
    const std::string source = "configs/workloads/digits/supernet";
    const std::string folder = scratch("golden/digits/supernet"), model = scratch("golden/sushi/digits.yaml");
    const auto restore = [&] {
        fs::remove_all(scratch("golden"));
        fs::create_directories(scratch("golden/sushi"));
        fs::create_directories(scratch("golden/digits"));
        fs::copy(source, folder, fs::copy_options::recursive);
        fs::copy_file("configs/workloads/sushi/digits_supernet.yaml", model);
    };
    const auto serve = [&] {
        return sy_sim("run --design sushi --workload " + model +
                      " --platform configs/platforms/sushi_small.yaml --set accelerator.functional=yes --batches 2");
    };
    restore();
    const Outcome golden = serve();
    INFO(golden.err);
    REQUIRE(golden.status == 0);
    const std::pair<const char*, std::vector<Array>> files[] = {
        {"logits_batch0_w16_d2.npy",
         {{"<i4", {0, 10}, "shape: expected (128, 10), found (0, 10)"},
          {"<i4", {1, 10}, "shape: expected (128, 10), found (1, 10)"},
          {"<i4", {127, 10}, "shape: expected"},
          {"<i4", {129, 10}, "shape: expected"},
          {"<i4", {128, 9}, "shape: expected"},
          {"<i4", {1280}, "shape: expected"},
          {"<i4", {10, 128}, "shape: expected"},
          {"<i4", {128, 10, 2}, "shape: expected"},
          {"<f4", {128, 10}, "expected <i4 (little-endian int32), found <f4"},
          {"|i1", {128, 10}, "expected <i4 (little-endian int32), found |i1"}}},
        {"input_batch0.npy",
         {{"|i1", {0, 1, 8, 8}, "shape: expected images, found none"},
          {"|i1", {128, 1, 8, 9}, "shape: expected (128, 1, 8, 8), found (128, 1, 8, 9)"},
          {"|i1", {128, 64}, "shape: expected"},
          {"|i1", {128, 2, 4, 8}, "shape: expected"},
          {"<i4", {128, 1, 8, 8}, "expected |i1 (int8), found <i4"}}},
        {"weights/stem.weight.npy",
         {{"|i1", {0, 1, 3, 3}, "shape: expected 32 kernels of 9 values, found (0, 1, 3, 3)"},
          {"|i1", {32, 1, 3, 2}, "shape: expected"},
          {"|i1", {9, 32}, "shape: expected"},
          {"<i4", {32, 1, 3, 3}, "expected |i1 (int8), found <i4"}}},
        {"weights/stem.bias.npy",
         {{"<i4", {0}, "shape: expected 32 kernels of 1 values, found (0)"},
          {"<i4", {31}, "shape: expected"},
          {"<f4", {32}, "expected <i4 (little-endian int32), found <f4"}}},
    };
    for (const auto& [name, arrays] : files) {
        for (const Array& array : arrays) {
            restore();
            write_array(folder + "/" + name, array);
            check(serve(), array, fs::path(name).filename().string());
        }
    }
    // Fewer images with the logits of all of them.
    restore();
    write_array(folder + "/input_batch0.npy", {"|i1", {127, 1, 8, 8}, ""});
    check(serve(), {"", {}, "shape: expected (127, 10), found (128, 10)"}, "logits_batch0_w16_d2.npy");
}

TEST_CASE("an expectation of a run has all of its samples", "[cli][values]") {
    const std::string folder = "configs/workloads/digits/skipnet/", file = scratch("expected.npy");
    const std::string values = " --weights " + folder + "weights", inputs = " --inputs " + folder + "input_batch0.npy";
    const std::string run =
        std::string("run --set chip.functional=yes --platform ") + kMini + " --image " + digits_image() + values;
    const std::string pack = "pack " + digits_image() + " --address 0x80100000 --force -o " + scratch("expected.syp") +
                             values + inputs + " --expect ";
    for (const Array& array : {Array{"<f4", {0, 10}, "shape: expected (128, 10), found (0, 10)"},
                               {"<f4", {1, 10}, "shape: expected"},
                               {"<f4", {127, 10}, "shape: expected"},
                               {"<f4", {128, 9}, "shape: expected"},
                               {"<f4", {1280}, "shape: expected"},
                               {"<f4", {128, 5, 2}, "shape: expected"},
                               {"<f4", {10, 128}, "shape: expected"},
                               {"<f8", {128, 10}, "expected <f4 (little-endian binary32), found <f8"},
                               {"<i4", {128, 10}, "expected <f4 (little-endian binary32), found <i4"}}) {
        write_array(file, array);
        check(sy_sim(run + inputs + " --expect " + file), array, "expected.npy");
        CAPTURE(array.shape);
        const Outcome packed = sy_sched(pack + file);
        CHECK(packed.status == 2);
    }
    for (const Array& array :
         {Array{
              "<f4", {0, 1, 8, 8}, "shape: expected batches of (128, 1, 8, 8), at least 1 of them, found (0, 1, 8, 8)"},
          {"<f4", {127, 1, 8, 8}, "shape: expected"},
          {"<f4", {200, 1, 8, 8}, "shape: expected"},
          {"<f4", {128, 1, 8, 7}, "shape: expected"},
          {"|i1", {128, 1, 8, 8}, "expected <f4 (little-endian binary32), found |i1"}}) {
        write_array(file, array);
        check(sy_sim(run + " --inputs " + file), array, "expected.npy");
    }
    const std::string trace = read_text(kDigitsTrace);
    write_text(scratch("short.jsonl"), trace.substr(0, trace.find("{\"batch\":1,")));
    write_array(file, {"<f4", {256, 1, 8, 8}, ""});
    check_refused(sy_sim(run + " --inputs " + file + " --trace " + scratch("short.jsonl")),
                  {"short.jsonl: batches: expected 2, as the run has, found 1"});
}
