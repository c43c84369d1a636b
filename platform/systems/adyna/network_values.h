// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchyard/platform/system/npy.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// Throws InputError if a functional run cannot compute the image, whatever its files hold: routers by number, outputs
/// of different shapes, operators without parameters. `source` is the file that the message names.
void check_functional(const Image& image, const std::string& source);

/// The values of a network on the host's side: weights and inputs as the pieces that the chip wants in HBM, outputs put
/// together from such pieces. Numbers are rounded to binary16, nearest even, on their way to the chip.
class NetworkValues {
public:
    /// Reads the weights of each operator in `folder` (network_weights.h), and of `inputs` (samples, channels, rows,
    /// columns; or the same values by inputs, with the samples of each folded in any way that keeps their order) every
    /// whole batch. Throws InputError for a missing file, another shape, outputs of different shapes.
    NetworkValues(const Image& image, const std::string& folder, const std::string& inputs);

    std::uint32_t batches() const { return batches_; }
    /// Piece `piece` of a tensor of weights, or of an input in `batch`.
    std::vector<std::uint8_t> piece(const ImageMeta::Tensor& tensor, std::size_t piece, std::uint32_t batch) const;
    /// A piece of an output has come back.
    void take(const ImageMeta::Tensor& tensor, std::size_t piece, std::uint32_t batch,
              const std::vector<std::uint8_t>& bytes);
    /// What lies in HBM for the last of the outputs, all samples. Samples, channels, rows, columns; the last two are
    /// left out where they are 1.
    NpyArray output() const;
    /// The results when the batches took these routes. Of several outputs a sample's result is the last one that it
    /// reaches; samples that reach none are zero: in HBM stands what an earlier batch left in their place. A row is a
    /// sample, or an input if ImageMeta::Tensor::per_input.
    NpyArray output(const std::vector<BatchRouting>& routed) const;
    /// Of output() after as many batches.
    std::vector<std::size_t> output_shape(std::size_t batches) const;

private:
    using Slices = std::vector<std::vector<std::uint8_t>>;  ///< one an ik
    struct Output {
        const ImageMeta::Tensor* tensor;
        NpyArray values;  ///< of all samples
    };
    void check_inputs(const std::string& file, const OperatorShape& shape);
    const OperatorPlacement& placement_of(const ImageMeta::Tensor& tensor) const;

    const Image& image_;
    std::map<std::string, const OperatorPlacement*> tensors_;  ///< in HBM, by name
    std::map<std::string, Slices> weights_;                    ///< by operator
    std::vector<Output> outputs_;                              ///< in the model's order
    NpyArray inputs_;
    std::uint32_t batches_ = 0;
};

/// How far outputs are from what somebody else computed, and whether they name the same labels.
struct OutputComparison {
    double largest_error = 0, mean_error = 0;        ///< absolute; infinite where an output is no number
    std::size_t worst_sample = 0, worst_output = 0;  ///< where the largest error is
    std::size_t samples = 0, different_labels = 0;
    /// Samples with another label although the expected two largest outputs are further apart than `bound`.
    std::size_t wrong_labels = 0;
};
/// Throws InputError that names `file` if there is nothing to compare, if `expected` lacks some samples of outputs of
/// shape `got`, or has outputs of another shape. Outputs of more samples may be there.
void check_expected_shape(const std::vector<std::size_t>& got, const std::vector<std::size_t>& expected,
                          const std::string& file);
/// Of all samples of `got`, the first dimension. Throws InputError that names `file` if `expected` lacks some of them,
/// or has outputs of another shape.
OutputComparison compare_outputs(const NpyArray& got, const NpyArray& expected, double bound,
                                 const std::string& file = "expected outputs");

}  // namespace switchyard::platform
