// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <boost/icl/interval_map.hpp>

#include "switchyard/sw_scheduler/workload/memory_segment.h"

namespace switchyard::platform::ace {

/// Bytes of device memory for functional runs. A byte is a function of its address and of what its writer had read, so
/// that a wrong order of kernels is a wrong value somewhere.
class ValueMemory {
public:
    /// Of all that a kernel reads, its own number included.
    std::uint64_t digest(const std::vector<sched::MemorySegment>& reads, std::uint64_t number) const;
    /// All bytes of the segments, which may overlap and go beyond the end of the address space, get a value of their
    /// own.
    void write(const std::vector<sched::MemorySegment>& writes, std::uint64_t value);
    /// Of everything that was written.
    std::uint64_t digest() const;

private:
    /// Bytes of the same writer; the first value of an interval is that of its writer, not of its address.
    boost::icl::interval_map<std::uint64_t, std::uint64_t, boost::icl::partial_enricher> values_;
};

}  // namespace switchyard::platform::ace
