// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "small_image.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/trace.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using switchyard::testing::error_of;
using switchyard::testing::TemporaryFile;

namespace {

/// `top` sends a sample into one of two branches; `inner` stands in branch 1 of it and may use any of three.
const std::vector<SwitchSignature> kSwitches{{"top", 2, -1, 0, true}, {"inner", 3, 0, 1, false}};

const std::string kBatch0 =
    "{\"batch\":0,\"switch\":\"top\",\"branches\":2,\"samples\":4,\"mask\":[1,2,2,1]}\n"
    "{\"batch\":0,\"switch\":\"inner\",\"branches\":3,\"samples\":[1,2],\"mask\":[5,0]}\n";

std::string error_in(const std::string& text, std::uint32_t batch_samples = 4) {
    const TemporaryFile file(text);
    const std::string error = error_of([&] { read_trace(file.path(), kSwitches, batch_samples); });
    REQUIRE(error.compare(0, file.path().size(), file.path()) == 0);
    return error.substr(file.path().size());
}

/// The error when `line` stands in place of the first line (top) or the second (inner) of kBatch0.
std::string top_error(const std::string& line) {
    return error_in(line + kBatch0.substr(kBatch0.find('\n')));
}
std::string inner_error(const std::string& line) {
    return error_in(kBatch0.substr(0, kBatch0.find('\n') + 1) + line);
}

}  // namespace

TEST_CASE("a trace becomes masks by sample id", "[trace]") {
    const TemporaryFile file(
        kBatch0 +
        "\n{\"batch\":1,\"switch\":\"inner\",\"branches\":3,\"samples\":0,\"mask\":[]}\n"
        "{\"batch\":1,\"switch\":\"top\",\"branches\":2,\"samples\":[0,1,2,3],\"mask\":[1,1,1,1]}\n");
    const std::vector<BatchRouting> batches = read_trace(file.path(), kSwitches, 4);
    REQUIRE(batches.size() == 2);
    CHECK(batches[0].samples == 4);
    CHECK(batches[0].masks == std::vector<std::vector<std::uint64_t>>{{1, 2, 2, 1}, {0, 5, 0, 0}});
    CHECK(batches[1].masks == std::vector<std::vector<std::uint64_t>>{{1, 1, 1, 1}, {0, 0, 0, 0}});
    CHECK(read_trace(file.path(), kSwitches, 4, 1).size() == 1);
    CHECK(read_trace(file.path(), kSwitches, 4, 2).size() == 2);
    CHECK(read_trace(file.path(), kSwitches, 4, 3).size() == 2);
}

TEST_CASE("a switch may have 64 branches", "[trace]") {
    const TemporaryFile file(
        "{\"batch\":0,\"switch\":\"wide\",\"branches\":64,\"samples\":1,\"mask\":[18446744073709551615]}\n");
    CHECK(read_trace(file.path(), {{"wide", 64, -1, 0, false}}, 1).at(0).masks[0][0] == ~std::uint64_t{0});
}

/// A trace that others made as our programs write it: with who wrote it in the first line.
static std::string written(const std::string& trace) {
    return "{\"program\":\"switchyard\"," + trace.substr(1);
}

TEST_CASE("traces survive a round trip", "[trace]") {
    const TemporaryFile source(kBatch0), copy;
    write_trace(copy.path(), kSwitches, read_trace(source.path(), kSwitches, 4));
    CHECK(copy.contents() == written(kBatch0));
    CHECK(error_of([] { write_trace("/nowhere/t.jsonl", kSwitches, {}); }) ==
          "/nowhere/t.jsonl: cannot be written: No such file or directory");
}

