// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "experiment_text.h"
#include "switchyard/platform/experiment/experiment_report.h"
#include "switchyard/platform/experiment/figure.h"
#include "switchyard/platform/experiment/measure.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;
using Catch::Matchers::ContainsSubstring;
using nlohmann::ordered_json;

namespace {

/// Made up: latencies of m-tile, adyna-static and adyna on two networks.
ordered_json report(double latency, double energy = 1) {
    return {{"ok", true},
            {"summary", {{"latency_us", {{"mean", latency}}}}},
            {"energy", {{"parts_mj", {{"pe", 3 * energy}, {"hbm", energy}}}}},
            {"batches", {{{"us", latency - 1}}, {{"us", latency}}, {{"us", latency + 1}}, {{"us", latency + 4}}}}};
}

/// One result for each point, by `latency(network, design, sweep)`.
template <class Latency>
std::vector<PointResult> results_of(const Experiment& experiment, Latency latency) {
    std::vector<PointResult> results;
    for (const ExperimentPoint& point : points_of(experiment, registry()))
        results.push_back({point, latency(point.network, point.design, point.sweep)});
    return results;
}

/// moe: m-tile 12, adyna-static 8, adyna 6; early_exit: 20, 20, 5.
ordered_json two_networks(const std::string& network, const std::string& design, const std::string&) {
    if (network == "moe") return design == "m-tile" ? report(12, 2) : design == "adyna" ? report(6) : report(8, 4);
    return design == "adyna" ? report(5, 2) : report(20, 1);
}

struct Made {
    Experiment experiment;
    std::vector<PointResult> results;
    Figure figure;
};

template <class Latency>
Made made(const std::string& text, Latency latency) {
    Made all{experiment_of(std::string(kHead) + text), {}, {}};
    all.results = results_of(all.experiment, latency);
    for (const PointResult& result : all.results) check_measures(all.experiment, result);
    all.figure = make_figure(all.experiment.figures[0], all.experiment, all.results);
    return all;
}

/// The same, but adyna does not fit on moe.
Made made_with_gap(const std::string& text) {
    Made all{experiment_of(std::string(kHead) + text), {}, {}};
    all.results = results_of(all.experiment, two_networks);
    for (PointResult& result : all.results) {
        if (result.point.network != "moe" || result.point.design != "adyna") continue;
        result.report = nullptr;
        result.infeasible = "does not fit";
    }
    all.figure = make_figure(all.experiment.figures[0], all.experiment, all.results);
    return all;
}

std::vector<double> row(const Figure& figure, std::size_t series) {
    std::vector<double> values;
    for (const std::vector<double>& value : figure.chart.series[series].values) values.push_back(value.front());
    return values;
}

void check_row(const Figure& figure, std::size_t series, const std::vector<double>& expected) {
    const std::vector<double> got = row(figure, series);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]));
}

}  // namespace

TEST_CASE("a key with dots finds numbers, through lists too", "[experiment]") {
    const ordered_json one = report(5);
    CHECK(numbers_at(one, "summary.latency_us.mean") == std::vector<double>{5});
    CHECK(numbers_at(one, "batches.us") == std::vector<double>{4, 5, 6, 9});
    CHECK(numbers_at(one, "summary.latency_us").empty());
    CHECK(numbers_at(one, "summary.latency.mean").empty());
    CHECK(numbers_at(one, "ok").empty());
    CHECK(numbers_at(one, "summary.latency_us.mean.more").empty());
    const auto parts = parts_at(one, "energy.parts_mj");
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] == std::pair<std::string, double>("pe", 3));
    CHECK(parts_at(one, "energy").empty());
    CHECK(parts_at(one, "batches").empty());
}

