// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/firmware_package.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/platform/driver/switchyard_driver.h"
#include "switchyard/platform/driver/switchyard_package.h"
#include "switchyard/platform/driver/switchyard_registers.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

namespace {

constexpr std::uint64_t kAlignment = 16;
constexpr std::uint64_t kLargestBytes = 0xFFFFFFFF;  ///< offsets have 32 bits

[[noreturn]] void refuse(const char* option, const char* key, const std::string& message) {
    throw InputError(option, 0, key, message);
}

/// One thing behind the other, each at a multiple of kAlignment.
class Block {
public:
    std::uint32_t reserve(std::size_t size) {
        const std::uint64_t offset = (bytes_.size() + kAlignment - 1) / kAlignment * kAlignment;
        if (offset + size > kLargestBytes)
            refuse("--batches", "",
                   fmt::format("expected a package of at most {} bytes, found {} or more; take fewer batches",
                               kLargestBytes, offset + size));
        bytes_.resize(offset + size);
        return static_cast<std::uint32_t>(offset);
    }
    template <class T>
    std::uint32_t put(const std::vector<T>& values) {
        const std::uint32_t offset = reserve(values.size() * sizeof(T));
        set(offset, values.data(), values.size() * sizeof(T));
        return offset;
    }
    void set(std::uint32_t offset, const void* data, std::size_t size) {
        if (size > 0) std::memcpy(&bytes_[offset], data, size);
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size()); }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
    std::vector<std::uint8_t> bytes_;
};

/// The DMA lists and what they move.
class PackageWriter {
public:
    PackageWriter(const Image& image, const NetworkValues& values, const FirmwareJob& job)
        : image_(image), values_(values), job_(job) {}

    std::vector<std::uint8_t> write();

private:
    std::uint32_t distinct() const { return std::min(job_.batches, values_.batches()); }
    void transfer(std::uint32_t offset, std::uint64_t chip, std::uint64_t bytes, std::uint32_t direction);
    switchyard_package_list list();
    void add_tensors(const char* kind, std::uint32_t batch);
    void add_outputs(std::uint32_t batch);
    void add_masks(std::uint32_t batch, std::uint32_t offset, std::uint32_t direction);
    const OperatorPlacement& placement_of(const std::string& tensor) const;
    std::vector<std::uint16_t> labels() const;
    std::vector<std::uint64_t> recorded_masks() const;

    const Image& image_;
    const NetworkValues& values_;
    const FirmwareJob& job_;
    Block block_;
    std::vector<std::uint8_t> descriptors_;  ///< of the next list
    std::vector<switchyard_package_output> outputs_;
};

std::vector<std::uint8_t> PackageWriter::write() {
    const auto is_output = [](const ImageMeta::Tensor& tensor) { return tensor.kind == "output"; };
    const auto& tensors = image_.meta.tensors;
    const auto output = std::find_if(tensors.begin(), tensors.end(), is_output);
    const auto outputs = std::count_if(tensors.begin(), tensors.end(), is_output);
    if (outputs != 1 || output->per_input)
        refuse("IMAGE", "outputs",
               fmt::format("expected one output with a result for each sample, found {}",
                           outputs == 1 ? "one for each input" : std::to_string(outputs)));
    switchyard_package package{};
    block_.reserve(sizeof package);
    package.magic = SWITCHYARD_PACKAGE_MAGIC;
    package.version = SWITCHYARD_PACKAGE_VERSION;
    package.address = job_.address;
    const std::vector<std::uint8_t> file = encode(image_);
    package.image = block_.put(file);
    package.image_bytes = static_cast<std::uint32_t>(file.size());
    package.tiles = static_cast<std::uint32_t>(image_.tiles.size());
    package.batches = job_.batches;
    package.batch_samples = image_.meta.batch_samples;
    package.gates = static_cast<std::uint32_t>(image_.meta.switches.size());

    add_tensors("weights", 0);
    package.weights = list();
    // Masks are cleared in HBM before, because no gate writes that of a sample that does not reach it.
    const std::uint32_t zeros = block_.reserve(std::size_t{package.batch_samples} * sizeof(std::uint64_t));
    const std::size_t mask_bytes = std::size_t{package.gates} * package.batch_samples * sizeof(std::uint64_t);
    package.masks = block_.reserve(job_.batches * mask_bytes);
    std::vector<switchyard_package_batch> batches(job_.batches);
    for (std::uint32_t batch = 0; batch < job_.batches; ++batch) {
        add_tensors("input", batch);
        add_masks(batch, zeros, SWITCHYARD_DMA_CONTROL_TO_CHIP);
        batches[batch].to_chip = list();
        add_outputs(batch);
        add_masks(batch, static_cast<std::uint32_t>(package.masks + batch * mask_bytes),
                  SWITCHYARD_DMA_CONTROL_FROM_CHIP);
        batches[batch].from_chip = list();
    }
    package.batch = block_.put(batches);
    package.output = block_.put(outputs_);
    package.outputs = static_cast<std::uint32_t>(outputs_.size());
    if (job_.outputs) package.expected_labels = block_.put(labels());
    if (!job_.routing.empty()) package.expected_masks = block_.put(recorded_masks());
    package.bytes = block_.size();
    block_.set(0, &package, sizeof package);
    return block_.take();
}

