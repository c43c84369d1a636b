// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/characterisation/memory_traffic.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/hw/memory/dram/address_mapping.h"
#include "switchyard/sw_scheduler/base/csv.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {
namespace {

/// The latest time of a request: a request log of more than a day of simulated time is a mistake.
constexpr double kLatestNs = 1e14;

/// The request log of a memory interface, in order of arrival.
std::vector<MemoryRequest> read_request_log(const std::string& path, std::uint64_t capacity_bytes) {
    enum Column : std::size_t { time, operation, address, bytes };
    CsvReader rows(path, {"time_ns", "operation", "address", "bytes"}, CsvReader::Header::required);
    std::vector<MemoryRequest> requests;
    while (rows.next()) {
        MemoryRequest request;
        request.time_ns = rows.number(time, 0, kLatestNs);
        request.write = rows.one_of(operation, {"R", "W"}) == "W";
        request.address = rows.integer(address, 0, capacity_bytes - 1);
        request.bytes = rows.integer(bytes, 1, capacity_bytes - request.address);
        requests.push_back(request);
    }
    if (requests.empty()) throw InputError(path, 0, "", "expected requests, found the header alone");
    // A request is logged when it is sent, and may overtake another on its way.
    std::stable_sort(requests.begin(), requests.end(),
                     [](const MemoryRequest& a, const MemoryRequest& b) { return a.time_ns < b.time_ns; });
    return requests;
}

std::uint64_t row_stride_bytes(const hw::dram::Device& device) {
    hw::dram::Location next_row;
    next_row.row = 1;
    return hw::dram::AddressMapping(device.policy.mapping, device.geometry).address_of(next_row);
}

}  // namespace

const std::vector<std::string>& memory_patterns() {
    static const std::vector<std::string> kPatterns{"sequential",  "random", "strided",      "streams",
                                                    "alternating", "copy",   "row-conflict", "trace"};
    return kPatterns;
}

MemoryTrafficSource::MemoryTrafficSource(const MemoryTraffic& traffic, const hw::dram::Device& device)
    : traffic_(traffic),
      capacity_bytes_(device.geometry.bytes()),
      slots_(capacity_bytes_ / std::max<std::uint64_t>(traffic.request_bytes, 1)),
      row_stride_bytes_(row_stride_bytes(device)),
      random_(traffic.seed) {
    if (traffic.pattern == "trace") {
        trace_ = read_request_log(traffic.trace, capacity_bytes_);
    } else if (slots_ < 2) {
        throw InputError("--request-bytes", 0, "",
                         fmt::format("expected at most the {} bytes of the memory, found {}", capacity_bytes_,
                                     traffic.request_bytes));
    } else if (traffic.pattern == "streams" && (traffic.streams == 0 || traffic.streams > slots_)) {
        throw InputError("--streams", 0, "",
                         fmt::format("expected 1 to {} streams, as many requests as the memory holds, found {}", slots_,
                                     traffic.streams));
    } else if (traffic.pattern == "row-conflict" && traffic.request_bytes > row_stride_bytes_) {
        throw InputError(
            "--request-bytes", 0, "",
            fmt::format("expected at most {} bytes for row-conflict, the distance of two rows of a bank, found {}",
                        row_stride_bytes_, traffic.request_bytes));
    }
}

double MemoryTrafficSource::last_ns() const {
    if (traffic_.timed) return trace_.back().time_ns - trace_.front().time_ns;
    double bytes = static_cast<double>(traffic_.request_bytes) * static_cast<double>(traffic_.requests - 1);
    if (!trace_.empty()) {
        bytes = 0;
        for (std::size_t i = 0; i + 1 < trace_.size(); ++i) bytes += static_cast<double>(trace_[i].bytes);
    }
    return bytes / traffic_.load_gb_per_s;
}

MemoryRequest MemoryTrafficSource::next() {
    const std::uint64_t i = sent_++;
    if (traffic_.load_gb_per_s > 0)
        next_ns_ +=
            static_cast<double>(trace_.empty() ? traffic_.request_bytes : trace_[i].bytes) / traffic_.load_gb_per_s;
    if (!trace_.empty()) return trace_[i];
    MemoryRequest request{address(i), traffic_.request_bytes, false, 0};
    constexpr double kUnit = 0x1p-53;
    if (turns())
        request.write = i % 2 == 1;
    else if (traffic_.read_share < 1)
        request.write = static_cast<double>(random_() >> 11) * kUnit >= traffic_.read_share;
    return request;
}

std::uint64_t MemoryTrafficSource::address(std::uint64_t i) {
    const std::uint64_t bytes = traffic_.request_bytes;
    if (traffic_.pattern == "random") return random_() % slots_ * bytes;
    if (traffic_.pattern == "strided") {
        // Once through the memory, then again one request further on.
        const std::uint64_t steps = std::max<std::uint64_t>(capacity_bytes_ / traffic_.stride_bytes, 1);
        return (i % steps * traffic_.stride_bytes + i / steps * bytes) % capacity_bytes_;
    }
    if (traffic_.pattern == "streams" || traffic_.pattern == "copy") {
        const std::uint64_t streams = traffic_.pattern == "copy" ? 2 : traffic_.streams;
        const std::uint64_t share = slots_ / streams;
        return (i % streams * share + i / streams % share) * bytes;
    }
    if (traffic_.pattern == "row-conflict") {
        // The address bits below and above the lowest bit of the row count up, that bit takes turns.
        const std::uint64_t position = i / 2 % (slots_ / 2) * bytes;
        return position / row_stride_bytes_ * 2 * row_stride_bytes_ + position % row_stride_bytes_ +
               i % 2 * row_stride_bytes_;
    }
    return i % slots_ * bytes;
}

}  // namespace switchyard::platform
