// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "switchyard/platform/apps/huge_pages.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;

namespace {

/// The flags of the mapping that `address` lies in, from /proc/self/smaps; "hg": huge pages are asked for.
std::string mapping_flags(std::uintptr_t address) {
    std::ifstream smaps("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(smaps, line);) {
        std::uintptr_t begin = 0, end = 0;
        char dash = 0;
        if (std::istringstream range(line); range >> std::hex >> begin >> dash >> end && dash == '-')
            here = begin <= address && address < end;
        if (here && line.rfind("VmFlags:", 0) == 0) return line;
    }
    return "";
}

}  // namespace

TEST_CASE("small blocks lie in memory for which huge pages are asked", "[huge_pages]") {
    platform::prefer_huge_pages();
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__)
    SUCCEED("the heap is another one");
    return;
#endif
    if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled")) return;
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 64 * 1024; ++i) blocks.push_back(std::make_unique<char[]>(1024));
    const std::string flags = mapping_flags(reinterpret_cast<std::uintptr_t>(blocks.back().get()));
    CAPTURE(flags);
    CHECK(flags.find(" hg") != std::string::npos);
}
