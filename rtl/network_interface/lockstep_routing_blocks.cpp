// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/network_interface/lockstep_routing_blocks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace switchyard::rtl {
namespace {

/// Of two lists the first index at which they differ; the size if they are equal.
template <class List>
std::size_t first_difference(const List& a, const List& b) {
    const std::size_t common = std::min(a.size(), b.size());
    std::size_t i = 0;
    while (i < common && a[i] == b[i]) ++i;
    return i == common && a.size() == b.size() ? a.size() : i;
}

std::string sample_at(const std::vector<std::uint32_t>& list, std::size_t index) {
    return index < list.size() ? std::to_string(list[index]) : "the end";
}

std::string text_of(const hw::PacketFlits::Mark& mark) {
    return fmt::format("{}{}{}", mark.head ? "head " : "", mark.tail ? "tail " : "", mark.control ? "control" : "data");
}

}  // namespace

LockstepRoutingBlocks::LockstepRoutingBlocks(const PacketFormat& format, const std::string& module,
                                             const MakeRtl& make_rtl)
    : model_(format), rtl_(make_rtl(module + ".lockstep.fst")) {}

template <class Call, class Compare>
auto LockstepRoutingBlocks::both(const std::string& where, Call&& call, Compare&& compare) {
    auto wanted = call(model_);
    try {
        const Difference difference = compare(wanted, call(*rtl_));
        if (difference.what.empty()) return wanted;
        throw RtlFault(fmt::format("{} differs. Model: {}. RTL: {}{}", difference.what, difference.model,
                                   difference.rtl, evidence()));
    } catch (const RtlFault& fault) {
        throw RtlFault(fmt::format("lockstep: {}: {}", where, fault.what()));
    }
}

hw::RoutingBlocks::Lists LockstepRoutingBlocks::split(const std::vector<std::uint32_t>& ids,
                                                      const std::vector<std::uint64_t>& masks) {
    return both(
        fmt::format("unit {} of the switch splitter", ++units_split_),
        [&](hw::RoutingBlocks& blocks) { return blocks.split(ids, masks); },
        [](Lists& model, const Lists& rtl) -> Difference {
            model.resize(rtl.size());
            for (std::size_t branch = 0; branch < rtl.size(); ++branch) {
                const std::size_t i = first_difference(model[branch], rtl[branch]);
                if (i < std::max(model[branch].size(), rtl[branch].size()))
                    return {fmt::format("sample {} of branch {}", i, branch), sample_at(model[branch], i),
                            sample_at(rtl[branch], i)};
            }
            return {};
        });
}

MergedSamples LockstepRoutingBlocks::merge(const Lists& sources) {
    return both(
        fmt::format("unit {} of the merge", ++units_merged_),
        [&](hw::RoutingBlocks& blocks) { return blocks.merge(sources); },
        [](const MergedSamples& model, const MergedSamples& rtl) -> Difference {
            const std::size_t i = first_difference(model.ids, rtl.ids);
            if (i < std::max(model.ids.size(), rtl.ids.size()))
                return {fmt::format("sample {}", i), sample_at(model.ids, i), sample_at(rtl.ids, i)};
            for (std::size_t source = 0; source < model.from.size(); ++source) {
                const std::size_t at = first_difference(model.from[source], rtl.from[source]);
                if (at == model.ids.size()) continue;
                const auto text = [&](bool from) {
                    return fmt::format("{} source {}", from ? "from" : "not from", source);
                };
                return {fmt::format("sample {} (id {})", at, model.ids[at]), text(model.from[source][at]),
                        text(rtl.from[source][at])};
            }
            return {};
        });
}

hw::PacketFlits LockstepRoutingBlocks::packetise(const hw::PacketBytes& packet) {
    return both(
        fmt::format("packet {} of the packetiser", ++packets_),
        [&](hw::RoutingBlocks& blocks) { return blocks.packetise(packet); },
        [](const hw::PacketFlits& model, const hw::PacketFlits& rtl) -> Difference {
            if (model.marks.size() != rtl.marks.size())
                return {"the number of flits", std::to_string(model.marks.size()), std::to_string(rtl.marks.size())};
            if (const std::size_t i = first_difference(model.marks, rtl.marks); i < model.marks.size())
                return {fmt::format("flit {}", i), text_of(model.marks[i]), text_of(rtl.marks[i])};
            const std::size_t i = first_difference(model.bytes, rtl.bytes);
            if (i == model.bytes.size()) return {};
            const std::size_t flit = model.bytes.size() / model.marks.size();
            return {fmt::format("byte {} of flit {}", i % flit, i / flit), fmt::format("{:#04x}", model.bytes[i]),
                    fmt::format("{:#04x}", rtl.bytes[i])};
        });
}

}  // namespace switchyard::rtl
