// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "switchyard/hw/task_tile/task_message.h"
#include "switchyard/platform/systems/m_tenant/tenant_kernels.h"

namespace switchyard::platform {

/// Where tensors and weights lie in HBM: those of each operator behind one another, in equal parts on all interfaces.
/// Addresses are hashed over the interfaces, so that parts at equal distances do not meet on a few of them.
class TensorPlaces {
public:
    /// `kernels` is not kept. Throws InputError if they do not fit.
    TensorPlaces(const TenantKernels& kernels, unsigned interfaces, std::uint64_t region_bytes);

    /// `bytes` of an operator's result, of a model input (sched::kModelInput) or of an operator's weights, from about
    /// `share` of it on, in runs on several interfaces.
    std::vector<MemoryRun> result(int op, double share, std::uint64_t bytes) const;
    std::vector<MemoryRun> weights(int op, double share, std::uint64_t bytes) const;

private:
    struct Area {
        std::uint64_t begin = 0, bytes = 0;  ///< in each interface's region
    };
    std::vector<MemoryRun> runs(const Area& area, double share, std::uint64_t bytes) const;

    std::vector<Area> results_, weights_;  ///< by operator
    Area input_;
    unsigned interfaces_;
    std::uint64_t region_bytes_;
};

/// An operator on a group of tiles with one of TenantKernels' kernels: the rounds of each tile, with the operands that
/// each of them brings. Which tile has which part: k factors first, then n, then p. Rounds go through output channels,
/// samples, rows and input channels in the order that Stays asks for.
class OperatorTask : public TaskProgram {
public:
    /// The first kernel.tiles() of `tiles`. `kernels` and `places` must outlive it.
    OperatorTask(TenantKernels& kernels, const TensorPlaces& places, int op, const TenantKernel& kernel,
                 std::uint32_t samples, double input_share, const std::vector<Endpoint>& tiles);

    const std::vector<Endpoint>& tiles() const override { return tiles_; }
    std::uint32_t rounds() const override;
    TaskRound round(std::size_t rank, std::uint32_t round) const override;

private:
    enum Dimension { kChannels, kSamples, kRows };
    /// Of a dimension: from where, and how many.
    struct Span {
        std::uint32_t begin = 0, size = 0;
    };
    /// A tile's place in the group, and what it works on in a round.
    struct Place {
        std::array<std::uint32_t, 3> part{};   ///< among the factors, by dimension
        std::array<std::uint32_t, 3> block{};  ///< among the rounds
        std::uint32_t piece = 0;               ///< of the reduction
        bool first_of_channels = false, first_of_rows = false;
    };
    Place place(std::size_t rank, std::uint32_t round) const;
    Span span(Dimension dimension, std::uint32_t part, std::uint32_t block) const;
    std::size_t rank_of(std::uint32_t k, std::uint32_t n, std::uint32_t p) const;
    void read_inputs(const Place& at, const sched::TileWork& work, Endpoint tile, TaskRound& round) const;
    void read_weights(const Place& at, const Span& channels, Endpoint tile, TaskRound& round) const;
    /// All tiles that have work in this part of the channels, or this tile alone if tiles read for themselves.
    std::vector<Endpoint> readers_of_inputs(const Place& at, Endpoint tile) const;
    std::vector<Endpoint> readers_of_weights(const Place& at, Endpoint tile) const;

    TenantKernels& kernels_;
    const TensorPlaces& places_;
    int op_;
    const TenantKernel kernel_;
    std::uint32_t samples_;
    double input_share_;
    std::vector<Endpoint> tiles_;
    sched::TileWork share_;                ///< of the fullest tile
    std::array<std::uint32_t, 3> whole_;   ///< sizes by dimension: of the operator
    std::array<std::uint32_t, 3> shares_;  ///< of a tile
    std::array<std::uint32_t, 3> blocks_;  ///< of a round
};

}  // namespace switchyard::platform