TEST_CASE("speedups, their means and the published ones beside them", "[experiment]") {
    const Made all = made(
        "figures:\n"
        "  - name: f\n"
        "    measure: summary.latency_us.mean\n"
        "    over: m-tile\n"
        "    inverse: yes\n"
        "    source: s\n"
        "    published:\n"
        "      - {design: adyna, mean: 1.7, max: 2.3, networks: {moe: 1.9}}\n"
        "      - {design: adyna, over: adyna-static, mean: 1.2}\n",
        two_networks);
    CHECK(all.figure.chart.groups ==
          std::vector<std::string>{"moe", "early_exit", "arithmetic mean", "geometric mean"});
    check_row(all.figure, 0, {1, 1, 1, 1});
    check_row(all.figure, 1, {1.5, 1, 1.25, std::sqrt(1.5)});
    check_row(all.figure, 2, {2, 4, 3, std::sqrt(8.0)});
    const std::vector<std::optional<double>>& hollow = all.figure.chart.series[2].published;
    CHECK(hollow == std::vector<std::optional<double>>{1.9, std::nullopt, 1.7, std::nullopt});
    for (const std::optional<double>& value : all.figure.chart.series[1].published) CHECK_FALSE(value);

    const std::vector<Comparison>& compared = all.figure.comparisons;
    REQUIRE(compared.size() == 4);
    CHECK(compared[0].what == "adyna over m-tile");
    CHECK(compared[0].statistic == "mean");
    CHECK(compared[0].published == 1.7);
    CHECK(*compared[0].ours == Approx(3));
    CHECK(*compared[0].geometric_mean == Approx(std::sqrt(8.0)));
    CHECK(compared[1].statistic == "max");
    CHECK(*compared[1].ours == Approx(4));
    CHECK_FALSE(compared[1].geometric_mean);
    CHECK(compared[2].statistic == "moe");
    CHECK(*compared[2].ours == Approx(2));
    CHECK(compared[3].what == "adyna over adyna-static");
    CHECK(*compared[3].ours == Approx((8.0 / 6 + 4) / 2));
    CHECK(compared[3].source == "s");

    const auto drawn = plots(all.figure);
    REQUIRE(drawn.size() == 2);
    CHECK(drawn[0].first == "f.svg");
    CHECK(drawn[1].first == "f.published.svg");
}

TEST_CASE("values as they are have an arithmetic mean only", "[experiment]") {
    const Made all =
        made("figures: [{name: f, measure: summary.latency_us.mean, scale: 10, designs: adyna}]\n", two_networks);
    CHECK(all.figure.chart.groups == std::vector<std::string>{"moe", "early_exit", "arithmetic mean"});
    check_row(all.figure, 0, {60, 50, 55});
    CHECK(plots(all.figure).size() == 1);
}

TEST_CASE("stacks are parts of the other design's sum", "[experiment]") {
    const Made all =
        made("figures: [{name: f, kind: stacks, measure: energy.parts_mj, over: m-tile, designs: [m-tile, adyna]}]\n",
             two_networks);
    CHECK(all.figure.chart.parts == std::vector<std::string>{"pe", "hbm"});
    const auto& values = all.figure.chart.series[1].values;  // adyna: 3 + 1 of 8, 6 + 2 of 4
    REQUIRE(values.size() == 3);
    CHECK(values[0] == std::vector<double>{0.375, 0.125});
    CHECK(values[1] == std::vector<double>{1.5, 0.5});
    CHECK(values[2] == std::vector<double>{0.9375, 0.3125});
}

TEST_CASE("of a list, bars show the mean", "[experiment]") {
    const Made all = made("figures: [{name: f, measure: batches.us, designs: adyna, networks: moe}]\n", two_networks);
    check_row(all.figure, 0, {(5.0 + 6 + 7 + 10) / 4});
}

