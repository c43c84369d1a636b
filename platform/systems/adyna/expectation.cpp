// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/expectation.h"

#include <map>
#include <memory>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/image/samples.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

namespace {

/// One data edge into each operator, by op_id: the sample sets of all of them agree.
std::map<std::uint16_t, Edge> operand_edges(const Image& image) {
    std::map<std::uint16_t, Edge> edges;
    for (const TileProgram& tile : image.tiles) {
        for (const Edge& edge : tile.edges) {
            const bool data = edge.path == EdgePath::on_chip || edge.path == EdgePath::memory;
            if (!data || edge.dst_op == kNone || edge.role != OperandRole::input) continue;
            edges.emplace(edge.dst_op, edge);
        }
    }
    return edges;
}

class IndexListFinder {
public:
    IndexListFinder(const Image& image, const BatchRouting& routing)
        : image_(image), routing_(routing), edges_(operand_edges(image)), index_lists_(image.meta.operators.size()) {}

    const SampleIndexListPtr& index_list(std::uint16_t op_id) {
        SampleIndexListPtr& known = index_lists_.at(op_id);
        if (known) return known;
        const auto found = edges_.find(op_id);
        if (found == edges_.end()) {
            known = std::make_shared<SampleIndexList>(SampleIndexList{SampleSet::range(0, routing_.samples), nullptr});
        } else {
            known = behind(found->second);
        }
        return known;
    }

private:
    SampleIndexListPtr behind(const Edge& edge) {
        SampleIndexListPtr inner = index_list(edge.src_op);
        if (edge.switch_id != kNone) {
            const std::vector<std::uint64_t>& masks = routing_.masks.at(edge.switch_id);
            std::vector<std::uint32_t> taken;
            for (const std::uint32_t id : inner->samples.ids())
                if ((masks.at(id) >> edge.branch & 1) != 0) taken.push_back(id);
            inner = std::make_shared<SampleIndexList>(SampleIndexList{SampleSet(std::move(taken)), inner});
        }
        for (unsigned pop = 0; pop < edge.pops; ++pop) {
            if (!inner->outer)
                throw InputError(
                    image_.meta.model, 0, fmt::format("edge {}", edge.id),
                    fmt::format("expected to close at most the {} switches that are open around it, found {}", pop,
                                edge.pops));
            inner = inner->outer;
        }
        return inner;
    }

    const Image& image_;
    const BatchRouting& routing_;
    std::map<std::uint16_t, Edge> edges_;
    std::vector<SampleIndexListPtr> index_lists_;
};

}  // namespace

std::vector<SwitchSignature> signatures_of(const ImageMeta& meta) {
    std::vector<SwitchSignature> signatures;
    for (const ImageMeta::Switch& item : meta.switches) {
        SwitchSignature signature;
        signature.name = item.name;
        signature.branches = item.branches;
        signature.parent_branch = item.parent_branch;
        signature.exclusive = item.exclusive;
        for (std::size_t i = 0; i < signatures.size(); ++i)
            if (signatures[i].name == item.parent) signature.parent = static_cast<int>(i);
        signatures.push_back(std::move(signature));
    }
    return signatures;
}

BatchRouting every_branch(const ImageMeta& meta) {
    BatchRouting routing{meta.batch_samples, {}};
    for (const ImageMeta::Switch& one : meta.switches) {
        const std::uint64_t all = one.branches >= 64 ? UINT64_MAX : (std::uint64_t{1} << one.branches) - 1;
        routing.masks.emplace_back(meta.batch_samples, all);
    }
    return routing;
}

std::vector<std::uint32_t> samples_at(const Image& image, const BatchRouting& routing, std::uint16_t op_id) {
    return IndexListFinder(image, routing).index_list(op_id)->samples.ids();
}

Expectation expect(const Image& image, const BatchRouting& routing) {
    if (routing.samples != image.meta.batch_samples || routing.masks.size() != image.meta.switches.size())
        throw InputError(image.meta.model, 0, "routing",
                         fmt::format("expected {} samples and {} switches, found {} and {}", image.meta.batch_samples,
                                     image.meta.switches.size(), routing.samples, routing.masks.size()));
    Expectation result;
    IndexListFinder finder(image, routing);
    for (std::size_t op = 0; op < image.meta.operators.size(); ++op) {
        const std::uint64_t samples = finder.index_list(static_cast<std::uint16_t>(op))->samples.size();
        result.operator_samples.push_back(samples);
        result.macs += samples * image.meta.operators[op].macs_per_sample;
    }
    for (std::size_t s = 0; s < image.meta.switches.size(); ++s) {
        std::vector<std::uint64_t> counts(image.meta.switches[s].branches, 0);
        for (const std::uint64_t mask : routing.masks[s])
            for (std::size_t branch = 0; branch < counts.size(); ++branch) counts[branch] += mask >> branch & 1;
        result.branch_samples.push_back(std::move(counts));
    }
    return result;
}

}  // namespace switchyard::platform
