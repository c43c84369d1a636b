#include "switchyard/testbenches/integration/vp/boot_package.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "switchyard/testbenches/integration/vp/firmware/package.h"

namespace switchyard::testing {

namespace {

constexpr std::uint32_t kHalfBytes = 2;

/// One thing behind the other in RAM, each at a multiple of 16.
class Memory {
public:
    std::uint32_t reserve(std::size_t size) {
        bytes_.resize((bytes_.size() + 15) / 16 * 16);
        const auto address = static_cast<std::uint32_t>(PACKAGE_ADDRESS + bytes_.size());
        bytes_.resize(bytes_.size() + size);
        return address;
    }
    std::uint32_t put(const void* data, std::size_t size) {
        const std::uint32_t address = reserve(size);
        set(address, data, size);
        return address;
    }
    template <class T>
    std::uint32_t put(const std::vector<T>& values) {
        return put(values.data(), values.size() * sizeof(T));
    }
    void set(std::uint32_t address, const void* data, std::size_t size) {
        if (size > 0) std::memcpy(&bytes_[address - PACKAGE_ADDRESS], data, size);
    }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
    std::vector<std::uint8_t> bytes_;
};

const OperatorPlacement& placement_of(const Image& image, const std::string& tensor) {
    for (const TileProgram& tile : image.tiles) {
        for (const OperatorPlacement& placement : tile.placements) {
            if (placement.in_memory() && image.meta.operators[placement.op_id].name == tensor) return placement;
        }
    }
    throw std::runtime_error(tensor + " is in no tile's program");
}

}  // namespace

BootPackage make_boot_package(const Image& image, const platform::NetworkValues& values, const BatchRouting& routing,
                              const std::vector<std::uint8_t>& expected_labels, unsigned tiles) {
    Memory memory;
    struct package package {};
    memory.reserve(sizeof package);
    std::vector<package_transfer> to_chip, from_chip;
    std::vector<package_logits> logits;
    std::vector<std::uint64_t> recorded;
    BootPackage result;

    const std::vector<std::uint8_t> file = encode(image);
    package.magic = PACKAGE_MAGIC;
    package.image = memory.put(file);
    package.image_bytes = static_cast<std::uint32_t>(file.size());
    package.tiles = tiles;
    for (const ImageMeta::Tensor& tensor : image.meta.tensors) {
        if (tensor.kind == "output") continue;
        const bool weights = tensor.kind == "weights";
        for (std::size_t piece = 0; piece < tensor.addresses.size(); ++piece) {
            const std::vector<std::uint8_t> bytes = values.piece(tensor, piece, 0);
            const std::uint32_t address = memory.put(bytes);
            for (std::uint32_t batch = 0; batch < (weights ? 1u : std::uint32_t{PACKAGE_BATCHES}); ++batch)
                to_chip.push_back({tensor.addresses[piece] + batch * tensor.bank_stride, address,
                                   static_cast<std::uint32_t>(bytes.size())});
        }
    }

    const std::uint32_t batch_samples = image.meta.batch_samples;
    for (std::uint32_t batch = 0; batch < PACKAGE_BATCHES; ++batch) {
        for (const ImageMeta::Tensor& tensor : image.meta.tensors) {
            if (tensor.kind != "output") continue;
            const OperatorPlacement& placement = placement_of(image, tensor.name);
            package.classes = placement.shape.out_channels;
            for (std::size_t piece = 0; piece < tensor.addresses.size(); ++piece) {
                const Box box = piece_box(placement, static_cast<std::uint32_t>(piece));
                const auto bytes = static_cast<std::uint32_t>(tensor.piece_bytes[piece]);
                const std::uint32_t address = memory.reserve(bytes);
                if (result.logits == 0) result.logits = address;
                result.logits_bytes = address + bytes - result.logits;
                if (bytes < (box.n1 - box.n0) * package.classes * kHalfBytes || placement.shape.out_rows != 1 ||
                    placement.shape.out_columns != 1)
                    throw std::runtime_error(tensor.name + " is not a row of classes a sample");
                from_chip.push_back({tensor.addresses[piece] + batch * tensor.bank_stride, address, bytes});
                logits.push_back({address, batch * batch_samples + box.n0, box.n1 - box.n0});
            }
        }
    }

    // Masks: cleared in HBM before, because no gate writes that of a sample that does not reach it.
    const std::vector<std::uint64_t> zeros(batch_samples, 0);
    const std::uint32_t cleared = memory.put(zeros), mask_bytes = batch_samples * 8;
    package.decisions = static_cast<std::uint32_t>(PACKAGE_BATCHES * routing.masks.size() * batch_samples);
    package.masks = memory.reserve(package.decisions * sizeof(std::uint64_t));
    std::uint32_t place = package.masks;
    for (std::uint32_t batch = 0; batch < PACKAGE_BATCHES; ++batch) {
        for (std::size_t i = 0; i < routing.masks.size(); ++i) {
            const ImageMeta::Switch& gate = image.meta.switches[i];
            const std::uint64_t address = gate.mask_address + batch * gate.bank_stride;
            to_chip.push_back({address, cleared, mask_bytes});
            from_chip.push_back({address, place, mask_bytes});
            recorded.insert(recorded.end(), routing.masks[i].begin(), routing.masks[i].end());
            place += mask_bytes;
        }
    }
    package.expected_masks = memory.put(recorded);

    std::vector<std::uint8_t> labels;
    for (std::uint32_t batch = 0; batch < PACKAGE_BATCHES; ++batch)
        labels.insert(labels.end(), expected_labels.begin(), expected_labels.begin() + batch_samples);
    package.samples = static_cast<std::uint32_t>(labels.size());
    package.expected_labels = memory.put(labels);
    package.labels = memory.reserve(labels.size());
    package.to_chip = memory.put(to_chip);
    package.to_chip_count = static_cast<std::uint32_t>(to_chip.size());
    package.from_chip = memory.put(from_chip);
    package.from_chip_count = static_cast<std::uint32_t>(from_chip.size());
    package.logits = memory.put(logits);
    package.logits_count = static_cast<std::uint32_t>(logits.size());
    memory.set(PACKAGE_ADDRESS, &package, sizeof package);

    result.labels = package.labels;
    result.samples = package.samples;
    result.masks = package.masks;
    result.masks_bytes = package.decisions * 8;
    result.bytes = memory.take();
    return result;
}

}  // namespace switchyard::testing
