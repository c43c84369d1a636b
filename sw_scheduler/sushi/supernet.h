// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/convolution.h"

namespace switchyard::sched::sushi {

/// An elastic weight tensor: SubNets take slices of it, which begin at its first kernel and first channel, so that the
/// bytes of smaller slices are those of larger ones.
struct Tensor {
    std::string name;
    WeightSlice whole;
    std::uint32_t side = 1;

    std::uint64_t bytes() const { return whole.bytes(side); }
};

/// Re-quantisation of a layer's results.
struct LayerQuantisation {
    std::int32_t m0 = 1 << 30;
    std::uint32_t shift = 0;
};

/// A layer of a SubNet.
struct LayerUse {
    std::string name;
    std::uint32_t tensor = 0;
    Convolution layer;
    int input = -1;     ///< layer of the SubNet whose output it takes; -1: the network's input
    int residual = -1;  ///< that is added; -1: the network's input, if `layer.residual`
    LayerQuantisation quantisation;
};

struct SubNet {
    std::string name;
    double accuracy = 0;           ///< in per cent
    std::vector<LayerUse> layers;  ///< in order of execution

    std::uint64_t weight_bytes() const;
    std::uint64_t macs() const;
};

/// A weight-shared supernet (SUSHI, MLSys 2023, section 2.1) with the SubNets that are served.
struct Supernet {
    std::string name;
    std::string accuracy_source;                            ///< where the SubNets' accuracies come from
    std::uint32_t channels = 3, height = 224, width = 224;  ///< of the input
    std::vector<Tensor> tensors;
    std::vector<SubNet> subnets;
    /// Of a supernet with values: the folder with NAME.weight.npy and NAME.bias.npy, a file of inputs, and for every
    /// SubNet (in place of {}) one with the results of a golden reference; empty: none.
    std::string weights, inputs, logits;
    std::uint32_t contents = 0;  ///< CRC-32 of the file, comments and layout left out

    std::uint64_t bytes() const;
    /// What every SubNet has.
    std::uint64_t shared_bytes() const;
};

/// The slice of each tensor that a SubNet has; none: zeros. A tensor that several layers take: the largest.
std::vector<WeightSlice> slices_of(const Supernet& supernet, const SubNet& subnet);
std::uint64_t bytes_of(const Supernet& supernet, const std::vector<WeightSlice>& slices);
std::uint64_t shared_bytes(const Supernet& supernet, const std::vector<WeightSlice>& a,
                           const std::vector<WeightSlice>& b);

/// Reads a supernet file (docs/sushi.md). Throws InputError with file, line and key; so for a SubNet whose weights do
/// not nest in the supernet's tensors.
Supernet read_supernet(const std::string& path);

}  // namespace switchyard::sched::sushi
