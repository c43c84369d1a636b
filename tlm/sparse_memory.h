// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "switchyard/tlm/demand_paged_memory.h"

namespace switchyard {

/// A zero-filled memory of any size, of which neither pages nor address space are taken before they are touched: a chip
/// may have more than the host lets a process map (`ulimit -v`). Pieces are mapped when they are first needed, and
/// stay.
class SparseMemory {
public:
    explicit SparseMemory(std::uint64_t bytes);

    std::uint64_t size() const { return size_; }

    /// Both throw std::bad_alloc if the host gives no more; the caller has checked that the bytes exist.
    void read(std::uint64_t address, unsigned char* data, std::uint64_t bytes) const;
    void write(std::uint64_t address, const unsigned char* data, std::uint64_t bytes);

    /// A stretch that lies together in the host's memory: [begin, end) at `data`.
    struct Piece {
        std::uint64_t begin = 0, end = 0;
        unsigned char* data = nullptr;
        unsigned char* at(std::uint64_t address) const { return data + (address - begin); }
    };
    /// The piece of `address`, for direct access.
    Piece piece(std::uint64_t address) const;
    bool holds_together(std::uint64_t address, std::uint64_t bytes) const;

private:
    std::uint64_t size_;
    mutable std::vector<std::unique_ptr<DemandPagedMemory>> pieces_;  ///< null: all zero
};

}  // namespace switchyard
