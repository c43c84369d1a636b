// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/sparse_memory.h"

#include <algorithm>
#include <cstring>

namespace switchyard {

namespace {

/// Large enough that a piece is rarely left, small enough for many memories with a little in each.
constexpr std::uint64_t kPieceBytes = std::uint64_t{16} << 20;

}  // namespace

SparseMemory::SparseMemory(std::uint64_t bytes) : size_(bytes), pieces_((bytes + kPieceBytes - 1) / kPieceBytes) {}

SparseMemory::Piece SparseMemory::piece(std::uint64_t address) const {
    const std::uint64_t begin = address / kPieceBytes * kPieceBytes, end = std::min(begin + kPieceBytes, size_);
    std::unique_ptr<DemandPagedMemory>& memory = pieces_.at(address / kPieceBytes);
    if (!memory) memory = std::make_unique<DemandPagedMemory>(end - begin);
    return {begin, end, memory->data()};
}

bool SparseMemory::holds_together(std::uint64_t address, std::uint64_t bytes) const {
    return bytes == 0 || address / kPieceBytes == (address + bytes - 1) / kPieceBytes;
}

void SparseMemory::read(std::uint64_t address, unsigned char* data, std::uint64_t bytes) const {
    while (bytes > 0) {
        const std::uint64_t here = std::min(bytes, kPieceBytes - address % kPieceBytes);
        const std::unique_ptr<DemandPagedMemory>& memory = pieces_.at(address / kPieceBytes);
        if (memory)
            std::memcpy(data, memory->data() + address % kPieceBytes, here);
        else
            std::memset(data, 0, here);
        address += here;
        data += here;
        bytes -= here;
    }
}

void SparseMemory::write(std::uint64_t address, const unsigned char* data, std::uint64_t bytes) {
    while (bytes > 0) {
        const Piece memory = piece(address);
        const std::uint64_t here = std::min(bytes, memory.end - address);
        std::memcpy(memory.at(address), data, here);
        address += here;
        data += here;
        bytes -= here;
    }
}

}  // namespace switchyard
