// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/suggestion.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace switchyard {

namespace {

/// Characters to change, insert, delete or swap with their neighbours (optimal string alignment).
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            const std::size_t change = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            cost[i][j] = std::min({change, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a.size()][b.size()];
}

}  // namespace

std::string suggestion(const std::string& mistyped, const std::vector<std::string>& known) {
    std::string nearest;
    std::size_t fewest = mistyped.size() / 3;
    for (const std::string& word : known) {
        const std::size_t wrong = distance(mistyped, word);
        if (wrong > fewest || (wrong == fewest && !nearest.empty())) continue;
        fewest = wrong;
        nearest = word;
    }
    return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

std::string not_one_of(const std::string& word, const std::vector<std::string>& known) {
    return fmt::format("expected one of {}, found {}{}", fmt::join(known, ", "), word.empty() ? "nothing" : word,
                       suggestion(word, known));
}

}  // namespace switchyard
