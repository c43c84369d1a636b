// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "experiment_text.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Lines 1 to 8 are kHead.
void refused(const std::string& text, const std::string& message) {
    INFO(text);
    CHECK_THROWS_WITH(experiment_of(text), ContainsSubstring("experiment.yaml:" + message));
}

void refused_figure(const std::string& figure, const std::string& message) {
    refused(std::string(kHead) + "sweep: {key: batch_size, values: [1, 2], designs: adyna}\nfigures:\n  - {" + figure +
                "}\n",
            message);
}

}  // namespace

TEST_CASE("an experiment file is read", "[experiment]") {
    const Experiment read = experiment_of(
        "name: e\n"
        "title: An experiment\n"
        "platform: configs/platforms/mini.yaml\n"
        "set: {chip.impl: auto}\n"
        "batches: 4\n"
        "seed: 7\n"
        "networks:\n"
        "  - a/moe.yaml\n"
        "  - {file: a/other.yaml, name: second, trace: t/routes.jsonl}\n"
        "  - file: a/third.yaml\n"
        "    phases: [{from_batch: 2, probability: [0.5, 0.5]}]\n"
        "designs:\n"
        "  - m-tile\n"
        "  - {design: adyna, name: wide, set: {noc.link_bytes_per_cycle: 384, sampling: uniform}}\n"
        "sweep: {key: batch_size, values: [1, 2], designs: [m-tile], label: images}\n"
        "figures:\n"
        "  - name: f\n"
        "    kind: lines\n"
        "    across: sweep\n"
        "    series: network\n"
        "    designs: m-tile\n"
        "    measure: a.b\n"
        "    over: wide\n"
        "    scale: 100\n"
        "    crossing: 1\n"
        "    marks: [{x: 1.5, text: here}]\n"
        "    source: a paper\n"
        "    published:\n"
        "      - {sweep: 2, mean: 1.5, max: 2, networks: {second: 1.25}}\n"
        "      - {crossing: 1.75, source: another}\n");
    CHECK(read.title == "An experiment");
    CHECK(read.platform == "configs/platforms/mini.yaml");
    CHECK(read.set.at("chip.impl") == "auto");
    CHECK(read.batches == 4);
    CHECK(read.seed == 7);
    REQUIRE(read.networks.size() == 3);
    CHECK(read.networks[0].name == "moe");
    CHECK(read.networks[0].file == "a/moe.yaml");
    CHECK(read.networks[1].name == "second");
    CHECK(read.networks[1].trace == "t/routes.jsonl");
    REQUIRE(read.networks[2].phases.size() == 1);
    CHECK(read.networks[2].phases[0].from_batch == 2);
    CHECK(read.design("wide").design == "adyna");
    CHECK(read.design("wide").set.size() == 2);
    CHECK_FALSE(read.design("wide").swept);
    CHECK(read.design("m-tile").swept);
    REQUIRE(read.sweep);
    CHECK(read.sweep->values == std::vector<std::string>{"1", "2"});

    REQUIRE(read.figures.size() == 1);
    const FigureSpec& figure = read.figures[0];
    CHECK(figure.title == "f");
    CHECK(figure.kind == FigureSpec::Kind::lines);
    CHECK(figure.across == Dimension::sweep);
    CHECK(figure.series == Dimension::network);
    CHECK(figure.networks == std::vector<std::string>{"moe", "second", "third"});
    CHECK(figure.label == "a.b, relative to wide");
    CHECK(figure.scale == 100);
    CHECK(figure.crossing == 1.0);
    CHECK(figure.marks.at(0).text == "here");
    REQUIRE(figure.published.size() == 2);
    CHECK(figure.published[0].design == "m-tile");
    CHECK(figure.published[0].over == "wide");
    CHECK(figure.published[0].sweep == "2");
    CHECK(figure.published[0].networks.at("second") == 1.25);
    CHECK(figure.published[0].source == "a paper");
    CHECK(figure.published[1].crossing == 1.75);
    CHECK(figure.published[1].source == "another");
}

TEST_CASE("a quoted empty text is a value of a key that is set", "[experiment]") {
    const std::string file = std::string(kHead) + "set: {hbm.device: \"\"}\n" + kFigures;
    CHECK(experiment_of(file).set.at("hbm.device").empty());
    refused(replaced(file, "\"\"", ""), "9: set.hbm.device: ");
}

TEST_CASE("what is wrong with an experiment file is named with its line", "[experiment][bad]") {
    const std::string good = std::string(kHead) + kFigures;
    REQUIRE_NOTHROW(experiment_of(good));
    refused(replaced(good, "batches: 4", "batches: 0"), "3: batches: wants 1 to 1000000, got 0");
    refused(replaced(good, "batches: 4\n", ""), "1: batches: is missing");
    refused(replaced(good, "name: e", "name: e\nnam: x"), "2: nam: unknown key");
    refused(replaced(good, "name: e", "name: e\nset: {batches: 1}"), "2: set.batches: is no key of a platform");
    refused(replaced(good, "early_exit.yaml", "moe.yaml"), "4: networks: two networks are called \"moe\"");
    refused(replaced(good, "adyna-static", "m-tile"), "7: designs: two designs are called \"m-tile\"");
    refused(replaced(good, "{design: adyna,", "{design: adyna, sets: 1,"), "8: designs[2].sets: unknown key");
    refused(replaced(good, kFigures, "figures: []\n"), "9: figures: is empty");
    refused(replaced(good, "name: f,", "name: a/b,"), "10: figures[0].name: wants letters, digits");
    refused(good + "  - {name: f, measure: a}\n", "11: figures[1].name: two figures have this name");
    refused(good + "sweep: {key: a.b, values: [1, 1]}\n", "11: sweep.values: has a value twice");
    refused(good + "sweep: {key: a.b, values: [1], designs: [adjna]}\n",
            "11: sweep.designs: the experiment has no design \"adjna\"");
    refused(good + "sweep: {key: sampling, values: [1], designs: [adyna]}\n",
            "8: designs: design \"adyna\" sets sampling, which is swept");
    refused(replaced(good, "[testbenches/data/moe.yaml,",
                     "[{file: moe.yaml, phases: [{from_batch: 3, seed: 1}, {from_batch: 3, seed: 2}]},"),
            "4: phases.from_batch: phases begin one after another");
    refused(replaced(good, "[testbenches/data/moe.yaml,",
                     "[{file: moe.yaml, trace: t, phases: [{from_batch: 3, seed: 1}]},"),
            "4: networks[0].phases: a trace has no phases");
}

