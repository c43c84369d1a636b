// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/property/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace switchyard::testing {

using nlohmann::ordered_json;

namespace {

constexpr double kPercent = 100;

bool failed(const ordered_json& result, const char* impl) {
    return result.at(impl).contains("failed") && !result.at(impl).at("failed").empty();
}
bool erred(const ordered_json& result) {
    return result.at("tiles").contains("error") || result.at("stages").contains("error");
}

/// Ranks, equal values sharing their mean one.
std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> result(values.size());
    for (std::size_t i = 0; i < order.size();) {
        std::size_t end = i;
        while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
        for (std::size_t k = i; k < end; ++k) result[order[k]] = static_cast<double>(i + end - 1) / 2;
        i = end;
    }
    return result;
}

/// Spearman's rank correlation.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const std::vector<double> x = ranks(a), y = ranks(b);
    const auto n = static_cast<double>(x.size());
    const double mean = (n - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

/// The numeric keys of the platform by how far they go along with the difference, over the pairs that set them.
std::string key_rows(const std::vector<ordered_json>& results) {
    constexpr std::size_t kFewest = 30, kShown = 12;
    std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> by_key;
    for (const ordered_json& result : results) {
        if (!result.contains("difference")) continue;
        for (const auto& [key, text] : result.at("platform").items()) {
            const std::string value = text.get<std::string>();
            char* end = nullptr;
            const double number = std::strtod(value.c_str(), &end);
            if (end == value.c_str() || *end != '\0') continue;
            by_key[key].first.push_back(number);
            by_key[key].second.push_back(result.at("difference").get<double>());
        }
    }
    std::vector<std::pair<double, std::string>> found;
    for (const auto& [key, values] : by_key)
        if (values.first.size() >= kFewest) found.emplace_back(correlation(values.first, values.second), key);
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
    std::string text = "  keys by their rank correlation with the difference:\n";
    for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i)
        text += fmt::format("    {:<40}{:+.2f}\n", found[i].second, found[i].first);
    return text;
}

std::string bad_rows(const std::vector<ordered_json>& results) {
    constexpr std::size_t kShown = 30;
    constexpr double kFar = 0.2;
    std::vector<std::string> rows;
    for (const ordered_json& result : results) {
        std::string what;
        for (const char* impl : {"tiles", "stages"}) {
            if (result.at(impl).contains("error"))
                what += fmt::format(" {}: {};", impl, result.at(impl).at("error").get<std::string>());
            if (failed(result, impl)) {
                const ordered_json& check = result.at(impl).at("failed").front();
                what += fmt::format(" {}: {}: {:g} of {:g};", impl, check.at("name").get<std::string>(),
                                    check.at("got").get<double>(), check.at("expected").get<double>());
            }
        }
        const double difference = result.value("difference", 0.0);
        if (std::abs(difference) > kFar) what += fmt::format(" difference {:+.1f} %;", kPercent * difference);
        if (!what.empty())
            rows.push_back(fmt::format("    --seed {}:{}\n", result.at("seed").get<std::uint64_t>(), what));
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) text += rows[i];
    if (rows.size() > kShown) text += fmt::format("    and {} more (--json)\n", rows.size() - kShown);
    return text.empty() ? "" : "  pairs to look at:\n" + text;
}

}  // namespace

Summary summary_of(const std::vector<ordered_json>& results) {
    constexpr double kFar = 0.2;
    Summary summary;
    summary.pairs = results.size();
    std::vector<double> distances;
    for (const ordered_json& result : results) {
        summary.errors += erred(result) ? 1 : 0;
        summary.tiles_failed += failed(result, "tiles") ? 1 : 0;
        summary.stages_failed += failed(result, "stages") ? 1 : 0;
        if (result.contains("difference")) distances.push_back(std::abs(result.at("difference").get<double>()));
    }
    if (distances.empty()) return summary;
    std::sort(distances.begin(), distances.end());
    const auto at = [&](double share) {
        return distances[static_cast<std::size_t>(share * static_cast<double>(distances.size() - 1))];
    };
    summary.median = at(0.5);
    summary.percentile_95 = at(0.95);
    summary.worst = distances.back();
    summary.over_20_percent = static_cast<std::size_t>(
        std::count_if(distances.begin(), distances.end(), [](double distance) { return distance > kFar; }));
    return summary;
}

std::vector<ordered_json> validated(const std::vector<ordered_json>& results) {
    std::vector<ordered_json> inside;
    std::copy_if(results.begin(), results.end(), std::back_inserter(inside), [](const ordered_json& result) {
        const ordered_json& stages = result.at("stages");
        return stages.contains("validation") && stages.at("validation").at("outside").empty();
    });
    return inside;
}

ordered_json to_json(const Summary& s) {
    return {{"pairs", s.pairs},
            {"errors", s.errors},
            {"tiles_conservation_failed", s.tiles_failed},
            {"stages_conservation_failed", s.stages_failed},
            {"over_20_percent", s.over_20_percent},
            {"median", s.median},
            {"percentile_95", s.percentile_95},
            {"worst", s.worst}};
}

std::string summary_text(const std::vector<ordered_json>& results) {
    const auto row = [](const char* name, const Summary& s) {
        return fmt::format(
            "  {:<10} {:>5} pairs: median {:.2f} %, 95th percentile {:.2f} %, worst {:.2f} %, {} over 20 %\n", name,
            s.pairs, kPercent * s.median, kPercent * s.percentile_95, kPercent * s.worst, s.over_20_percent);
    };
    const Summary s = summary_of(results);
    return fmt::format("  {} errors, conservation failed: tiles {}, stages {}\n", s.errors, s.tiles_failed,
                       s.stages_failed) +
           "  latency of a batch, stages against tiles:\n" + row("all", s) +
           row("validated", summary_of(validated(results))) + key_rows(results) + bad_rows(results);
}

}  // namespace switchyard::testing