TEST_CASE("a part that a design does not have is nothing", "[experiment]") {
    const Made all = made("figures: [{name: f, kind: stacks, measure: energy.parts_mj, networks: moe}]\n",
                          [](const std::string&, const std::string& design, const std::string&) {
                              ordered_json result = report(1);
                              if (design == "adyna") result["energy"]["parts_mj"] = {{"leakage", 5}, {"hbm", 2}};
                              return result;
                          });
    CHECK(all.figure.chart.parts == std::vector<std::string>{"pe", "hbm", "leakage"});
    CHECK(all.figure.chart.series[0].values[0] == std::vector<double>{3, 1, 0});
    CHECK(all.figure.chart.series[2].values[0] == std::vector<double>{0, 2, 5});
}

TEST_CASE("lines over a sweep, their mean and where it crosses", "[experiment]") {
    const Made all = made(
        "sweep: {key: noc.link_cycles, values: [0, 10], designs: adyna, label: cycles}\n"
        "figures:\n"
        "  - name: f\n"
        "    kind: lines\n"
        "    across: sweep\n"
        "    series: network\n"
        "    designs: adyna\n"
        "    measure: summary.latency_us.mean\n"
        "    over: m-tile\n"
        "    inverse: yes\n"
        "    crossing: 1\n"
        "    source: s\n"
        "    published: [{crossing: 3}, {sweep: 10, mean: 0.5}]\n",
        [](const std::string& network, const std::string& design, const std::string& sweep) {
            if (design != "adyna") return report(12);
            return report(sweep == "0" ? (network == "moe" ? 6 : 4) : (network == "moe" ? 24 : 16));
        });
    CHECK(all.figure.chart.x == std::vector<double>{0, 10});
    CHECK(all.figure.chart.group_label == "cycles");
    REQUIRE(all.figure.chart.series.size() == 4);
    check_row(all.figure, 0, {2, 0.5});
    check_row(all.figure, 1, {3, 0.75});
    check_row(all.figure, 2, {2.5, 0.625});
    check_row(all.figure, 3, {std::sqrt(6.0), std::sqrt(0.375)});
    REQUIRE(all.figure.crossings.size() == 4);
    CHECK(*all.figure.crossings[0] == Approx(10 * 1 / 1.5));
    CHECK(*all.figure.crossings[2] == Approx(10 * 1.5 / 1.875));
    REQUIRE(all.figure.comparisons.size() == 2);
    CHECK(all.figure.comparisons[0].statistic == "crossing");
    CHECK(*all.figure.comparisons[0].ours == Approx(8));
    CHECK(*all.figure.comparisons[0].geometric_mean ==
          Approx(10 * (std::sqrt(6.0) - 1) / (std::sqrt(6.0) - std::sqrt(0.375))));
    CHECK(all.figure.comparisons[1].what == "adyna over m-tile, noc.link_cycles 10");
    CHECK(*all.figure.comparisons[1].ours == Approx(0.625));
    CHECK(all.figure.chart.series[2].published[1] == 0.5);
    CHECK(all.figure.chart.published_points.at(0).x == 3);
}

TEST_CASE("bars of a sweep are each divided by their own", "[experiment]") {
    const Made all = made(
        "sweep: {key: batch_size, values: [1, 2], designs: [adyna, m-tile]}\n"
        "figures: [{name: f, series: sweep, designs: adyna, measure: summary.latency_us.mean, over: m-tile}]\n",
        [](const std::string&, const std::string& design, const std::string& sweep) {
            return report(std::stod(sweep.empty() ? "7" : sweep) * (design == "adyna" ? sweep == "1" ? 1 : 3 : 4));
        });
    REQUIRE(all.figure.chart.series.size() == 2);
    CHECK(all.figure.chart.series[0].name == "1");
    check_row(all.figure, 0, {0.25, 0.25, 0.25, 0.25});
    check_row(all.figure, 1, {0.75, 0.75, 0.75, 0.75});
}

