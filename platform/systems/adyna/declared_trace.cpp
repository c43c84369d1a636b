// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/declared_trace.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/crc32.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/base/json_reader.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard::platform {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "switchyard-trace-link";
constexpr int kVersion = 1;

std::uint32_t checksum_of(const std::string& path) {
    InputFile file(path);
    std::vector<char> chunk(std::size_t{1} << 20);
    std::uint32_t crc = 0;
    while (const std::size_t count = file.read(chunk.data(), chunk.size())) crc = crc32_of(chunk.data(), count, crc);
    return crc;
}

fs::path folder_of(const std::string& image_path) {
    return fs::path(resolved(image_path)).parent_path();
}

}  // namespace

std::string trace_link_path(const std::string& image_path) {
    return image_path + ".trace";
}

std::string trace_link(const std::string& trace, const std::vector<std::uint8_t>& image_bytes,
                       const std::string& image_path) {
    const nlohmann::ordered_json link = {
        {"format", kFormat},
        {"version", kVersion},
        {"trace", fs::path(resolved(trace)).lexically_relative(folder_of(image_path)).string()},
        {"trace_crc32", checksum_of(trace)},
        {"image_crc32", crc32_of(image_bytes.data(), image_bytes.size())}};
    return json_text(link, 2) + "\n";
}

std::string declared_trace(const std::vector<std::uint8_t>& image_bytes, const std::string& image_path) {
    const auto needed = [&image_path](const std::string& why) {
        return InputError(image_path, 0, "--trace", why + "; give a trace");
    };
    const std::string link_path = trace_link_path(image_path);
    std::error_code error;
    if (!fs::is_regular_file(link_path, error))
        throw needed("expected one, as the model declares no route generator, found none");
    const nlohmann::json document = parse_json(read_file(link_path, kMaxTextBytes), link_path);
    const JsonReader link(document, link_path);
    link.check_format(kFormat, kVersion, "trace link");
    const std::uint64_t of_image = crc32_of(image_bytes.data(), image_bytes.size());
    if (const std::uint64_t linked = link.member("image_crc32").integer(0, UINT32_MAX); linked != of_image)
        throw needed(fmt::format("expected image_crc32 {:#010x} of this image in {}, found {:#010x}", of_image,
                                 link_path, linked));
    std::string path = (folder_of(image_path) / link.member("trace").text()).lexically_normal().string();
    if (!fs::is_regular_file(path, error))
        throw needed(fmt::format("expected the trace of the model at {}, found no file", path));
    const std::uint64_t of_trace = checksum_of(path), expected = link.member("trace_crc32").integer(0, UINT32_MAX);
    if (of_trace != expected)
        throw needed(
            fmt::format("expected {} with the CRC-32 {:#010x} of the trace that the image was compiled with, "
                        "found {:#010x}",
                        path, expected, of_trace));
    return path;
}

}  // namespace switchyard::platform
