// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/npy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <regex>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard::platform {

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicBytes = 6, kAlignment = 64;

[[noreturn]] void fail(const std::string& path, const std::string& message) {
    throw InputError(path, 0, "", message);
}

std::string match(const std::string& header, const std::regex& pattern, const std::string& path, const char* what) {
    std::smatch found;
    if (!std::regex_search(header, found, pattern)) fail(path, fmt::format("its header has no {}", what));
    return found[1];
}

/// Header and data of a file in C order.
struct RawArray {
    std::string type;
    std::vector<std::size_t> shape;
    std::string data;
};

RawArray read_raw(const std::string& path, const std::vector<std::string>& types, const char* wanted) {
    const std::string bytes = read_file(path, kMaxArrayBytes);
    if (bytes.size() < kMagicBytes + 4 || bytes.compare(0, kMagicBytes, kMagic) != 0) fail(path, "is no .npy file");
    const auto byte = [&bytes](std::size_t at) {
        return static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[at]));
    };
    const std::size_t version = byte(kMagicBytes), width = version == 1 ? 2 : 4, begin = kMagicBytes + 2 + width;
    if (version < 1 || version > 3) fail(path, fmt::format("is of format version {}, known are 1 to 3", version));
    if (bytes.size() < begin) fail(path, "ends in its header");
    std::size_t header_bytes = 0;
    for (std::size_t i = 0; i < width; ++i) header_bytes |= byte(kMagicBytes + 2 + i) << 8 * i;
    if (bytes.size() - begin < header_bytes) fail(path, "ends in its header");
    const std::string header = bytes.substr(begin, header_bytes);
    static const std::regex kType("'descr': *'([^']*)'"), kOrder("'fortran_order': *(True|False)"),
        kShape("'shape': *\\(([0-9, ]*)\\)"), kNumber("[0-9]+");
    RawArray raw;
    raw.type = match(header, kType, path, "descr");
    if (std::find(types.begin(), types.end(), raw.type) == types.end())
        fail(path, fmt::format("holds {}, wanted is {}", raw.type, wanted));
    if (match(header, kOrder, path, "fortran_order") == "True") fail(path, "is in Fortran order");
    const std::string shape = match(header, kShape, path, "shape");
    std::size_t count = 1;
    for (std::sregex_iterator it(shape.begin(), shape.end(), kNumber), end; it != end; ++it) {
        raw.shape.push_back(std::stoul(it->str()));
        count *= raw.shape.back();
    }
    const std::size_t data = begin + header_bytes, size = raw.type.back() == '1' ? 1 : 4;
    if (bytes.size() - data != count * size)
        fail(path, fmt::format("has {} bytes of data, its shape wants {}", bytes.size() - data, count * size));
    raw.data = bytes.substr(data);
    return raw;
}

}  // namespace

NpyArray read_npy(const std::string& path) {
    const RawArray raw = read_raw(path, {"<f4"}, "<f4 (little-endian binary32)");
    NpyArray array{raw.shape, std::vector<float>(raw.data.size() / sizeof(float))};
    std::memcpy(array.values.data(), raw.data.data(), raw.data.size());
    return array;
}

IntegerNpyArray read_integer_npy(const std::string& path) {
    const RawArray raw = read_raw(path, {"|i1", "<i4"}, "|i1 (int8) or <i4 (little-endian int32)");
    IntegerNpyArray array{raw.shape, {}};
    if (raw.type == "|i1") {
        for (const char value : raw.data) array.values.push_back(static_cast<std::int8_t>(value));
    } else {
        array.values.resize(raw.data.size() / 4);
        std::memcpy(array.values.data(), raw.data.data(), raw.data.size());
    }
    return array;
}

std::string npy_bytes(const NpyArray& array) {
    std::string shape;
    for (const std::size_t size : array.shape) shape += fmt::format("{}, ", size);
    std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", shape);
    const std::size_t prefix = kMagicBytes + 4;
    header.resize((prefix + header.size() + kAlignment) / kAlignment * kAlignment - prefix - 1, ' ');
    header += '\n';
    std::string bytes(kMagic, kMagicBytes);
    for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, header.size() & 0xFF, header.size() >> 8})
        bytes.push_back(static_cast<char>(byte));
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(array.values.data()), array.values.size() * sizeof(float));
    return bytes;
}

void write_npy(const NpyArray& array, const std::string& path) {
    write_file(npy_bytes(array), path);
}

}  // namespace switchyard::platform