TEST_CASE("lines over batches, several together", "[experiment]") {
    const Made all =
        made("figures: [{name: f, kind: lines, measure: batches.us, every: 3, networks: moe, designs: adyna}]\n",
             two_networks);
    CHECK(all.figure.chart.groups == std::vector<std::string>{"0-2", "3"});
    CHECK(all.figure.chart.x == std::vector<double>{1, 3});
    check_row(all.figure, 0, {6, 10});
}

TEST_CASE("a measure that a report does not have is an error with the figure's line", "[experiment][bad]") {
    const auto refused = [](const std::string& figure, const std::string& message) {
        CHECK_THROWS_WITH(made("figures:\n  - {" + figure + "}\n", two_networks), ContainsSubstring(message));
    };
    refused("name: f, measure: summary.latency.mean",
            "experiment.yaml:10: figures.f.measure: moe, m-tile: expected one number under summary.latency.mean of the "
            "report, found none");
    refused("name: f, measure: energy.parts_mj", "expected one number under energy.parts_mj of the report, found none");
    refused("name: f, kind: stacks, measure: energy", "expected one number under energy of the report, found none");
    refused("name: f, kind: lines, networks: moe, measure: summary.latency_us.mean",
            "expected one number under summary.latency_us.mean of the report, found 1");
    refused("name: f, measure: ok", "expected one number under ok of the report, found none");
}

TEST_CASE("a design that another is divided by has no zero", "[experiment][bad]") {
    const auto zero = [](const std::string&, const std::string&, const std::string&) { return report(0); };
    CHECK_THROWS_WITH(
        made(kFigures, zero),
        ContainsSubstring("experiment.yaml:10: figures.f: expected a divisor other than zero, found zero"));
}

TEST_CASE("ratios within the models' stated error are shown as equal", "[experiment]") {
    const auto close = [](const std::string&, const std::string& design, const std::string&) {
        return report(design == "m-tile" ? 10 : design == "adyna" ? 9.5 : 5);
    };
    const std::string figure =
        "figures:\n"
        "  - {name: f, measure: summary.latency_us.mean, over: m-tile, inverse: yes, source: s,\n"
        "     published: [{design: adyna, mean: 1.7}, {design: adyna-static, mean: 1.4}]}\n";
    const Made all = made("model_error: 0.06\n" + figure, close);
    const std::string table = results_table(all.experiment, all.results, {all.figure});
    CHECK_THAT(table, ContainsSubstring("moe                1.00          2.00  equal\n"));
    CHECK_THAT(table, ContainsSubstring("equal: within the models' stated error of 6 %"));
    const ordered_json results = results_json(all.experiment, all.results, {all.figure});
    CHECK(results.at("model_error") == 0.06);
    const ordered_json& comparisons = results.at("figures").at(0).at("comparisons");
    CHECK(comparisons.at(0).at("equal_within_error") == true);
    CHECK(comparisons.at(0).at("ours").get<double>() == Approx(10 / 9.5));
    CHECK(comparisons.at(1).at("equal_within_error") == false);

    const Made none = made(figure, close);
    CHECK_THAT(results_table(none.experiment, none.results, {none.figure}), !ContainsSubstring("equal"));
    CHECK_THROWS_WITH(made("model_error: 2\n" + figure, close), ContainsSubstring("model_error: expected 0 to 1"));
}

