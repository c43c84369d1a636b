// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/training_streams/sample_data.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard::sched {

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
    std::ifstream file = open_input(path);
    std::vector<unsigned> lengths;
    std::string line;
    for (int number = 1; read_line(file, line, path, number); ++number) {
        if (line.empty()) continue;
        if (line.size() > 9 || line.find_first_not_of("0123456789") != std::string::npos)
            throw InputError(path, number, "", "no whole number");
        lengths.push_back(static_cast<unsigned>(std::stoul(line)));
        if (lengths.back() == 0) throw InputError(path, number, "", "a length of 0");
    }
    if (lengths.empty()) throw InputError(path, 0, "", "no lengths");
    return lengths;
}

std::vector<TreeOrder> read_trees(const std::string& path) {
    std::ifstream file = open_input(path);
    std::vector<TreeOrder> trees;
    std::string line;
    for (int number = 1; read_line(file, line, path, number); ++number) {
        if (line.empty()) continue;
        TreeOrder tree;
        unsigned roots = 0;
        for (const char c : line) {
            if (c == ' ' || c == '\t') continue;
            if (c != '0' && c != '1') throw InputError(path, number, "", "neither 0 nor 1");
            if (c == '1' && roots < 2) throw InputError(path, number, "", "an inner node without two children");
            roots = c == '1' ? roots - 1 : roots + 1;
            tree.push_back(c == '1' ? 1 : 0);
        }
        if (roots != 1) throw InputError(path, number, "", fmt::format("{} roots instead of one", roots));
        trees.push_back(std::move(tree));
    }
    if (trees.empty()) throw InputError(path, 0, "", "no trees");
    return trees;
}

}  // namespace switchyard::sched
