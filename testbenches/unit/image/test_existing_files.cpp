// SPDX-License-Identifier: Apache-2.0
// Files of the user: what is not ours is not replaced, and what can be read once is read once.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "small_image.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/adyna/image/image_file.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/sw_scheduler/base/replaceable.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/sw_scheduler/base/text_lines.h"
#include "switchyard/sw_scheduler/workload/trace.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using Catch::Matchers::EndsWith;
using switchyard::testing::small_image;
namespace fs = std::filesystem;

namespace {

/// As the programs do without --force.
class KeepsForeign {
public:
    KeepsForeign() { set_replaceable(Existing::ours); }
    ~KeepsForeign() { set_replaceable(Existing::any); }
};

std::string file_refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

/// A pipe whose writer has gone when it has written the text once.
class Pipe {
public:
    Pipe(const std::string& path, std::string text) {
        REQUIRE(mkfifo(path.c_str(), 0600) == 0);
        writer_ = std::thread([path, written = std::move(text)] { std::ofstream(path) << written; });
    }
    ~Pipe() { writer_.join(); }

private:
    std::thread writer_;
};

}  // namespace

TEST_CASE("a file of the user is not replaced", "[files]") {
    const ScratchFolder folder("switchyard-existing");
    for (const std::string& text :
         {std::string("notes\n"), std::string("name: net\nlayers: []\n"), std::string("{\"a\": 1}\n"),
          std::string("{\"format\": \"switchboard\"}\n"), std::string("time,bytes\n1,2\n"),
          std::string("# Written by hand\n"), std::string("<html></html>\n"), std::string("\x93NUMPY\x01\0v\0", 10),
          std::string("{\"note\": \"switchyard-report\"}"), std::string(5000, ' ') + "# Written by switchyard\n"}) {
        CAPTURE(text);
        const std::string path = folder.file("file", text);
        const KeepsForeign keeps;
        CHECK(file_refusal([&] { write_file("new", path); }) ==
              path +
                  ": expected no file, or one of this program, found another file; choose another name, or replace it "
                  "with --force");
        CHECK(read_file(path, 10000) == text);
        CHECK(file_refusal([&] { write_files({{folder.file("other"), "x"}, {path, "new"}}); }).find(path) == 0);
        CHECK_FALSE(fs::exists(folder.file("other")));
        CHECK_FALSE(fs::exists(folder.file("file.part")));
        const ReplacesAny any;
        write_file("new", path);
        CHECK(read_file(path, 10000) == "new");
    }
}

TEST_CASE("a link to a file of the user is no way to replace it", "[files]") {
    const ScratchFolder folder("switchyard-existing");
    const std::string path = folder.file("file", "notes");
    fs::create_symlink("file", folder.file("link"));
    fs::create_symlink("loop", folder.file("loop"));
    const KeepsForeign keeps;
    CHECK(file_refusal([&] {
              write_file("new", folder.file("link"));
          }).find("expected no file, or one of this program, found another file") != std::string::npos);
    CHECK(read_file(path, 100) == "notes");
    CHECK(file_refusal([&] { read_file(folder.file("loop"), 100); }) ==
          folder.file("loop") + ": cannot be read: Too many levels of symbolic links");
    CHECK_FALSE(exists(folder.file("loop")));
    CHECK_FALSE(is_folder(folder.file("loop")));
    CHECK(is_folder(folder.file(".")));
}

TEST_CASE("what a program wrote is replaced by what it writes again", "[files]") {
    const ScratchFolder folder("switchyard-existing");
    const std::string path = folder.file("file");
    const std::vector<SwitchSignature> switches{{"s", 2, -1, 0, false}};
    const KeepsForeign keeps;
    const std::function<void()> writers[] = {
        [&] { write_image(small_image(), path); },
        [&] {
            write_trace(path, switches, {{4, {{1, 1, 2, 3}}}});
        },
        [&] { write_file("{\n  \"format\": \"switchyard-report\"\n}\n", path); },
        [&] { write_file("{\"program\":\"switchyard\",\"a\":1}\n", path); },
        [&] { write_file("# Written by switchyard\nname: net\n", path); },
        [&] { write_file("<!DOCTYPE html>\n<!-- Written by switchyard -->\n", path); },
        [&] { write_file("time_ns,operation,address,bytes\n", path); },
        [&] { write_file("", path); },
    };
    for (const auto& first : writers)
        for (const auto& second : writers) {
            CHECK(file_refusal(first) == "no error");
            CHECK(file_refusal(second) == "no error");
        }
    CHECK(file_refusal([] { write_file("text", "/dev/null"); }) == "no error");
}

TEST_CASE("a trace that a program wrote is read back", "[files][trace]") {
    const ScratchFolder folder("switchyard-existing");
    const std::vector<SwitchSignature> switches{{"s", 2, -1, 0, false}, {"t", 3, 0, 1, true}};
    const std::vector<BatchRouting> batches{{4, {{1, 3, 2, 3}, {0, 1, 4, 2}}}, {4, {{1, 1, 1, 1}, {0, 0, 0, 0}}}};
    write_trace(folder.file("trace"), switches, batches);
    const std::vector<BatchRouting> read = read_trace(folder.file("trace"), switches, 4);
    REQUIRE(read.size() == 2);
    for (std::size_t b = 0; b < 2; ++b) CHECK(read[b].masks == batches[b].masks);
}

TEST_CASE("a pipe is read once, however often a program opens it", "[files]") {
    const ScratchFolder folder("switchyard-existing");
    const std::string text = "one\ntwo\n" + std::string(200000, 'x');
    const Pipe pipe(folder.file("pipe"), text);
    for (int i = 0; i < 3; ++i) CHECK(read_file(folder.file("pipe"), 1 << 20) == text);
    TextLines lines(folder.file("pipe"));
    REQUIRE(lines.next());
    CHECK(lines.line() == "one");
    InputFile file(folder.file("pipe"));
    CHECK_FALSE(file.size());
    std::string begin(3, ' ');
    CHECK(file.read(begin.data(), 3) == 3);
    CHECK(begin + file.rest(1 << 20) == text);
}

TEST_CASE("of a file, no more is read than was said", "[files]") {
    const ScratchFolder folder("switchyard-existing");
    const std::string path = folder.file("file", "0123456789");
    for (const std::uint64_t expected : {0u, 1u, 9u, 10u, 11u, 5000000u}) {
        InputFile file(path);
        CHECK(file.size() == 10);
        CHECK(file.rest(expected) == std::string("0123456789").substr(0, expected + 1));
    }
    write_image(small_image(), folder.file("image"));
    const std::vector<std::uint8_t> bytes = read_image_bytes(folder.file("image"));
    CHECK(bytes == encode(small_image()));
    std::ofstream(folder.file("image"), std::ios::app) << "more";
    CHECK_THAT(file_refusal([&] { read_image(folder.file("image")); }),
               EndsWith("and " + std::to_string(bytes.size() + 1) + " in the file"));
    fs::resize_file(path, std::uintmax_t{4} << 30);  // sparse
    CHECK_THAT(file_refusal([&] { read_image(path); }), EndsWith("; give an image that sy-sched has compiled"));
}