TEST_CASE("only ratios of validated points are equal, and the points outside are counted", "[experiment]") {
    const std::string what = GENERATE("stages", "packets", "links");
    const auto outside = [&](ordered_json of) {
        if (what == "stages") of["validation"] = {{"outside", {"link use 0.9, validated up to 0.5"}}};
        if (what == "packets") of["against_flits"] = {{"validated", false}};
        if (what == "links") of["calibrated"] = false;
        return of;
    };
    // adyna is outside on moe, m-tile on early_exit; all ratios are within the error.
    const auto close = [&](const std::string& network, const std::string& design, const std::string&) {
        const ordered_json of = report(design == "m-tile" ? 10 : design == "adyna" ? 9.8 : 9.7);
        const bool is_outside = network == "moe" ? design == "adyna" : design == "m-tile";
        return is_outside ? outside(of) : of;
    };
    const Made all = made(
        "model_error: 0.06\n"
        "figures:\n"
        "  - {name: f, measure: summary.latency_us.mean, over: m-tile, inverse: yes, source: s,\n"
        "     published: [{design: adyna, mean: 1.7}, {design: adyna-static, networks: {moe: 1.4}}]}\n",
        close);
    const std::string table = results_table(all.experiment, all.results, {all.figure});
    INFO(table);
    CHECK_THAT(table, ContainsSubstring("moe                1.00         equal  1.02*\n"));
    CHECK_THAT(table, ContainsSubstring("early_exit        1.00*         1.03*  1.02*\n"));
    CHECK_THAT(table, ContainsSubstring("arithmetic mean   1.00*         1.03*  1.02*\n"));
    CHECK_THAT(table, ContainsSubstring("adyna over m-tile, mean             1.70  1.02*"));
    CHECK_THAT(table, ContainsSubstring("adyna-static over m-tile, moe       1.40  equal"));
    CHECK_THAT(table, ContainsSubstring("*: made of points outside the validated domain of their model, 2 of 6 "));
    const ordered_json results = results_json(all.experiment, all.results, {all.figure});
    CHECK(results.at("points_outside") == 2);
    std::size_t with_reasons = 0;
    for (const ordered_json& point : results.at("points")) with_reasons += point.contains("outside") ? 1 : 0;
    CHECK(with_reasons == 2);
    const ordered_json& figure = results.at("figures").at(0);
    CHECK(figure.at("series").at(1).at("validated") == ordered_json{true, false, false, false});
    CHECK(figure.at("comparisons").at(0).at("validated") == false);
    CHECK(figure.at("comparisons").at(0).at("equal_within_error") == false);
    CHECK(figure.at("comparisons").at(1).at("equal_within_error") == true);
}

TEST_CASE("results and table hold every number", "[experiment]") {
    const Made all = made(std::string(kFigures).insert(std::string(kFigures).size() - 2,
                                                       ", source: s, published: [{design: adyna, mean: 1.7}]"),
                          two_networks);
    const ordered_json results = results_json(all.experiment, all.results, {all.figure});
    CHECK(results.at("ok") == true);
    CHECK(results.at("points").size() == 6);
    CHECK(results.at("points")[2].at("report") == report(6));
    CHECK(results.at("points")[2].at("set") == ordered_json{{"sampling", "profile"}});
    const ordered_json& figure = results.at("figures").at(0);
    CHECK(figure.at("groups").size() == 4);
    CHECK(figure.at("series").at(2).at("values").at(1) == 4);
    CHECK(figure.at("series").at(2).at("published").at(2) == 1.7);
    CHECK(figure.at("comparisons").at(0).at("ours") == 3);

    const std::string table = results_table(all.experiment, all.results, {all.figure});
    CHECK_THAT(table, ContainsSubstring("early_exit         1.00          1.00   4.00\n"));
    CHECK_THAT(table, ContainsSubstring("adyna over m-tile, mean       1.70  3.00                  2.83\n"));

    Made failed = all;
    failed.results[4].report["ok"] = false;
    failed.results[4].report["conservation"] = {
        {{"name", "a held one"}, {"relation", "equal"}, {"expected", 1}, {"got", 1}, {"ok", true}},
        {{"name", "lost bytes"}, {"relation", "equal"}, {"expected", 3}, {"got", 4}, {"ok", false}}};
    failed.results[3].report["validation"] = {{"chip", "stages"}, {"outside", {"waits 0.9, validated up to 0.5"}}};
    CHECK(results_json(failed.experiment, failed.results, {}).at("ok") == false);
    CHECK_THAT(results_table(failed.experiment, failed.results, {}),
               ContainsSubstring("FAILED") &&
                   ContainsSubstring("early_exit, adyna-static: lost bytes: wants equal 3, got 4\n") &&
                   ContainsSubstring("outside the validated domain of their model, 1 of 6"));
}