void PackageWriter::transfer(std::uint32_t offset, std::uint64_t chip, std::uint64_t bytes, std::uint32_t direction) {
    descriptors_.resize(descriptors_.size() + SWITCHYARD_DESCRIPTOR_BYTES);
    switchyard_put_descriptor(&descriptors_[descriptors_.size() - SWITCHYARD_DESCRIPTOR_BYTES], job_.address + offset,
                              chip, static_cast<std::uint32_t>(bytes), direction);
}

switchyard_package_list PackageWriter::list() {
    const auto count = static_cast<std::uint32_t>(descriptors_.size() / SWITCHYARD_DESCRIPTOR_BYTES);
    const std::uint32_t offset = block_.put(descriptors_);
    descriptors_.clear();
    return {offset, count};
}

void PackageWriter::add_tensors(const char* kind, std::uint32_t batch) {
    for (const ImageMeta::Tensor& tensor : image_.meta.tensors) {
        if (tensor.kind != kind) continue;
        for (std::size_t piece = 0; piece < tensor.addresses.size(); ++piece) {
            const std::vector<std::uint8_t> bytes = values_.piece(tensor, piece, batch % values_.batches());
            transfer(block_.put(bytes), tensor.addresses[piece] + (batch % 2) * tensor.bank_stride, bytes.size(),
                     SWITCHYARD_DMA_CONTROL_TO_CHIP);
        }
    }
}

void PackageWriter::add_outputs(std::uint32_t batch) {
    for (const ImageMeta::Tensor& tensor : image_.meta.tensors) {
        if (tensor.kind != "output") continue;
        const OperatorPlacement& placement = placement_of(tensor.name);
        for (std::size_t piece = 0; piece < tensor.addresses.size(); ++piece) {
            const Box box = piece_box(placement, static_cast<std::uint32_t>(piece));
            const std::uint32_t offset = block_.reserve(tensor.piece_bytes[piece]);
            transfer(offset, tensor.addresses[piece] + (batch % 2) * tensor.bank_stride, tensor.piece_bytes[piece],
                     SWITCHYARD_DMA_CONTROL_FROM_CHIP);
            outputs_.push_back({batch, offset, box.n0, box.n1 - box.n0, box.p0, box.p1 - box.p0,
                                placement.shape.out_channels, placement.shape.out_columns});
        }
    }
}

void PackageWriter::add_masks(std::uint32_t batch, std::uint32_t offset, std::uint32_t direction) {
    const std::uint32_t bytes = image_.meta.batch_samples * std::uint32_t{sizeof(std::uint64_t)};
    for (const ImageMeta::Switch& gate : image_.meta.switches) {
        transfer(offset, gate.mask_address + (batch % 2) * gate.bank_stride, bytes, direction);
        if (direction == SWITCHYARD_DMA_CONTROL_FROM_CHIP) offset += bytes;
    }
}

const OperatorPlacement& PackageWriter::placement_of(const std::string& tensor) const {
    for (const TileProgram& tile : image_.tiles) {
        for (const OperatorPlacement& placement : tile.placements) {
            if (placement.in_memory() && image_.meta.operators[placement.op_id].name == tensor) return placement;
        }
    }
    throw InputError(image_.meta.model, 0, tensor, "expected a tensor that a tile's program has in memory, found none");
}

std::vector<std::uint16_t> PackageWriter::labels() const {
    const std::vector<std::size_t>& shape = job_.outputs->shape;
    const std::size_t wanted = std::size_t{distinct()} * image_.meta.batch_samples;
    const auto output = std::find_if(image_.meta.tensors.begin(), image_.meta.tensors.end(),
                                     [](const ImageMeta::Tensor& tensor) { return tensor.kind == "output"; });
    const OperatorShape& one = placement_of(output->name).shape;
    const std::size_t classes = std::size_t{one.out_channels} * one.out_rows * one.out_columns;
    if (shape.size() != 2 || shape[0] < wanted || shape[1] != classes || classes > 65536)
        refuse("--expect", "shape",
               fmt::format("expected {} samples or more of {} classes, of 65536 at most, found ({})", wanted, classes,
                           fmt::join(shape, ", ")));
    std::vector<std::uint16_t> labels;
    for (std::uint32_t batch = 0; batch < job_.batches; ++batch) {
        for (std::uint32_t sample = 0; sample < image_.meta.batch_samples; ++sample) {
            const std::size_t row = std::size_t{batch % values_.batches()} * image_.meta.batch_samples + sample;
            const auto first = job_.outputs->values.begin() + static_cast<std::ptrdiff_t>(row * shape[1]);
            const auto last = first + static_cast<std::ptrdiff_t>(shape[1]);
            labels.push_back(static_cast<std::uint16_t>(std::max_element(first, last) - first));
        }
    }
    return labels;
}

std::vector<std::uint64_t> PackageWriter::recorded_masks() const {
    if (job_.routing.size() < distinct())
        refuse("--trace", "", fmt::format("expected {} batches or more, found {}", distinct(), job_.routing.size()));
    std::vector<std::uint64_t> masks;
    for (std::uint32_t batch = 0; batch < job_.batches; ++batch) {
        for (const std::vector<std::uint64_t>& gate : job_.routing[batch % values_.batches()].masks)
            masks.insert(masks.end(), gate.begin(), gate.end());
    }
    return masks;
}

}  // namespace

std::vector<std::uint8_t> make_firmware_package(const Image& image, const NetworkValues& values,
                                                const FirmwareJob& job) {
    if (job.address % kAlignment != 0)
        refuse("--address", "", fmt::format("expected a multiple of {}, found {:#x}", kAlignment, job.address));
    return PackageWriter(image, values, job).write();
}

}  // namespace switchyard::platform
