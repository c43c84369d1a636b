// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/training_streams/sample_data.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/text_lines.h"

namespace switchyard::sched {

namespace {

constexpr unsigned kLongest = 999999999;

}  // namespace

unsigned LengthStatistics::draw(RandomSource& random) const {
    constexpr double kNormal90 = 1.2815515655446004;  // 90th percentile of the standard normal distribution
    const double sigma = std::log(p90 / median) / kNormal90;
    const double length = std::round(median * std::exp(sigma * random.normal()));
    return static_cast<unsigned>(std::clamp(length, 1.0, static_cast<double>(most)));
}

TreeOrder draw_tree(unsigned leaves, RandomSource& random) {
    if (leaves <= 1) return {0};
    const unsigned left = leaves / 2 + (leaves > 2 ? random.integer(0, 1) : 0);
    TreeOrder order = draw_tree(left, random);
    const TreeOrder right = draw_tree(leaves - left, random);
    order.insert(order.end(), right.begin(), right.end());
    order.push_back(1);
    return order;
}

unsigned height_of(const TreeOrder& tree) {
    std::vector<unsigned> stack;
    for (const std::uint8_t node : tree) {
        if (node == 0) {
            stack.push_back(0);
            continue;
        }
        const unsigned right = stack.back();
        stack.pop_back();
        stack.back() = std::max(stack.back(), right) + 1;
    }
    return stack.back();
}

std::vector<unsigned> read_lengths(const std::string& path) {
    TextLines lines(path);
    std::vector<unsigned> lengths;
    while (lines.next()) {
        unsigned length = 0;
        if (parse_plain_number(lines.line(), length) != Parsed::ok || length < 1 || length > kLongest)
            lines.fail("", fmt::format("expected a length of 1 to {}, found {}", kLongest, shown(lines.line())));
        lengths.push_back(length);
    }
    if (lengths.empty()) throw InputError(path, 0, "", "expected lengths, found none");
    return lengths;
}

std::vector<TreeOrder> read_trees(const std::string& path) {
    TextLines lines(path);
    std::vector<TreeOrder> trees;
    while (lines.next()) {
        TreeOrder tree;
        unsigned roots = 0;
        for (const char c : lines.line()) {
            if (c == ' ' || c == '\t') continue;
            if (c != '0' && c != '1') lines.fail("", "expected 0 and 1, found " + shown(std::string(1, c)));
            if (c == '1' && roots < 2)
                lines.fail("", fmt::format("expected two children of an inner node, found {}", roots));
            roots = c == '1' ? roots - 1 : roots + 1;
            tree.push_back(c == '1' ? 1 : 0);
        }
        if (roots != 1) lines.fail("", fmt::format("expected one root, found {}", roots));
        trees.push_back(std::move(tree));
    }
    if (trees.empty()) throw InputError(path, 0, "", "expected trees, found none");
    return trees;
}

}  // namespace switchyard::sched