TEST_CASE("a point that does not fit is a gap in all that is made of it", "[experiment]") {
    const Made made = made_with_gap(
        "figures:\n"
        "  - {name: f, measure: summary.latency_us.mean, over: m-tile, inverse: yes,\n"
        "     published: [{design: adyna, mean: 2, networks: {moe: 2, early_exit: 4}, source: nobody}]}\n");
    const std::vector<Chart::Series>& series = made.figure.chart.series;
    REQUIRE(series.size() == 3);
    // moe, early_exit, arithmetic and geometric mean
    CHECK(row(made.figure, 0) == std::vector<double>{1, 1, 1, 1});
    CHECK(series[2].values == std::vector<std::vector<double>>{{}, {4}, {}, {}});
    REQUIRE(made.figure.comparisons.size() == 3);
    for (const Comparison& one : made.figure.comparisons)
        CHECK(one.ours.has_value() == (one.statistic == "early_exit"));

    const ordered_json results = results_json(made.experiment, made.results, {made.figure});
    CHECK(results.at("ok") == true);
    CHECK(results.at("figures").at(0).at("series").at(2).at("values").at(0).is_null());
    CHECK(results.at("points").at(2).at("infeasible") == "does not fit");
    CHECK_THAT(results_table(made.experiment, made.results, {made.figure}),
               ContainsSubstring("gaps (-), points that do not fit their chip:\n  moe, adyna: does not fit\n"));
    CHECK_THAT(plots(made.figure).front().second, ContainsSubstring("adyna, moe: does not fit"));
}

TEST_CASE("what is divided by a gap is a gap, of a stack too", "[experiment]") {
    const Made ratios = made_with_gap("figures:\n  - {name: f, kind: stacks, measure: energy.parts_mj, over: adyna}\n");
    for (const Chart::Series& series : ratios.figure.chart.series) {
        CHECK(series.values[0].empty());
        CHECK(series.values[1].size() == 2);
        CHECK(series.values[2].empty());
    }
    CHECK_THAT(plots(ratios.figure).front().second, ContainsSubstring("moe: does not fit"));
}

TEST_CASE("a scatter figure holds two numbers of each batch side by side", "[experiment]") {
    const std::string text =
        "figures: [{name: f, kind: scatter, measure: batches.us, against: batches.wanted, diagonal: yes, "
        "networks: moe, designs: m-tile}]\n";
    const auto with_wanted = [](const std::string& network, const std::string& design, const std::string& sweep) {
        ordered_json made = two_networks(network, design, sweep);
        for (std::size_t b = 0; b < 4; ++b) made.at("batches").at(b)["wanted"] = 12 + 0.5 * static_cast<double>(b);
        return made;
    };
    const Made all = made(text, with_wanted);
    // m-tile on moe: 11, 12, 13, 16 of 12, 12.5, 13, 13.5 wanted.
    CHECK(all.figure.chart.series.at(0).points ==
          std::vector<std::pair<double, double>>{{12, 11}, {12.5, 12}, {13, 13}, {13.5, 16}});
    const ordered_json json = results_json(all.experiment, all.results, {all.figure}).at("figures").at(0);
    CHECK(json.at("kind") == "scatter");
    CHECK(json.at("against") == "batches.wanted");
    CHECK(json.at("series").at(0).at("diagonal") == ordered_json{{"below", 2}, {"on", 1}, {"above", 1}});
    CHECK_THAT(results_table(all.experiment, all.results, {all.figure}), ContainsSubstring("below the diagonal"));
    // Nothing to hold it against.
    CHECK_THROWS_WITH(made(text, two_networks),
                      ContainsSubstring("figures.f.against: ") &&
                          ContainsSubstring("expected one number under batches.wanted of the report, found none"));
}
