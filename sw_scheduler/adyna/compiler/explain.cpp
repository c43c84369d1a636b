// SPDX-License-Identifier: Apache-2.0
// The text of `sy-sched inspect`.

#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"

namespace switchyard::sched {

namespace {

using nlohmann::ordered_json;
using Text = std::back_insert_iterator<std::string>;

std::string text_of(const ordered_json& object, const char* key) {
    return object.at(key).get<std::string>();
}
unsigned number_of(const ordered_json& object, const char* key) {
    return object.at(key).get<unsigned>();
}

/// "0-3,7": runs of consecutive numbers.
std::string ranges(const ordered_json& numbers) {
    const auto sorted = numbers.get<std::set<unsigned>>();
    std::string text;
    for (auto it = sorted.begin(); it != sorted.end();) {
        const unsigned first = *it;
        unsigned last = first;
        while (++it != sorted.end() && *it == last + 1) last = *it;
        text += fmt::format("{}{}{}", text.empty() ? "" : ",", first, last == first ? "" : fmt::format("-{}", last));
    }
    return text;
}

std::string block_text(const ordered_json& block) {
    return fmt::format("n{} k{} p{} q{}", number_of(block, "n"), number_of(block, "k"), number_of(block, "p"),
                       number_of(block, "q"));
}

/// Whose tiles an operator uses too, and how many of them in each allocation.
void explain_sharing(Text& out, const ordered_json& op) {
    std::vector<std::string> others;
    for (const ordered_json& other : op.at("shares"))
        others.push_back(fmt::format("{} tiles with {}", number_of(other, "tiles"), text_of(other, "operator")));
    const auto allocations = op.at("allocations").get<std::vector<unsigned>>();
    std::string counts;
    for (std::size_t k = 0; k < allocations.size(); ++k)
        counts += fmt::format("{}{}", k == 0 ? "" : k + 1 == allocations.size() ? " or " : ", ", allocations[k]);
    fmt::format_to(out, "    shares {}; uses {}\n", fmt::join(others, ", "), counts);
}

void explain_operator(Text& out, const ordered_json& op) {
    fmt::format_to(out, "  {} {} ({}{}): {} tiles {}, k factors {}\n", number_of(op, "id"), text_of(op, "name"),
                   text_of(op, "kind"), op.contains("switch") ? ", in " + text_of(op, "switch") : "",
                   op.at("tiles").size(), ranges(op.at("tiles")), number_of(op, "k_factor"));
    const auto sharers = op.at("time_shared_with").get<std::vector<std::string>>();
    if (!sharers.empty()) fmt::format_to(out, "    one after another with {}\n", fmt::join(sharers, ", "));
    if (op.contains("shares")) explain_sharing(out, op);
    fmt::format_to(out, "    dyn_dim    n    p   reg                    | pe                     | scratchpad loops\n");
    unsigned allocation = 0;
    for (const ordered_json& kernel : op.at("kernels")) {
        if (number_of(kernel, "allocation") != allocation)
            fmt::format_to(out, "    allocation {}:\n", allocation = number_of(kernel, "allocation"));
        fmt::format_to(out, "    {:>7} {:>4} {:>4}   {:<22} | {:<22} | {}\n", number_of(kernel, "dyn_dim"),
                       number_of(kernel, "n_factor"), number_of(kernel, "p_factor"), block_text(kernel.at("reg")),
                       block_text(kernel.at("pe")), block_text(kernel.at("scratchpad_loops")));
    }
    fmt::format_to(out, "    scratchpad:");
    for (const ordered_json& entry : op.at("scratchpad")) {
        const bool resident = entry.contains("resident") && entry.at("resident").get<bool>();
        fmt::format_to(out, " [{}] {}{} {} x {}{};", number_of(entry, "offset"), text_of(entry, "content"),
                       entry.contains("from") ? " from " + text_of(entry, "from") : "", number_of(entry, "slots"),
                       number_of(entry, "slot_bytes"), resident ? ", resident" : "");
    }
    fmt::format_to(out, "\n");
}

void explain_switches(Text& out, const ordered_json& image) {
    const ordered_json& switches = image.at("switches");
    for (const ordered_json& one : switches) {
        const std::string parent =
            one.contains("parent") ? fmt::format(", in {}.{}", text_of(one, "parent"), number_of(one, "parent_branch"))
                                   : "";
        fmt::format_to(out, "switch {}: {} branches, {}{}\n", text_of(one, "name"), number_of(one, "branches"),
                       one.at("exclusive").get<bool>() ? "one a sample" : "any of them", parent);
    }
    if (!switches.empty())
        fmt::format_to(out, "{} of {} switches are routed on the chip\n", number_of(image, "switches_on_chip"),
                       switches.size());
}

std::string explain_image(const ordered_json& image) {
    std::string text;
    Text out(text);
    fmt::format_to(out, "model {}, design {}, platform {} ({})\n", text_of(image, "model"), text_of(image, "design"),
                   text_of(image, "platform"), text_of(image, "platform_fingerprint"));
    fmt::format_to(out, "{} samples a batch, {} operators, {} switches, {} segments, at most {} kernels a tile\n",
                   number_of(image, "batch_samples"), number_of(image, "operators"), image.at("switches").size(),
                   image.at("segments").size(), number_of(image, "max_kernels_per_tile"));
    if (number_of(image, "batches_in_flight") > 1)
        fmt::format_to(out, "{} batches in flight\n", number_of(image, "batches_in_flight"));
    if (text_of(image, "invocation") != ImageMeta{}.invocation)
        fmt::format_to(out, "kernels are invoked once a {}\n", text_of(image, "invocation"));
    explain_switches(out, image);
    std::size_t number = 0;
    for (const ordered_json& segment : image.at("segments")) {
        const auto order = segment.at("sorted_by").get<std::vector<std::string>>();
        fmt::format_to(out, "segment {}: {} units of {} samples, {} tiles{}{}\n", number++, number_of(segment, "units"),
                       number_of(segment, "unit_samples"), segment.at("tiles").size(),
                       order.empty() ? "" : ", samples sorted by ", fmt::join(order, ", "));
        for (const ordered_json& op : segment.at("operators")) explain_operator(out, op);
    }
    return text;
}

}  // namespace

std::string explain(const Image& image) {
    return explain_image(describe_image(image));
}

}  // namespace switchyard::sched
