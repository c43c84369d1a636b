// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/onnx_import/onnx_external.h"

#include <filesystem>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::sched {

namespace fs = std::filesystem;

namespace {

std::uint64_t number(const std::string& text, const std::string& path, const std::string& tensor,
                     const std::string& key) {
    std::uint64_t value = 0;
    if (parse_plain_number(text, value) != Parsed::ok)
        throw InputError(
            path, 0, tensor,
            fmt::format("{} of its external data: expected a number of bytes, found {}", key, shown(text)));
    return value;
}

/// The file is the model's or one of a folder below, also through links.
std::string file_next_to(const std::string& path, const std::string& tensor, const std::string& location) {
    const fs::path wish(location);
    bool safe = !location.empty() && location.find('\0') == std::string::npos && wish.is_relative();
    for (const fs::path& part : wish) safe = safe && part != "..";
    if (!safe)
        throw InputError(path, 0, tensor,
                         fmt::format("its values: expected a path relative to the model's folder, without .., found "
                                     "{}; save the external data next to the model",
                                     location.empty() ? "none" : shown(location)));
    const fs::path folder = fs::path(path).parent_path();
    std::string file = (folder / wish).string();
    std::error_code error;
    const fs::path real = fs::weakly_canonical(file, error);
    const fs::path root = error ? fs::path() : fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
    const fs::path within = error ? fs::path("..") : real.lexically_relative(root);
    if (within.empty() || *within.begin() == "..")
        throw InputError(path, 0, tensor,
                         fmt::format("its values: expected a file in the model's folder, found {}, a link that leaves "
                                     "the model's folder; copy the file",
                                     shown(location)));
    return file;
}

}  // namespace

std::shared_ptr<const OnnxBytes> external_bytes(const std::string& path, const std::string& name,
                                                const std::map<std::string, std::string>& keys, std::size_t size) {
    const std::string tensor = shown(name);
    std::uint64_t offset = 0;
    for (const auto& [key, value] : keys) {
        if (key == "offset") {
            offset = number(value, path, tensor, key);
        } else if (key == "length") {
            if (number(value, path, tensor, key) != size)
                throw InputError(
                    path, 0, tensor,
                    fmt::format("length of its external data: expected the {} bytes that its dimensions take, found {}",
                                size, shown(value)));
        } else if (key != "location") {
            throw InputError(
                path, 0, tensor,
                fmt::format("its external data: expected the keys location, offset and length, found {}", shown(key)));
        }
    }
    const auto location = keys.find("location");
    const std::string file = file_next_to(path, tensor, location == keys.end() ? "" : location->second);
    return std::make_shared<const OnnxBytes>(size, [=] {
        InputFile data(file);
        const std::uint64_t all = data.size().value_or(0);
        if (offset > all || size > all - offset)
            throw InputError(file, 0, "",
                             fmt::format("expected {} bytes from byte {} on for {} of {}, found {} bytes in all", size,
                                         offset, tensor, shown(fs::path(path).filename().string()), all));
        std::string bytes(size, '\0');
        data.skip(offset);
        if (data.read(bytes.data(), size) != size) throw InputError(file, 0, "", "cannot be read");
        return bytes;
    });
}

}  // namespace switchyard::sched