TEST_CASE("a figure names what the experiment has, and leaves nothing open", "[experiment][bad]") {
    refused_figure("name: f", "11: figures[0].measure: is missing");
    refused_figure("name: f, measure: a, kind: pie", "11: figures[0].kind: wants one of bars, stacks, lines");
    refused_figure("name: f, measure: a, over: tile", "11: figures[0].over: the experiment has no design \"tile\"");
    refused_figure("name: f, measure: a, designs: [tile]", "11: figures[0].designs: the experiment has no \"tile\"");
    refused_figure("name: f, measure: a, networks: [tile]", "11: figures[0].networks: the experiment has no \"tile\"");
    refused_figure("name: f, measure: a, across: design", "11: figures[0].series: is the same as across");
    refused_figure("name: f, measure: a", "11: figures[0].designs: \"adyna\" is swept: name the sweep");
    refused_figure("name: f, measure: a, designs: [m-tile], over: adyna", "11: figures[0].designs: \"adyna\" is swept");
    refused_figure("name: f, measure: a, across: sweep", "11: figures[0].networks: choose one");
    refused_figure("name: f, measure: a, series: sweep", "11: figures[0].designs: choose one");
    refused_figure("name: f, measure: a, kind: lines, networks: moe, across: network",
                   "11: figures[0].across: wants one of batch, sweep");
    refused_figure("name: f, measure: a, designs: m-tile, inverse: yes", "11: figures[0].inverse: needs over");
    refused_figure("name: f, measure: a, designs: m-tile, against: b", "11: figures[0].against: is for scatter only");
    refused_figure("name: f, measure: a, kind: scatter, designs: m-tile, networks: moe",
                   "11: figures[0].against: is missing");
    refused_figure("name: f, measure: a, kind: scatter, against: b, over: m-tile, networks: moe",
                   "11: figures[0].over: is not for scatter");
    refused_figure("name: f, measure: a, designs: m-tile, crossing: 1", "11: figures[0].crossing: is for lines only");
    refused_figure("name: f, measure: a, designs: m-tile, kind: lines, networks: moe, every: 0",
                   "11: figures[0].every: wants 1 to 4, got 0");
    refused(std::string(kHead) + kFigures + "  - {name: g, measure: a, series: sweep, designs: adyna}\n",
            "11: figures[1].series: the experiment has no sweep");
    refused(std::string(kHead) + "sweep: {key: a.b, values: [2, 1]}\n" +
                "figures: [{name: f, measure: a, kind: lines, across: sweep, networks: moe}]\n",
            "10: figures[0].across: lines want a sweep of increasing numbers, got 1");
}

TEST_CASE("a published number says what it is of and where it stands", "[experiment][bad]") {
    const auto published = [](const std::string& entry, const std::string& message) {
        refused_figure("name: f, measure: a, designs: [m-tile, adyna-static], published: [{" + entry + "}]",
                       "11: published" + message);
    };
    published("mean: 1, source: s", ".design: is missing");
    published("design: tile, mean: 1, source: s", ".design: the experiment has no design \"tile\"");
    published("design: m-tile, over: tile, mean: 1, source: s", ".over: the experiment has no design \"tile\"");
    published("design: m-tile, source: s", ": wants a number");
    published("design: m-tile, mean: 1", ".source: is missing");
    published("design: m-tile, mean: one, source: s", ".mean: wants a plain number");
    published("design: m-tile, networks: {tile: 1}, source: s", ".networks.tile: the figure has no such network");
    published("design: m-tile, crossing: 1, source: s", ".crossing: the figure asks for none");
    published("design: adyna, mean: 1, source: s", ".sweep: is missing");
    published("design: adyna, sweep: 3, mean: 1, source: s", ".sweep: is no value of the sweep: 3");
}

TEST_CASE("every experiment of the project can be read", "[experiment]") {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator("configs/experiments")) {
        INFO(entry.path());
        const Experiment experiment = read_experiment(entry.path().string(), registry());
        // Schedules are made for 40 batches (network_image.cpp), which are not evaluated. ACE learns from none.
        const bool learns = !experiment.synthetic() &&
                            std::any_of(experiment.designs.begin(), experiment.designs.end(), [](const auto& design) {
                                return registry().system_of_design(design.design).name() == "adyna";
                            });
        CHECK((!learns || experiment.first_batch >= 40));
        CHECK(experiment.name == entry.path().stem());
        CHECK((experiment.synthetic() || std::filesystem::exists(experiment.platform)));
        ++files;
    }
    CHECK(files > 0);
}
