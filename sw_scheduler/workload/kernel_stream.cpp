// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/kernel_stream.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/bytes.h"
#include "switchyard/sw_scheduler/base/crc32.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_kind.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/base/text_lines.h"

namespace switchyard::sched {

// Found by the archives through the namespace of the records.
template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<MemorySegment> segment) {
    archive(segment.start, segment.size);
}

/// Names are lists of bytes in the format.
struct BinaryKernel {
    std::vector<std::uint8_t> name;
    GpuKernel kernel;
};

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<BinaryKernel> record) {
    auto& k = record.kernel;
    archive(record.name, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2], k.registers_per_thread,
            k.shared_bytes, k.work.flops, k.work.tensor_flops, k.work.read_bytes, k.work.written_bytes, k.reads,
            k.writes, k.schedule.l2_bytes, k.schedule.memory_instructions, k.schedule.dependent_loads);
}

namespace {

constexpr char kMagic[] = {'S', 'Y', 'K', 'S'};
constexpr std::uint16_t kVersion = 2;
constexpr std::size_t kChecksumBytes = 4;
constexpr const char* kNoKernel = "expected one kernel or more, found none";

std::string segments_error(const char* key, const std::vector<MemorySegment>& segments) {
    if (segments.size() > kMaxSegments)
        return fmt::format("{}: expected at most {} segments, found {}", key, kMaxSegments, segments.size());
    for (const MemorySegment& segment : segments) {
        if (segment.start >= kAddressSpace)
            return fmt::format("{}: expected addresses of at most {} bits, found {}", key, kAddressBits, segment.start);
        if (segment.size > kAddressSpace)
            return fmt::format("{}: expected at most {} bytes, the address space, found {}", key, kAddressSpace,
                               segment.size);
    }
    return "";
}

/// Of a kernel in a file. One that does nothing is a kernel whose work was not recorded: its time would be wrong.
std::string recorded_error(const GpuKernel& kernel) {
    std::string message = validation_error(kernel);
    if (!message.empty()) return message;
    const KernelWork& work = kernel.work;
    const KernelSchedule& schedule = kernel.schedule;
    const bool any = work.flops > 0 || work.tensor_flops > 0 || work.read_bytes > 0 || work.written_bytes > 0 ||
                     schedule.l2_bytes > 0 || schedule.memory_instructions > 0 || schedule.dependent_loads > 0;
    return any ? ""
               : fmt::format(
                     "kernel {}: expected work (flops, tensor_flops, read_bytes, written_bytes, l2_bytes, "
                     "memory_instructions or dependent_loads above 0), found none; give what it does",
                     kernel.name);
}

/// One line of a stream.
class KernelLine {
public:
    KernelLine(const std::string& text, std::string path, int line) : path_(std::move(path)), line_(line) {
        object_ = parse_json(text, path_, line_);
        if (!object_.is_object()) fail("", "expected a JSON object, found " + json_kind(object_));
        static const std::vector<std::string> kKnown{"name",
                                                     "grid",
                                                     "block",
                                                     "registers",
                                                     "shared_bytes",
                                                     "flops",
                                                     "tensor_flops",
                                                     "read_bytes",
                                                     "writes",
                                                     "reads",
                                                     "written_bytes",
                                                     "l2_bytes",
                                                     "memory_instructions",
                                                     "dependent_loads"};
        for (const auto& [key, value] : object_.items())
            if (key != kProgramKey && std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end())
                fail(key, not_one_of(key, kKnown));
    }

