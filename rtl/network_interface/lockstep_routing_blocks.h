// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "switchyard/hw/network_interface/routing_blocks.h"

namespace switchyard::rtl {

/// The model and the RTL side by side: both get every unit and packet, and everything that leaves them must be the
/// same.
///
/// The first difference throws RtlFault: which unit or packet of which block, what differs, what either side has,
/// and the FST file <module>.lockstep.fst with the block's last cycles in the working directory. A run without a
/// difference leaves no file.
class LockstepRoutingBlocks : public hw::RoutingBlocks {
public:
    /// Makes the RTL; `waveform`: a file for the last cycles of the block that fails.
    using MakeRtl = std::function<std::unique_ptr<hw::RoutingBlocks>(const std::string& waveform)>;

    LockstepRoutingBlocks(const PacketFormat& format, const std::string& module, const MakeRtl& make_rtl);

    hw::RoutingLimits limits() const override { return rtl_->limits(); }
    Lists split(const std::vector<std::uint32_t>& ids, const std::vector<std::uint64_t>& masks) override;
    MergedSamples merge(const Lists& sources) override;
    hw::PacketFlits packetise(const hw::PacketBytes& packet) override;
    bool packetises() const override { return true; }
    std::string evidence() override { return rtl_->evidence(); }

private:
    struct Difference {
        std::string what, model, rtl;  ///< `what` is empty if there is none
    };
    /// What both sides make of `call`: the model's, or the difference that `compare` finds.
    template <class Call, class Compare>
    auto both(const std::string& where, Call&& call, Compare&& compare);

    hw::RoutingModel model_;
    std::unique_ptr<hw::RoutingBlocks> rtl_;
    std::uint64_t units_split_ = 0, units_merged_ = 0, packets_ = 0;
};

}  // namespace switchyard::rtl
