// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/image_addresses.h"

#include <map>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

namespace {

/// More pieces than any tensor has: a number beyond it takes long to look at.
constexpr std::uint64_t kMaxPieces = std::uint64_t{1} << 22;

class AddressCheck {
public:
    AddressCheck(const Image& image, const MemoryMap& memory, const std::string& source)
        : image_(image), memory_(memory), source_(source) {}

    void check() {
        for (const TileProgram& tile : image_.tiles)
            for (const OperatorPlacement& placement : tile.placements)
                if (placements_.emplace(placement.op_id, &placement).second && placement.in_memory())
                    check_store(placement);
        for (const ImageMeta::Switch& one : image_.meta.switches) {
            const std::string name = "switch " + one.name;
            const std::uint64_t bytes = std::uint64_t{image_.meta.batch_samples} * sizeof(std::uint64_t);
            check_range(name, "mask_address", one.mask_address, bytes);
            check_range(name, "bank_stride", one.bank_stride, bytes);
            check_range(name, "bank_stride", one.mask_address + one.bank_stride, bytes);
        }
        for (const ImageMeta::Tensor& tensor : image_.meta.tensors) check_tensor(tensor);
    }

private:
    [[noreturn]] void fail(const std::string& name, const char* field, const std::string& message) const {
        throw InputError(source_, 0, fmt::format("{}: {}", name, field), message);
    }
    std::uint64_t memory_bytes() const { return memory_.interfaces * memory_.region_bytes; }

    void check_range(const std::string& name, const char* field, std::uint64_t address, std::uint64_t bytes) const {
        if (address > memory_bytes() || bytes > memory_bytes() - address)
            fail(name, field,
                 fmt::format("expected bytes in the memory of {} bytes, found {} at {}", memory_bytes(), bytes,
                             address));
    }
    /// As check_range(), of what is moved by one request.
    void check_within_region(const std::string& name, const char* field, std::uint64_t address,
                             std::uint64_t bytes) const {
        check_range(name, field, address, bytes);
        if (bytes > memory_.region_bytes - address % memory_.region_bytes)
            fail(name, field,
                 fmt::format("expected bytes in one memory interface's region of {} bytes, found {} at {}",
                             memory_.region_bytes, bytes, address));
    }

    void check_store(const OperatorPlacement& tensor) const {
        const std::string name = "tensor " + image_.meta.operators.at(tensor.op_id).name;
        const TensorStore& store = tensor.store;
        if (store.interfaces != memory_.interfaces)
            fail(name, "interfaces", fmt::format("expected {}, found {}", memory_.interfaces, store.interfaces));
        const Partition& cut = tensor.partitions.front();
        const std::uint64_t pieces = std::uint64_t{cut.n} * cut.p;
        if (pieces > kMaxPieces) fail(name, "pieces", fmt::format("expected {} at most, found {}", kMaxPieces, pieces));
        for (const auto& [field, value] : {std::pair<const char*, std::uint64_t>{"offset", store.offset},
                                           {"piece_stride", store.piece_stride},
                                           {"bank_stride", store.bank_stride}})
            if (value > memory_.region_bytes)
                fail(name, field,
                     fmt::format("expected at most the {} bytes of a memory interface's region, found {}",
                                 memory_.region_bytes, value));
        for (std::uint32_t piece = 0; piece < pieces; ++piece)
            for (const std::uint32_t bank : {0U, 1U})
                check_within_region(name, "offset", store.address(piece, bank, memory_.region_bytes),
                                    piece_box(tensor, piece).empty() ? 0 : piece_bytes(tensor, piece));
        if (store.index_list_bytes == 0) return;
        const std::uint64_t lists =
            (image_.chip.batch_samples + std::uint64_t{store.index_list_samples} - 1) / store.index_list_samples;
        check_range(name, "index_list_address", store.index_list_address, lists * store.index_list_bytes);
        for (std::uint64_t list = 0; list < lists; ++list)
            check_within_region(name, "index_list_address", store.index_list_address + list * store.index_list_bytes,
                                store.index_list_bytes);
    }

    void check_tensor(const ImageMeta::Tensor& tensor) const {
        const std::string name = "tensor " + tensor.name;
        const bool weights = tensor.kind == "weights";
        if (!weights && tensor.kind != "input" && tensor.kind != "output")
            fail(name, "kind", fmt::format("expected input, output or weights, found \"{}\"", tensor.kind));
        bool placed = false;
        for (const auto& [id, placement] : placements_)
            placed = placed || (placement->in_memory() != weights && image_.meta.operators.at(id).name == tensor.name);
        if (!placed)
            fail(name, "name",
                 fmt::format("expected {} that a tile has, found none", weights ? "an operator" : "a tensor"));
        if (tensor.addresses.empty() || tensor.addresses.size() != tensor.piece_bytes.size())
            fail(name, "piece_bytes",
                 fmt::format("expected a size for each of {} pieces, of one or more, found {}", tensor.addresses.size(),
                             tensor.piece_bytes.size()));
        for (std::size_t i = 0; i < tensor.addresses.size(); ++i) {
            check_range(name, "addresses", tensor.addresses[i], tensor.piece_bytes[i]);
            check_range(name, "bank_stride", tensor.bank_stride, 0);
            check_range(name, "bank_stride", tensor.addresses[i] + tensor.bank_stride, tensor.piece_bytes[i]);
        }
    }

    const Image& image_;
    const MemoryMap& memory_;
    const std::string& source_;
    std::map<std::uint16_t, const OperatorPlacement*> placements_;
};

}  // namespace

void check_addresses(const Image& image, const MemoryMap& memory, const std::string& source) {
    AddressCheck(image, memory, source).check();
}

}  // namespace switchyard::platform
