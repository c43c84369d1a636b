// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {

inline constexpr std::uint32_t kImageMagic = 0x4B495953;  // "SYIK"
inline constexpr std::uint16_t kImageVersion = 5;

/// What the host knows by name. Stored as JSON in the image's META section; the chip does not read it.
struct ImageMeta {
    struct Operator {
        std::string name;
        std::string kind;
        std::uint64_t macs_per_sample = 0;
        bool dynamic = false;
        std::uint16_t segment = 0;
        std::string switch_name;  ///< innermost switch around it, empty if static
        std::string parameters;   ///< its values are in PARAMETERS.weight.npy, PARAMETERS.bias.npy; empty: unknown
        double weight_scale = 1;  ///< by which the host multiplies the weights (not the bias)
        /// Its weights are those of this one of N equal groups of the input channels that the file has.
        std::uint16_t group = 0, groups = 1;
        bool partial = false;             ///< its result is the sum over some of a model operator's input channels
        std::string norm_parameters;      ///< of its layer norm: NORM_PARAMETERS.weight.npy and .bias.npy
        std::string position_parameters;  ///< of its position step: POSITION_PARAMETERS.npy
        int expert = -1;                  ///< PARAMETERS.npy has (experts, in, out), of which this is taken; -1: not so
        /// The file has the queries of all heads, then the keys, then the values; the chip wants them head by head.
        std::uint16_t heads = 1;
    };
    struct Switch {
        std::string name;
        std::uint16_t branches = 2;
        std::string parent;  ///< switch whose branch this one stands in, empty at the top
        std::uint16_t parent_branch = 0;
        std::uint64_t mask_address = 0;  ///< HBM address for the recorded masks, one u64 a sample id
        std::uint64_t bank_stride = 0;   ///< batch b: mask_address + (b % 2) * bank_stride
        bool exclusive = false;          ///< a sample takes exactly one branch
    };
    struct Tensor {  ///< what the host moves: model input, model output, weights
        std::string name;
        std::string kind;                        ///< "input", "output", "weights"
        std::uint64_t bytes = 0;                 ///< a batch (input, output) or once (weights)
        std::vector<std::uint64_t> addresses;    ///< HBM address of each piece
        std::vector<std::uint64_t> piece_bytes;  ///< bytes at each address
        std::uint64_t bank_stride = 0;           ///< batch b: address + (b % 2) * bank_stride
        bool per_input = false;                  ///< output: the samples of an input all have the same
    };
    std::string model, design, platform;
    std::vector<std::string> without;        ///< mechanisms that the design does without
    std::string invocation = "micro_batch";  ///< or "batch": what an invocation of a kernel takes
    std::string routing = "sorted_reload";   ///< or "on_chip": operators pack their samples as they arrive
    std::uint32_t batch_samples = 1;         ///< samples that a doorbell starts, after folding
    std::uint32_t batches_in_flight = 1;     ///< batches of equal size that these are
    std::uint32_t samples_per_input = 1;
    std::vector<Operator> operators;  ///< index = op_id
    std::vector<Switch> switches;     ///< index = switch_id
    std::vector<Tensor> tensors;
    std::string routing_yaml;  ///< declared route generator, as YAML; empty if routes only come from a trace

    std::uint32_t samples_of_batch() const { return batch_samples / batches_in_flight; }
};

struct Image {
    std::uint64_t platform_fingerprint = 0;
    ImageMeta meta;
    ChipProgram chip;
    std::vector<TileProgram> tiles;  ///< every tile of the chip, in order; idle ones have no operators
};

/// Section kinds of the file; each entry of the section table has kind, index (tile), offset, size and CRC-32.
enum class SectionKind : std::uint32_t { meta = 1, chip = 2, tile = 3, kernels = 4 };

struct ImageSection {
    SectionKind kind;
    std::uint32_t index;
    std::uint64_t offset, size;
    std::uint32_t crc32;
};

/// What is wrong with an image, for those who must tell it with a code.
enum class ImageFault { malformed, truncated, checksum, version };

class ImageError : public InputError {
public:
    ImageError(ImageFault fault, const std::string& source, const std::string& place, const std::string& message)
        : InputError(source, 0, place, message), fault_(fault) {}

    ImageFault fault() const { return fault_; }

private:
    ImageFault fault_;
};

std::vector<std::uint8_t> encode(const Image& image);
/// Checks magic, version, header CRC, bounds and CRC of every section, and that tiles and edges agree.
/// Throws ImageError that names `source`, the section and the offset; InputError if the sections contradict each other.
Image decode_image(const std::vector<std::uint8_t>& bytes, const std::string& source);
std::vector<ImageSection> read_section_table(const std::vector<std::uint8_t>& bytes, const std::string& source);

void write_image(const Image& image, const std::string& path);
Image read_image(const std::string& path);

}  // namespace switchyard