    GpuKernel read() const {
        GpuKernel kernel;
        kernel.name = text("name");
        kernel.grid = dimensions("grid");
        kernel.block = dimensions("block");
        kernel.registers_per_thread = small("registers", kernel.registers_per_thread);
        kernel.shared_bytes = small("shared_bytes", 0);
        kernel.work.flops = number("flops");
        kernel.work.tensor_flops = number("tensor_flops");
        kernel.work.read_bytes = number("read_bytes");
        kernel.work.written_bytes = number("written_bytes");
        kernel.schedule.l2_bytes = number("l2_bytes");
        kernel.schedule.memory_instructions = number("memory_instructions");
        kernel.schedule.dependent_loads = small("dependent_loads", 0);
        kernel.reads = segments("reads");
        kernel.writes = segments("writes");
        const std::string message = recorded_error(kernel);
        if (!message.empty()) fail("", message);
        return kernel;
    }

private:
    [[noreturn]] void fail(const std::string& key, const std::string& message) const {
        throw InputError(path_, line_, key, message);
    }
    std::uint64_t whole(const std::string& key, const nlohmann::json& value) const {
        if (!value.is_number_unsigned()) fail(key, "expected an integer of 0 or more, found " + json_kind(value));
        return value.get<std::uint64_t>();
    }
    std::uint64_t number(const char* key) const { return object_.contains(key) ? whole(key, object_.at(key)) : 0; }
    std::uint32_t narrow(const char* key, std::uint64_t value) const {
        constexpr std::uint32_t kLargest = std::numeric_limits<std::uint32_t>::max();
        if (value > kLargest) fail(key, fmt::format("expected at most {}, found {}", kLargest, value));
        return static_cast<std::uint32_t>(value);
    }
    std::uint32_t small(const char* key, std::uint32_t otherwise) const {
        return object_.contains(key) ? narrow(key, number(key)) : otherwise;
    }
    std::string text(const char* key) const {
        if (!object_.contains(key)) fail(key, "expected a value, found nothing");
        if (!object_.at(key).is_string()) fail(key, "expected a text, found " + json_kind(object_.at(key)));
        return object_.at(key).get<std::string>();
    }
    std::array<std::uint32_t, 3> dimensions(const char* key) const {
        if (!object_.contains(key)) fail(key, "expected a value, found nothing");
        const nlohmann::json& list = object_.at(key);
        if (!list.is_array() || list.empty() || list.size() > 3)
            fail(key, "expected a list of one to three integers, found " + json_kind(list));
        std::array<std::uint32_t, 3> result{1, 1, 1};
        for (std::size_t i = 0; i < list.size(); ++i) result[i] = narrow(key, whole(key, list[i]));
        return result;
    }
    std::vector<MemorySegment> segments(const char* key) const {
        std::vector<MemorySegment> result;
        if (!object_.contains(key)) return result;
        const auto fail_of = [&](const nlohmann::json& found) {
            fail(key, "expected a list of [address, bytes], found " + json_kind(found));
        };
        if (!object_.at(key).is_array()) fail_of(object_.at(key));
        for (const nlohmann::json& pair : object_.at(key)) {
            if (!pair.is_array() || pair.size() != 2) fail_of(pair);
            result.push_back({whole(key, pair[0]), whole(key, pair[1])});
        }
        return result;
    }

    std::string path_;
    int line_;
    nlohmann::json object_;
};

std::vector<GpuKernel> read_lines(TextLines lines) {
    std::vector<GpuKernel> kernels;
    while (lines.next()) kernels.push_back(KernelLine(lines.line(), lines.path(), lines.number()).read());
    if (kernels.empty()) throw InputError(lines.path(), 0, "", kNoKernel);
    return kernels;
}

}  // namespace

std::string validation_error(const GpuKernel& kernel) {
    for (unsigned i = 0; i < 3; ++i) {
        const std::uint32_t limit = i == 0 ? kMaxGridX : kMaxGridYz;
        if (kernel.grid[i] < 1 || kernel.grid[i] > limit)
            return fmt::format("grid: expected 1 to {}, found {}", limit, kernel.grid[i]);
        if (kernel.block[i] < 1) return "block: expected 1 or more in each dimension, found 0";
    }
    const std::uint64_t threads = std::uint64_t{kernel.block[0]} * kernel.block[1];
    if (threads > kMaxThreadsPerCta || threads * kernel.block[2] > kMaxThreadsPerCta)
        return fmt::format("block: expected at most {} threads in a CTA, found {} x {} x {}", kMaxThreadsPerCta,
                           kernel.block[0], kernel.block[1], kernel.block[2]);
    if (kernel.registers_per_thread < 1 || kernel.registers_per_thread > kMaxRegistersPerThread)
        return fmt::format("registers: expected 1 to {}, found {}", kMaxRegistersPerThread,
                           kernel.registers_per_thread);
    if (kernel.shared_bytes > kMaxSharedBytes)
        return fmt::format("shared_bytes: expected at most {}, found {}", kMaxSharedBytes, kernel.shared_bytes);
    const std::string message = segments_error("reads", kernel.reads);
    return message.empty() ? segments_error("writes", kernel.writes) : message;
}

namespace {

std::uint64_t product(std::uint64_t amount, std::uint32_t factor, std::uint64_t most, const GpuKernel& kernel) {
    if (factor > 0 && amount > most / factor)
        throw InputError(fmt::format("kernel {}: expected at most {}, found {} times {}; take a smaller factor",
                                     kernel.name, most, amount, factor));
    return amount * factor;
}

}  // namespace

GpuKernel enlarged(const GpuKernel& kernel, std::uint32_t factor) {
    GpuKernel result = kernel;
    const std::uint64_t ctas = std::uint64_t{kernel.grid[0]} * factor;
    result.grid[0] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(ctas, std::numeric_limits<std::uint32_t>::max()));
    for (std::uint64_t* amount :
         {&result.work.flops, &result.work.tensor_flops, &result.work.read_bytes, &result.work.written_bytes,
          &result.schedule.l2_bytes, &result.schedule.memory_instructions})
        *amount = product(*amount, factor, std::numeric_limits<std::uint64_t>::max(), kernel);
    for (auto* segments : {&result.reads, &result.writes})
        for (MemorySegment& segment : *segments)
            segment = {product(segment.start, factor, kAddressSpace - 1, kernel),
                       product(segment.size, factor, kAddressSpace, kernel)};
    return result;
}

