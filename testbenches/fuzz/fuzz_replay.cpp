// SPDX-License-Identifier: Apache-2.0
// Usage: fuzz_replay NAME FILE_OR_FOLDER... [--mutations N] runs the fuzz target NAME on each file, and on N variants
// of it: cut off, with bytes changed, removed, doubled. The variants of a file are the same in every run.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "fuzz_targets.h"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

Bytes contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

Bytes changed(Bytes bytes, std::mt19937_64& random) {
    static const std::string kPieces[] = {std::string(1, '\0'),
                                          "\r\n",
                                          "\xEF\xBB\xBF",
                                          "-1",
                                          "1e999",
                                          "nan",
                                          "18446744073709551615",
                                          "[",
                                          "{",
                                          "*a",
                                          "&a ",
                                          "\""};
    const std::size_t changes = 1 + random() % 4;
    for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) {
        const std::size_t at = random() % bytes.size(),
                          count = std::min<std::size_t>(1 + random() % 16, bytes.size() - at);
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   end = begin + static_cast<std::ptrdiff_t>(count);
        switch (random() % 5) {
            case 0:
                bytes[at] = static_cast<std::uint8_t>(random());
                break;
            case 1:
                bytes.erase(begin, end);
                break;
            case 2: {
                const Bytes piece(begin, end);
                bytes.insert(begin, piece.begin(), piece.end());
                break;
            }
            case 3: {
                const std::string& piece = kPieces[random() % std::size(kPieces)];
                bytes.insert(begin, piece.begin(), piece.end());
                break;
            }
            default:
                bytes.resize(at);
        }
    }
    return bytes;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<fs::path> files;
    std::size_t mutations = 0;
    const std::map<std::string, FuzzTarget> targets = fuzz_targets();
    const auto target = argc > 1 ? targets.find(argv[1]) : targets.end();
    if (target == targets.end()) {
        std::fprintf(stderr, "fuzz_replay: expected the name of a target\n");
        return 2;
    }
    for (int i = 2; i < argc; ++i) {
        if (std::string(argv[i]) == "--mutations" && i + 1 < argc)
            mutations = std::stoul(argv[++i]);
        else if (fs::is_directory(argv[i]))
            for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
        else
            files.emplace_back(argv[i]);
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) {
        std::fprintf(stderr, "fuzz_replay: there is no file\n");
        return 2;
    }
    target->second(nullptr, 0);
    for (const fs::path& path : files) {
        std::printf("%s\n", path.c_str());
        std::fflush(stdout);
        const Bytes bytes = contents(path);
        target->second(bytes.data(), bytes.size());
        std::mt19937_64 random(bytes.size());
        for (std::size_t i = 0; i < mutations; ++i) {
            const Bytes variant = changed(bytes, random);
            target->second(variant.data(), variant.size());
        }
    }
    return 0;
}