TEST_CASE("the recorded routing of the digits network is read and written unchanged", "[trace]") {
    const std::string path = "configs/workloads/digits/skipnet/routing.jsonl";
    std::vector<SwitchSignature> switches;
    for (int block = 0; block < 8; ++block) switches.push_back({"block" + std::to_string(block), 2, -1, 0, true});
    const std::vector<BatchRouting> batches = read_trace(path, switches, 128);
    REQUIRE(batches.size() == 200);
    const TemporaryFile copy;
    write_trace(copy.path(), switches, batches);
    std::ifstream original(path);
    CHECK(copy.contents() ==
          written(std::string(std::istreambuf_iterator<char>(original), std::istreambuf_iterator<char>())));
}

TEST_CASE("lines that are no record", "[trace]") {
    CHECK(top_error("{\"batch\":0,") == ":1: expected JSON, found other text from byte 12 on");
    CHECK(top_error("[]") == ":1: expected a JSON object, found a list of 0");
    CHECK(top_error("{\"switch\":\"top\"}") == ":1: batch: expected a value, found nothing");
    CHECK(top_error("{\"batch\":-1}") == ":1: batch: expected a count or id, found -1");
    CHECK(top_error("{\"batch\":0,\"mask\":[],\"sample\":4}") ==
          ":1: sample: expected one of batch, switch, branches, samples, mask, found sample; did you mean samples?");
    CHECK(top_error("{\"batch\":0}") == ":1: switch: expected a value, found nothing");
    CHECK(error_in("") == ": expected one batch or more, found none");
    CHECK(error_of([] { read_trace("/nowhere/t.jsonl", kSwitches, 4); }) ==
          "/nowhere/t.jsonl: cannot be read: No such file or directory");
    CHECK(error_of([] { read_trace("/tmp", kSwitches, 4); }) == "/tmp: expected a file, found a directory");
}

TEST_CASE("switches that do not match the model", "[trace]") {
    CHECK(inner_error("{\"batch\":0,\"switch\":\"iner\",\"branches\":3,\"samples\":[1,2],\"mask\":[5,0]}") ==
          ":2: switch: expected a switch of the model, found \"iner\"; did you mean inner?");
    CHECK(inner_error("{\"batch\":0,\"switch\":7}") == ":2: switch: expected a switch of the model, found 7");
    CHECK(inner_error("{\"batch\":0,\"switch\":\"inner\",\"branches\":2,\"samples\":[1,2],\"mask\":[1,0]}") ==
          ":2: branches: expected 3, those of \"inner\" in the model, found 2");
    CHECK(inner_error("{\"batch\":0,\"switch\":\"top\",\"branches\":2,\"samples\":4,\"mask\":[1,1,1,1]}") ==
          ":2: switch: expected \"top\" once in batch 0, found it in line 1 as well");
    CHECK(inner_error("") == ":1: switch: expected \"inner\" in batch 0, found the end of the batch");
    CHECK(inner_error("{\"batch\":1,\"switch\":\"top\",\"branches\":2,\"samples\":4,\"mask\":[1,1,1,1]}") ==
          ":1: switch: expected \"inner\" in batch 0, found the end of the batch");
}

TEST_CASE("batches out of order", "[trace]") {
    const std::string line = "\"switch\":\"top\",\"branches\":2,\"samples\":4,\"mask\":[1,1,1,1]}";
    CHECK(top_error("{\"batch\":1," + line) ==
          ":1: batch: expected batch 0, as batches are numbered from 0 without gaps, found 1");
    CHECK(error_in(kBatch0 + "{\"batch\":2," + line) ==
          ":3: batch: expected batch 0 or 1, as batches are numbered from 0 without gaps, found 2");
    CHECK(error_in(kBatch0 + "{\"batch\":1," + line + "\n{\"batch\":0," + line) ==
          ":4: batch: expected batch 1 or 2, as batches are numbered from 0 without gaps, found 0");
}

