// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

std::string image_with(const std::string& bytes) {
    const std::string path = scratch("tampered.syk");
    write_text(path, bytes);
    return path;
}

void check_image_refused(const std::string& bytes, std::initializer_list<const char*> parts) {
    const std::string path = image_with(bytes);
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image " + path + " --trace " + kDigitsTrace +
                         " --batches 1"),
                  parts);
    check_refused(sy_sched("inspect " + path), {"tampered.syk"});
}

std::vector<ImageSection> sections() {
    const std::string bytes = read_text(digits_image());
    return read_section_table({bytes.begin(), bytes.end()}, "digits");
}

}  // namespace

TEST_CASE("an image that ends in any of its sections is refused", "[cli][bad][image]") {
    const std::string bytes = read_text(digits_image());
    check_image_refused("", {"tampered.syk"});
    check_image_refused(bytes.substr(0, 7), {"tampered.syk"});
    for (const ImageSection& section : sections()) {
        INFO("section of kind " << static_cast<unsigned>(section.kind) << " at " << section.offset);
        check_image_refused(bytes.substr(0, section.offset), {"tampered.syk"});
        check_image_refused(bytes.substr(0, section.offset + section.size / 2), {"tampered.syk"});
        check_image_refused(bytes.substr(0, section.offset + section.size - 1), {"tampered.syk"});
    }
}

TEST_CASE("an image with one flipped bit is refused", "[cli][bad][image]") {
    const std::string bytes = read_text(digits_image());
    std::vector<std::size_t> places{0, 4, 8, 16, 40};
    for (const ImageSection& section : sections()) places.push_back(section.offset + section.size / 3);
    for (const std::size_t place : places) {
        INFO("byte " << place);
        std::string flipped = bytes;
        flipped[place] = static_cast<char>(flipped[place] ^ 4);
        check_image_refused(flipped, {"tampered.syk"});
    }
}

TEST_CASE("an image of a future version is refused", "[cli][bad][image]") {
    const std::string bytes = read_text(digits_image());
    std::string future = bytes;
    future[4] = static_cast<char>(kImageVersion + 1);  // the version is checked before the header's checksum
    const std::string version = "version " + std::to_string(kImageVersion + 1);
    check_image_refused(future, {"tampered.syk", version.c_str()});
}

TEST_CASE("an image for another platform is refused, and both are named", "[cli][bad][image]") {
    check_refused(sy_sim("run --platform configs/platforms/adyna.yaml --image " + digits_image() + " --trace " +
                         kDigitsTrace + " --batches 1"),
                  {"platform_fingerprint: expected 0x", "of platform adyna, found 0x", "of platform mini"});
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --set pe_array.rows=16 --image " + digits_image() +
                         " --trace " + kDigitsTrace + " --batches 1"),
                  {"of platform mini, found 0x", "of platform mini, which has other sizes; compile"});
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image /nowhere.syk"),
                  {"/nowhere.syk: cannot be read"});
}