std::vector<GpuKernel> read_kernel_stream(const std::string& path) {
    return read_lines(TextLines(path, "JSON"));
}

std::vector<GpuKernel> parse_kernel_stream(const std::string& text, const std::string& source) {
    return read_lines(TextLines(text, source, "JSON"));
}

std::string kernel_stream_text(const std::vector<GpuKernel>& kernels) {
    std::string text;
    const auto list = [](const std::vector<MemorySegment>& segments) {
        nlohmann::ordered_json result = nlohmann::ordered_json::array();
        for (const MemorySegment& segment : segments) result.push_back({segment.start, segment.size});
        return result;
    };
    for (const GpuKernel& kernel : kernels) {
        nlohmann::ordered_json line;
        if (text.empty()) line[kProgramKey] = kProgram;
        line.update({{"name", kernel.name},
                     {"grid", kernel.grid},
                     {"block", kernel.block},
                     {"registers", kernel.registers_per_thread},
                     {"shared_bytes", kernel.shared_bytes},
                     {"flops", kernel.work.flops},
                     {"tensor_flops", kernel.work.tensor_flops},
                     {"read_bytes", kernel.work.read_bytes},
                     {"written_bytes", kernel.work.written_bytes},
                     {"reads", list(kernel.reads)},
                     {"writes", list(kernel.writes)}});
        if (kernel.schedule.l2_bytes > 0) line["l2_bytes"] = kernel.schedule.l2_bytes;
        if (kernel.schedule.memory_instructions > 0) line["memory_instructions"] = kernel.schedule.memory_instructions;
        if (kernel.schedule.dependent_loads > 0) line["dependent_loads"] = kernel.schedule.dependent_loads;
        text += json_text(line) + "\n";
    }
    return text;
}

std::vector<std::uint8_t> encode_kernel_stream(const std::vector<GpuKernel>& kernels) {
    ByteWriter writer;
    for (const char letter : kMagic) writer(static_cast<std::uint8_t>(letter));
    writer(kVersion, static_cast<std::uint32_t>(kernels.size()));
    for (const GpuKernel& kernel : kernels) writer(BinaryKernel{{kernel.name.begin(), kernel.name.end()}, kernel});
    std::vector<std::uint8_t> bytes = writer.take();
    const std::uint32_t crc = crc32_of(bytes.data(), bytes.size());
    for (unsigned i = 0; i < kChecksumBytes; ++i) bytes.push_back(static_cast<std::uint8_t>(crc >> (8 * i)));
    return bytes;
}

std::vector<GpuKernel> decode_kernel_stream(const std::vector<std::uint8_t>& bytes, const std::string& source) {
    const std::string magic(bytes.begin(),
                            bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), sizeof(kMagic))));
    if (magic != std::string(kMagic, sizeof(kMagic)))
        throw InputError(source, 0, "", "expected a kernel stream, which begins with SYKS, found " + shown(magic));
    if (bytes.size() < sizeof(kMagic) + kChecksumBytes)
        throw InputError(source, 0, "", fmt::format("expected a kernel stream, found {} bytes of one", bytes.size()));
    const std::size_t size = bytes.size() - kChecksumBytes;
    std::uint32_t stored = 0;
    for (unsigned i = 0; i < kChecksumBytes; ++i) stored |= std::uint32_t{bytes[size + i]} << (8 * i);
    if (const std::uint32_t crc = crc32_of(bytes.data(), size); stored != crc)
        throw InputError(source, 0, "",
                         fmt::format("expected the checksum {:#010x}, found {:#010x}; make the stream again, as it is "
                                     "truncated or damaged",
                                     crc, stored));
    try {
        ByteReader reader(bytes.data(), size);
        reader.take(sizeof(kMagic));
        const auto version = reader.get<std::uint16_t>();
        if (version != kVersion) reader.fail(fmt::format("expected version {}, found {}", kVersion, version));
        const auto count = reader.get<std::uint32_t>();
        std::vector<GpuKernel> kernels;
        for (std::uint32_t i = 0; i < count; ++i) {
            BinaryKernel record;
            reader(record);
            record.kernel.name.assign(record.name.begin(), record.name.end());
            const std::string message = recorded_error(record.kernel);
            if (!message.empty()) reader.fail(fmt::format("kernel {}: {}", i, message));
            kernels.push_back(std::move(record.kernel));
        }
        reader.expect_end();
        if (kernels.empty()) reader.fail(kNoKernel);
        return kernels;
    } catch (const InputError& error) {
        throw InputError(source, 0, "", error.what());
    }
}

std::vector<GpuKernel> load_kernel_stream(const std::string& path) {
    if (open_input(path).peek() != kMagic[0]) return read_kernel_stream(path);
    return decode_kernel_stream(read_bytes(path, kMaxJsonBytes), path);
}

}  // namespace switchyard::sched
