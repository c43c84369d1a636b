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
    refused(replaced(good, "batches: 4", "batches: 0"), "3: batches: expected 1 to 1000000, found 0");
    refused(replaced(good, "batches: 4\n", ""), "1: batches: expected a value, found nothing");
    refused(replaced(good, "name: e", "name: e\nnam: x"), "2: nam: expected one of batches, command, designs, ");
    refused(replaced(good, "name: e", "name: e\nset: {batches: 1}"),
            "2: set.batches: expected a key of a platform, SECTION.KEY, found \"batches\"");
    refused(replaced(good, "early_exit.yaml", "moe.yaml"),
            "4: networks: expected different names of networks, found \"moe\" twice");
    refused(replaced(good, "adyna-static", "m-tile"),
            "7: designs: expected different names of designs, found \"m-tile\" twice");
    refused(replaced(good, "{design: adyna,", "{design: adyna, sets: 1,"),
            "8: designs[2].sets: expected one of design, name, platform, set, found sets; did you mean set?");
    refused(replaced(good, kFigures, "figures: []\n"), "9: figures: expected a value, found nothing");
    refused(replaced(good, "name: f,", "name: a/b,"),
            "10: figures[0].name: expected a file name of letters, digits, '_', '-' and '.', found \"a/b\"");
    refused(good + "  - {name: f, measure: a}\n",
            "11: figures[1].name: expected a name for each figure, found this one twice");
    refused(good + "sweep: {key: a.b, values: [1, 1]}\n",
            "11: sweep.values: expected each value once, found one twice");
    refused(good + "sweep: {key: a.b, values: [1], designs: [adjna]}\n",
            "11: sweep.designs: expected a design of the experiment, found \"adjna\"");
    refused(good + "sweep: {key: sampling, values: [1], designs: [adyna]}\n",
            "8: designs: expected a key that is not swept, found sampling, which design \"adyna\" sets");
    refused(replaced(good, "[testbenches/data/moe.yaml,",
                     "[{file: moe.yaml, phases: [{from_batch: 3, seed: 1}, {from_batch: 3, seed: 2}]},"),
            "4: phases.from_batch: expected more than the 3 of the phase before it, found 3");
    refused(replaced(good, "[testbenches/data/moe.yaml,",
                     "[{file: moe.yaml, trace: t, phases: [{from_batch: 3, seed: 1}]},"),
            "4: networks[0].phases: expected no phases beside a trace, found some");
}

TEST_CASE("a figure names what the experiment has, and leaves nothing open", "[experiment][bad]") {
    refused_figure("name: f", "11: figures[0].measure: expected a value, found nothing");
    refused_figure("name: f, measure: a, kind: pie", "11: figures[0].kind: expected one of bars, stacks, lines");
    refused_figure("name: f, measure: a, over: tile",
                   "11: figures[0].over: expected a design of the experiment, found \"tile\"");
    refused_figure("name: f, measure: a, designs: [tile]",
                   "11: figures[0].designs: expected a name of the experiment, found \"tile\"");
    refused_figure("name: f, measure: a, networks: [tile]",
                   "11: figures[0].networks: expected a name of the experiment, found \"tile\"");
    refused_figure("name: f, measure: a, across: design",
                   "11: figures[0].series: expected another one than across, found the same");
    refused_figure(
        "name: f, measure: a",
        "11: figures[0].designs: expected the sweep in across or series, found neither, and \"adyna\" is swept");
    refused_figure(
        "name: f, measure: a, designs: [m-tile], over: adyna",
        "11: figures[0].designs: expected the sweep in across or series, found neither, and \"adyna\" is swept");
    refused_figure("name: f, measure: a, across: sweep",
                   "11: figures[0].networks: expected one, or their key in across or series, found several");
    refused_figure("name: f, measure: a, series: sweep",
                   "11: figures[0].designs: expected one, or their key in across or series, found several");
    refused_figure("name: f, measure: a, kind: lines, networks: moe, across: network",
                   "11: figures[0].across: expected one of batch, sweep");
    refused_figure("name: f, measure: a, designs: m-tile, inverse: yes",
                   "11: figures[0].inverse: expected over beside it, found none");
    refused_figure("name: f, measure: a, designs: m-tile, against: b",
                   "11: figures[0].against: expected for scatter only, found for another kind");
    refused_figure("name: f, measure: a, kind: scatter, designs: m-tile, networks: moe",
                   "11: figures[0].against: expected a value, found nothing");
    refused_figure("name: f, measure: a, kind: scatter, against: b, over: m-tile, networks: moe",
                   "11: figures[0].over: expected for other kinds than scatter, found for scatter");
    refused_figure("name: f, measure: a, designs: m-tile, crossing: 1",
                   "11: figures[0].crossing: expected for lines only, found for another kind");
    refused_figure("name: f, measure: a, designs: m-tile, kind: lines, networks: moe, every: 0",
                   "11: figures[0].every: expected 1 to 4, found 0");
    refused(std::string(kHead) + kFigures + "  - {name: g, measure: a, series: sweep, designs: adyna}\n",
            "11: figures[1].series: expected a sweep of the experiment, found none");
    refused(std::string(kHead) + "sweep: {key: a.b, values: [2, 1]}\n" +
                "figures: [{name: f, measure: a, kind: lines, across: sweep, networks: moe}]\n",
            "10: figures[0].across: expected a sweep of increasing numbers for lines, found 1");
}

TEST_CASE("a published number says what it is of and where it stands", "[experiment][bad]") {
    const auto published = [](const std::string& entry, const std::string& message) {
        refused_figure("name: f, measure: a, designs: [m-tile, adyna-static], published: [{" + entry + "}]",
                       "11: published" + message);
    };
    published("mean: 1, source: s", ".design: expected a value, found nothing");
    published("design: tile, mean: 1, source: s", ".design: expected a design of the experiment, found \"tile\"");
    published("design: m-tile, over: tile, mean: 1, source: s",
              ".over: expected a design of the experiment, found \"tile\"");
    published("design: m-tile, source: s", ": expected one of mean, max, networks, line and crossing, found none");
    published("design: m-tile, mean: 1", ".source: expected a value, found nothing");
    published("design: m-tile, mean: one, source: s", ".mean: expected a plain number");
    published("design: m-tile, networks: {tile: 1}, source: s",
              ".networks.tile: expected a network of the figure, found \"tile\"");
    published("design: m-tile, crossing: 1, source: s", ".crossing: expected crossing: yes in the figure, found none");
    published("design: adyna, mean: 1, source: s", ".sweep: expected a value, found nothing");
    published("design: adyna, sweep: 3, mean: 1, source: s", ".sweep: expected a value of the sweep, found 3");
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
