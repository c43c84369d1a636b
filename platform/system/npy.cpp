// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/npy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/words.h"

namespace switchyard::platform {

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicBytes = 6, kAlignment = 64, kMaxHeaderBytes = 10000;

[[noreturn]] void fail(const std::string& path, const std::string& message) {
    throw InputError(path, 0, "", message);
}

/// What stands behind a key of the header, a dictionary of Python.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& path) {
    const std::size_t at = header.find(fmt::format("'{}'", key));
    if (at != std::string_view::npos) {
        header.remove_prefix(at + key.size() + 2);
        header.remove_prefix(std::min(header.find_first_not_of(" :"), header.size()));
        return header;
    }
    fail(path, fmt::format("expected {} in the header, found none", key));
}

/// What is between `open` at the beginning of the text and `close`.
std::string between(std::string_view text, char open, char close, const std::string& path, const char* key) {
    const std::size_t end = text.find(close, 1);
    if (text.empty() || text.front() != open || end == std::string_view::npos)
        fail(path, fmt::format("expected {} in the header, found none", key));
    return std::string(text.substr(1, end - 1));
}

/// Header and data of a file in C order.
struct RawArray {
    std::string type;
    std::vector<std::size_t> shape;
    std::string data;
};

/// Magic, version and header, of which none is long: a file that is no .npy is refused by its first bytes.
std::string read_header(InputFile& file, std::uint64_t& head_bytes) {
    const std::string& path = file.path();
    std::array<std::uint8_t, kMagicBytes + 2> begin{};
    const bool whole = file.read(begin.data(), begin.size()) == begin.size();
    if (!whole || std::memcmp(begin.data(), kMagic, kMagicBytes) != 0)
        fail(path, "expected a .npy file, found another");
    const unsigned version = begin[kMagicBytes];
    if (version < 1 || version > 3) fail(path, fmt::format("expected format version 1 to 3, found {}", version));
    std::array<std::uint8_t, 4> size{};
    const std::size_t width = version == 1 ? 2 : 4;
    if (file.read(size.data(), width) != width) fail(path, "expected a whole header, found the end of the file");
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < width; ++i) bytes |= std::size_t{size[i]} << 8 * i;
    if (bytes > kMaxHeaderBytes)
        fail(path, fmt::format("expected a header of at most {} bytes, found {}", kMaxHeaderBytes, bytes));
    std::string header(bytes, '\0');
    if (file.read(header.data(), bytes) != bytes) fail(path, "expected a whole header, found the end of the file");
    head_bytes = begin.size() + width + bytes;
    return header;
}

/// "3, 4, " -> 3, 4; the number of elements to `count`.
std::vector<std::size_t> read_shape(const std::string& text, std::size_t element_bytes, const std::string& path,
                                    std::size_t& count) {
    std::vector<std::size_t> shape;
    count = 1;
    std::string_view rest = text;
    for (bool more = true; more;) {
        const std::size_t comma = rest.find(',');
        more = comma != std::string_view::npos;
        const std::vector<std::string> words = words_of(rest.substr(0, comma));
        if (more) rest.remove_prefix(comma + 1);
        if (words.empty() && !more) break;
        std::size_t size = 0;
        if (words.size() != 1 || parse_plain_number(words.front(), size) != Parsed::ok)
            fail(path, "shape: expected whole numbers, found " + shown(text));
        if (__builtin_mul_overflow(count, size, &count) || count > kMaxArrayBytes / element_bytes)
            fail(path, fmt::format("shape: expected at most {} bytes, found ({})", kMaxArrayBytes, text));
        shape.push_back(size);
    }
    return shape;
}

RawArray read_raw(const std::string& path, const std::string& type, const char* wanted) {
    InputFile file(path);
    std::uint64_t head = 0;
    const std::string header = read_header(file, head);
    RawArray raw;
    raw.type = between(value_of(header, "descr", path), '\'', '\'', path, "descr");
    if (raw.type != type)
        fail(path, fmt::format("expected {}, found {}", wanted, raw.type.size() <= 8 ? raw.type : shown(raw.type)));
    const std::string_view order = value_of(header, "fortran_order", path);
    if (order.substr(0, 4) == "True") fail(path, "expected C order, found Fortran order");
    if (order.substr(0, 5) != "False") fail(path, "expected fortran_order in the header, found none");
    const std::size_t size = raw.type.back() == '1' ? 1 : 4;
    std::size_t count = 0;
    raw.shape = read_shape(between(value_of(header, "shape", path), '(', ')', path, "shape"), size, path, count);
    const std::uint64_t data = count * size;
    // A shape that the file does not have must not take memory: a pipe is read as far as it goes.
    if (const auto bytes = file.size(); bytes && *bytes != head + data)
        fail(path,
             fmt::format("expected {} bytes of data for its shape, found {}", data, *bytes - std::min(*bytes, head)));
    raw.data = file.rest(data);
    if (raw.data.size() != data)
        fail(path, fmt::format("expected {} bytes of data for its shape, found {}", data, raw.data.size()));
    return raw;
}

}  // namespace

NpyArray read_npy(const std::string& path) {
    const RawArray raw = read_raw(path, "<f4", "<f4 (little-endian binary32)");
    NpyArray array{raw.shape, std::vector<float>(raw.data.size() / sizeof(float))};
    if (!raw.data.empty()) std::memcpy(array.values.data(), raw.data.data(), raw.data.size());
    return array;
}

IntegerNpyArray read_int8_npy(const std::string& path) {
    const RawArray raw = read_raw(path, "|i1", "|i1 (int8)");
    IntegerNpyArray array{raw.shape, {}};
    array.values.reserve(raw.data.size());
    for (const char value : raw.data) array.values.push_back(static_cast<std::int8_t>(value));
    return array;
}

IntegerNpyArray read_int32_npy(const std::string& path) {
    const RawArray raw = read_raw(path, "<i4", "<i4 (little-endian int32)");
    IntegerNpyArray array{raw.shape, std::vector<std::int32_t>(raw.data.size() / sizeof(std::int32_t))};
    if (!raw.data.empty()) std::memcpy(array.values.data(), raw.data.data(), raw.data.size());
    return array;
}

bool same_shape(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
    const auto without_ones = [](const std::vector<std::size_t>& sizes) {
        std::vector<std::size_t> left;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            if (i == 0 || sizes[i] != 1) left.push_back(sizes[i]);
        return left;
    };
    return without_ones(a) == without_ones(b);
}

void check_shape(const std::string& path, const std::vector<std::size_t>& shape,
                 const std::vector<std::size_t>& expected) {
    if (!same_shape(shape, expected))
        throw InputError(path, 0, "shape",
                         fmt::format("expected ({}), found ({})", fmt::join(expected, ", "), fmt::join(shape, ", ")));
}

std::string npy_bytes(const NpyArray& array) {
    // NumPy writes "(3, 4)": has_output_marker() knows our arrays by the blank at the end.
    std::string shape = array.shape.empty() ? " " : "";
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