TEST_CASE("sample sets that do not match the model", "[trace]") {
    CHECK(top_error("{\"batch\":0,\"switch\":\"top\",\"branches\":2,\"samples\":5,\"mask\":[1,1,1,1,1]}") ==
          ":1: samples: expected at most 4, the samples of a batch of the model, found 5");
    CHECK(top_error("{\"batch\":0,\"switch\":\"top\",\"branches\":2,\"samples\":[0,4],\"mask\":[1,1]}") ==
          ":1: samples: expected ids below 4, the samples of a batch of the model, found 4");
    CHECK(top_error("{\"batch\":0,\"switch\":\"top\",\"branches\":2,\"samples\":[0,2,2],\"mask\":[1,1,1]}") ==
          ":1: samples: expected increasing ids, found 2 after 2");
    CHECK(top_error("{\"batch\":0,\"switch\":\"top\",\"branches\":2,\"samples\":[0,1,3],\"mask\":[1,1,1]}") ==
          ":1: samples: expected 4, the samples of a batch of the model, found 3");
    CHECK(top_error("{\"batch\":0,\"switch\":\"top\",\"branches\":2,\"samples\":0,\"mask\":[]}") ==
          ":1: samples: expected 4, the samples of a batch of the model, found 0");
    CHECK(error_in(kBatch0 + "{\"batch\":1,\"switch\":\"top\",\"branches\":2,\"samples\":4,\"mask\":[1,1,1,1]}\n"
                             "{\"batch\":1,\"switch\":\"inner\",\"branches\":3,\"samples\":0,\"mask\":[]}\n",
                   8) == ":1: samples: expected 8, the samples of a batch of the model, found 4");
    CHECK(top_error("{\"batch\":0,\"switch\":\"top\",\"branches\":2,\"samples\":\"4\",\"mask\":[1,1,1,1]}") ==
          ":1: samples: expected a count or id, found \"4\"");
    CHECK(inner_error("{\"batch\":0,\"switch\":\"inner\",\"branches\":3,\"samples\":[1],\"mask\":[5]}") ==
          ":2: samples: expected sample 2, which takes branch 1 of \"top\", found a list without it");
    CHECK(inner_error("{\"batch\":0,\"switch\":\"inner\",\"branches\":3,\"samples\":[1,2,3],\"mask\":[5,1,1]}") ==
          ":2: samples: expected samples that take branch 1 of \"top\", found 3, which does not");

    const TemporaryFile file(
        "{\"batch\":0,\"switch\":\"a\",\"branches\":2,\"samples\":4,\"mask\":[1,1,1,1]}\n"
        "{\"batch\":0,\"switch\":\"b\",\"branches\":2,\"samples\":3,\"mask\":[1,1,1]}\n");
    CHECK(error_of([&] {
              read_trace(file.path(), {{"a", 2, -1, 0, false}, {"b", 2, -1, 0, false}}, 4);
          }) == file.path() + ":2: samples: expected 4, the samples of a batch of the model, found 3");
}

TEST_CASE("masks that do not match the model", "[trace]") {
    const auto with_mask = [](const std::string& mask) {
        return top_error("{\"batch\":0,\"switch\":\"top\",\"branches\":2,\"samples\":4,\"mask\":" + mask + "}");
    };
    CHECK(with_mask("7") == ":1: mask: expected a list, found 7");
    CHECK(with_mask("[1,2,1]") == ":1: mask: expected 4 masks, one a sample, found 3");
    CHECK(with_mask("[1,2,1,-1]") == ":1: mask: expected a count or id, found -1");
    CHECK(with_mask("[1,2,4,1]") == ":1: mask: expected bits of the 2 branches of \"top\", found 4 at sample 2");
    CHECK(with_mask("[1,2,0,1]") ==
          ":1: mask: expected one branch of \"top\", which chooses one, found none at sample 2");
    CHECK(with_mask("[1,3,1,1]") ==
          ":1: mask: expected one branch of \"top\", which chooses one, found the mask 3 at sample 1");
    CHECK(inner_error("{\"batch\":0,\"switch\":\"inner\",\"branches\":3,\"samples\":[1,2],\"mask\":[5,8]}") ==
          ":2: mask: expected bits of the 3 branches of \"inner\", found 8 at sample 2");
}
