// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/design.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::sched {

namespace {

struct NamedMechanism {
    const char* name;
    Mechanism mechanism;
};

/// Which kernels a design samples is for its own parameters to say: resampling and every_kernel have no name here.
constexpr NamedMechanism kNamed[] = {{"frequency_weighting", Mechanism::frequency_weighting},
                                     {"multi_kernel", Mechanism::multi_kernel},
                                     {"pipelining", Mechanism::pipelining},
                                     {"grouping", Mechanism::grouping},
                                     {"sharing", Mechanism::sharing},
                                     {"compaction", Mechanism::compaction},
                                     {"routing", Mechanism::routing}};

}  // namespace

Design::Design(std::string name, std::initializer_list<Mechanism> mechanisms) : name_(std::move(name)) {
    for (const Mechanism mechanism : mechanisms) mechanisms_.set(static_cast<std::size_t>(mechanism));
}

Design Design::without(const std::vector<std::string>& names) const {
    Design rest = *this;
    const auto drop = [&rest](Mechanism mechanism) { rest.mechanisms_.reset(static_cast<std::size_t>(mechanism)); };
    for (const std::string& name : names) {
        const auto* const found = std::find_if(std::begin(kNamed), std::end(kNamed),
                                               [&name](const NamedMechanism& one) { return name == one.name; });
        if (found == std::end(kNamed)) throw InputError("mechanism: " + not_one_of(name, mechanism_names()));
        if (!rest.has(found->mechanism)) {
            std::vector<std::string> left;
            for (const NamedMechanism& one : kNamed)
                if (rest.has(one.mechanism)) left.emplace_back(one.name);
            throw InputError(fmt::format("design {}: expected a mechanism that the design has ({}), found {}", name_,
                                         left.empty() ? "none" : fmt::format("{}", fmt::join(left, ", ")), name));
        }
        drop(found->mechanism);
    }
    if (!rest.has(Mechanism::routing)) {  // what lives on samples that take different branches
        for (const Mechanism needy : {Mechanism::grouping, Mechanism::sharing, Mechanism::compaction}) drop(needy);
    }
    return rest;
}

Design Design::invoking(Invocation invocation) const {
    Design result = *this;
    if (invocation == Invocation::micro_batch) return result;
    if (!has(Mechanism::routing))
        throw InputError(fmt::format(
            "design {}: expected invocation micro_batch, as without routing all micro-batches are alike, found batch; "
            "take a design that routes samples",
            name_));
    result.mechanisms_.set(static_cast<std::size_t>(Mechanism::batch_invocation));
    return result;
}

Design Design::routing(SampleRouting routing) const {
    Design result = *this;
    if (routing == SampleRouting::sorted_reload) return result;
    if (!has(Mechanism::batch_invocation))
        throw InputError(fmt::format(
            "design {}: expected invocation batch for sample routing on_chip, found micro_batch; give invocation batch",
            name_));
    result.mechanisms_.set(static_cast<std::size_t>(Mechanism::packing));
    for (const Mechanism replaced : {Mechanism::compaction, Mechanism::sharing})
        result.mechanisms_.reset(static_cast<std::size_t>(replaced));
    return result;
}

SampleRouting parse_sample_routing(const std::string& name) {
    const auto found = std::find(kSampleRoutings.begin(), kSampleRoutings.end(), name);
    if (found == kSampleRoutings.end()) throw InputError("routing: " + not_one_of(name, kSampleRoutings));
    return static_cast<SampleRouting>(found - kSampleRoutings.begin());
}

Invocation parse_invocation(const std::string& name) {
    const auto found = std::find(kInvocations.begin(), kInvocations.end(), name);
    if (found == kInvocations.end()) throw InputError("invocation: " + not_one_of(name, kInvocations));
    return static_cast<Invocation>(found - kInvocations.begin());
}

const std::vector<Design>& designs() {
    using M = Mechanism;
    static const std::vector<Design> kKnown{
        {"adyna",
         {M::frequency_weighting, M::multi_kernel, M::resampling, M::pipelining, M::grouping, M::sharing, M::compaction,
          M::routing}},
        {"adyna-static",
         {M::frequency_weighting, M::multi_kernel, M::pipelining, M::grouping, M::compaction, M::routing}},
        {"full-kernel",
         {M::frequency_weighting, M::multi_kernel, M::every_kernel, M::pipelining, M::grouping, M::sharing,
          M::compaction, M::routing}},
        {"real-time",
         {M::frequency_weighting, M::multi_kernel, M::every_kernel, M::pipelining, M::grouping, M::sharing,
          M::compaction, M::routing}},
        {"m-tile", {M::pipelining}},
    };
    return kKnown;
}

const Design& find_design(const std::string& name) {
    std::vector<std::string> names;
    for (const Design& design : designs()) {
        if (name == design.name()) return design;
        names.push_back(design.name());
    }
    throw InputError("design: " + not_one_of(name, names));
}

Design design_of(const ImageMeta& meta) {
    return find_design(meta.design)
        .without(meta.without)
        .invoking(parse_invocation(meta.invocation))
        .routing(parse_sample_routing(meta.routing));
}

std::vector<std::string> mechanism_names() {
    std::vector<std::string> names;
    for (const NamedMechanism& one : kNamed) names.emplace_back(one.name);
    return names;
}

}  // namespace switchyard::sched
