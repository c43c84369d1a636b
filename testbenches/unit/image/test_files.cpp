// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/files.h"

#include <filesystem>
#include <functional>

#include "full_disk.h"
#include "small_image.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/sw_scheduler/base/text_lines.h"
#include "switchyard/sw_scheduler/workload/trace.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using Catch::Matchers::ContainsSubstring;
using switchyard::testing::small_image;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const ScratchFolder& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

std::string text_of(const std::string& path) {
    return read_file(path, kMaxTextBytes);
}

std::string file_error(const std::function<void()>& work) {
    try {
        work();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("a file takes its name when it is whole", "[files]") {
    const ScratchFolder folder("switchyard-files");
    const std::string path = folder.file("deep/er/file");
    CHECK(file_error([&] { write_file("text", path); }) == path + ": cannot be written: No such file or directory");
    make_folder_of(path);
    OutputFile file(path);
    file.write("half");
    CHECK_FALSE(fs::exists(path));
    file.stream() << " and half";
    file.commit();
    CHECK(text_of(path) == "half and half");
    CHECK(std::distance(fs::directory_iterator(folder.file("deep/er")), fs::directory_iterator()) == 1);
}

TEST_CASE("what is not committed leaves the old file and nothing else", "[files]") {
    const ScratchFolder folder("switchyard-files");
    write_file("old", folder.file("file"));
    {
        OutputFile file(folder.file("file"));
        file.write("new");
        file.close();
        CHECK(text_of(folder.file("file")) == "old");
        OutputFile moved(std::move(file));
    }
    CHECK(text_of(folder.file("file")) == "old");
    CHECK(entries(folder) == 1);
}

TEST_CASE("on a full disk the old file stays and the error says which and why", "[files]") {
    const ScratchFolder folder("switchyard-files");
    const std::string path = folder.file("file");
    write_file("old", path);
    const std::string wanted = path + ": cannot be written: File too large";
    {
        const FullDisk full(4);
        CHECK(file_error([&] { write_file("more than four", path); }) == wanted);
        CHECK(file_error([&] {
                  OutputFile file(path);
                  file.stream() << "more than four";
                  file.commit();
              }) == wanted);
        CHECK(file_error([&] { write_file(std::string(100000, 'x'), path); }) == wanted);
    }
    CHECK(text_of(path) == "old");
    CHECK(entries(folder) == 1);
    CHECK(file_error([] { write_file("text", "/dev/full"); }) ==
          "/dev/full: cannot be written: No space left on device");
}

TEST_CASE("images and traces keep the old file on a full disk", "[files]") {
    const ScratchFolder folder("switchyard-files");
    const std::string path = folder.file("file");
    const std::vector<SwitchSignature> switches{{"s", 2, -1, 0, false}};
    const std::vector<BatchRouting> batches(20, {4, {{1, 1, 2, 3}}});
    for (const std::function<void()>& write : {std::function<void()>([&] { write_image(small_image(), path); }),
                                               std::function<void()>([&] { write_trace(path, switches, batches); })}) {
        write_file("old", path);
        {
            const FullDisk full(64);
            CHECK(file_error(write) == path + ": cannot be written: File too large");
        }
        CHECK(text_of(path) == "old");
        CHECK(entries(folder) == 1);
        write();
        CHECK(fs::file_size(path) > 64);
    }
}

TEST_CASE("files that belong together are all written or none", "[files]") {
    const ScratchFolder folder("switchyard-files");
    write_files({{folder.file("a"), "one"}, {folder.file("b"), "two"}});
    {
        const FullDisk full(4);
        CHECK_THAT(file_error([&] {
                       write_files({{folder.file("a"), "1"}, {folder.file("b"), "too long"}});
                   }),
                   ContainsSubstring("/b: cannot be written"));
    }
    CHECK(text_of(folder.file("a")) == "one");
    CHECK(text_of(folder.file("b")) == "two");
    CHECK(entries(folder) == 2);
}

TEST_CASE("links, modes and devices stay what they are", "[files]") {
    const ScratchFolder folder("switchyard-files");
    write_file("old", folder.file("file"));
    fs::permissions(folder.file("file"), fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("file", folder.file("link"));
    write_file("new", folder.file("link"));
    CHECK(fs::is_symlink(folder.file("link")));
    CHECK(text_of(folder.file("file")) == "new");
    CHECK(fs::status(folder.file("file")).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    write_file("gone", "/dev/null");
    CHECK(fs::is_character_file("/dev/null"));
    fs::create_directory(folder.file("folder"));
    CHECK(file_error([&] { write_file("text", folder.file("folder")); }) ==
          folder.file("folder") + ": cannot be written: Is a directory");
    CHECK(file_error([] { write_file("text", "/dev/null/file"); }) ==
          "/dev/null/file: cannot be written: Not a directory");
}

TEST_CASE("what may never end is not read", "[files]") {
    const ScratchFolder folder("switchyard-files");
    CHECK(file_error([] { text_of("/dev/zero"); }) == "/dev/zero: expected a file or a pipe, found neither");
    CHECK(file_error([&] { text_of(folder.file(".")); }) == folder.file(".") + ": expected a file, found a directory");
    CHECK(file_error([&] { text_of(folder.file("none")); }) ==
          folder.file("none") + ": cannot be read: No such file or directory");
    write_file("", folder.file("sparse"));
    fs::resize_file(folder.file("sparse"), kMaxTextBytes + 1);
    CHECK(file_error([&] { text_of(folder.file("sparse")); }) ==
          folder.file("sparse") + ": expected at most 16777216 bytes, found 16777217");
    fs::resize_file(folder.file("sparse"), kMaxTextBytes);
    CHECK(text_of(folder.file("sparse")).size() == kMaxTextBytes);
    CHECK(file_error([] { read_image("/dev/zero"); }) == "/dev/zero: expected a file or a pipe, found neither");
    CHECK(file_error([] { read_trace("/dev/zero", {}, 1); }) == "/dev/zero: expected a file or a pipe, found neither");
}

TEST_CASE("lines end, at the latest where they are too long", "[files]") {
    TextLines lines(std::string("\xEF\xBB\xBFone\r\n\r\nlast"), "text", "text");
    CHECK(lines.next());
    CHECK(lines.line() == "one");
    CHECK(lines.next());
    CHECK(lines.line() == "last");
    CHECK(lines.number() == 3);
    CHECK_FALSE(lines.next());
    const ScratchFolder folder("switchyard-files");
    write_file("", folder.file("endless"));
    fs::resize_file(folder.file("endless"), kMaxLineBytes + 1);
    CHECK(file_error([&] { read_trace(folder.file("endless"), {}, 1); }) ==
          folder.file("endless") + ":1: expected at most 67108864 bytes in the line, found more");
}
