// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include "small_image.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using switchyard::testing::error_of;
using switchyard::testing::TemporaryFile;

namespace {

struct Config {
    unsigned link_bytes_per_cycle = 192;
    std::uint64_t capacity_bytes = 512 * 1024;
    double frequency_ghz = 1.0;
    bool values = false;
    std::string impl = "fast", label = "torus";
};

template <class V>
void describe(V& v, Config& c) {
    v.field("link_bytes_per_cycle", c.link_bytes_per_cycle, 1, 4096, "Bandwidth of a link");
    v.field("capacity_bytes", c.capacity_bytes, 1, 1e18, "Size of the store");
    v.field("frequency_ghz", c.frequency_ghz, 0.001, 10, "Clock");
    v.field("values", c.values, "Compute values");
    v.choice("impl", c.impl, {"fast", "detailed"}, "Model");
    v.field("label", c.label, "Name in reports");
    v.renamed("model", "impl");
}

Config read(const YAML::Node& section, const std::string& file,
            std::map<std::string, std::string>* overrides = nullptr) {
    Config config;
    ConfigReader reader(section, file, "noc", overrides);
    describe(reader, config);
    reader.finish();
    return config;
}

/// The error in a file whose second and following lines are `keys`, behind the file's name.
std::string section_error(const std::string& keys) {
    return error_of([&] { read(YAML::Load("noc:\n" + keys)["noc"], "p.yaml"); });
}

std::string set_error(const std::string& key, const std::string& value) {
    std::map<std::string, std::string> overrides{{key, value}};
    return error_of([&] { read(YAML::Load("{}"), "p.yaml", &overrides); });
}

}  // namespace

TEST_CASE("keys are read, absent ones keep their defaults", "[config]") {
    const Config config = read(YAML::Load("link_bytes_per_cycle: 96\n"
                                          "capacity_bytes: 5000000000\n"
                                          "frequency_ghz: 1.5e0\n"
                                          "values: yes\n"
                                          "impl: detailed\n"
                                          "label: a b\n"),
                               "p.yaml");
    CHECK(config.link_bytes_per_cycle == 96);
    CHECK(config.capacity_bytes == 5000000000);
    CHECK(config.frequency_ghz == 1.5);
    CHECK(config.values);
    CHECK(config.impl == "detailed");
    CHECK(config.label == "a b");

    const YAML::Node file = YAML::Load("other: 1\nempty:\n");
    CHECK(read(file["noc"], "p.yaml").link_bytes_per_cycle == 192);
    CHECK(read(file["empty"], "p.yaml").link_bytes_per_cycle == 192);
}

TEST_CASE("errors name file, line and key", "[config]") {
    CHECK(section_error("  label: x\n  link_bytes: 3\n") ==
          "p.yaml:3: noc.link_bytes: expected one of capacity_bytes, frequency_ghz, impl, label, link_bytes_per_cycle, "
          "values, found link_bytes");
    CHECK(section_error("  label: x\n  label: y\n") == "p.yaml:3: noc.label: expected the key once, found it twice");
    CHECK(section_error("  capacity_bytes: 32 kB\n") ==
          "p.yaml:2: noc.capacity_bytes: expected a plain integer in bytes, found \"32 kB\"");
    CHECK(section_error("  label: x\n  link_bytes_per_cycle: 1.5\n") ==
          "p.yaml:3: noc.link_bytes_per_cycle: expected a plain integer in bytes per cycle, found \"1.5\"");
    CHECK(section_error("  link_bytes_per_cycle: 1e3\n") ==
          "p.yaml:2: noc.link_bytes_per_cycle: expected a plain integer in bytes per cycle, found \"1e3\"");
    CHECK(section_error("  link_bytes_per_cycle: [1, 2]\n") ==
          "p.yaml:2: noc.link_bytes_per_cycle: expected a plain integer in bytes per cycle, found a list");
    CHECK(section_error("  link_bytes_per_cycle:\n") ==
          "p.yaml:2: noc.link_bytes_per_cycle: expected a plain integer in bytes per cycle, found nothing");
    CHECK(section_error("  frequency_ghz: 1 GHz\n") ==
          "p.yaml:2: noc.frequency_ghz: expected a plain number in GHz, found \"1 GHz\"");
    CHECK(section_error("  values: maybe\n") == "p.yaml:2: noc.values: expected yes or no, found \"maybe\"");
    CHECK(section_error("  impl: rtl\n") == "p.yaml:2: noc.impl: expected one of fast, detailed, found \"rtl\"");
    CHECK(section_error("  impl: {}\n") == "p.yaml:2: noc.impl: expected one of fast, detailed, found a mapping");
    CHECK(section_error("  label: [x]\n") == "p.yaml:2: noc.label: expected text, found a list");
    CHECK(section_error("  - 1\n") == "p.yaml:2: noc: expected a mapping of keys, found a list");
    CHECK(section_error("  3\n") == "p.yaml:2: noc: expected a mapping of keys, found \"3\"");
    CHECK(section_error("  [1]: 3\n") == "p.yaml:2: noc: expected text as a key, found a list");
}

TEST_CASE("values out of range name the range", "[config]") {
    CHECK(section_error("  link_bytes_per_cycle: 0\n") ==
          "p.yaml:2: noc.link_bytes_per_cycle: expected 1 to 4096 in bytes per cycle, found 0");
    CHECK(section_error("  link_bytes_per_cycle: 4097\n") ==
          "p.yaml:2: noc.link_bytes_per_cycle: expected 1 to 4096 in bytes per cycle, found 4097");
    CHECK(section_error("  link_bytes_per_cycle: -5\n") ==
          "p.yaml:2: noc.link_bytes_per_cycle: expected 1 to 4096 in bytes per cycle, found -5");
    CHECK(section_error("  link_bytes_per_cycle: 99999999999999999999\n") ==
          "p.yaml:2: noc.link_bytes_per_cycle: expected 1 to 4096 in bytes per cycle, found 99999999999999999999");
    CHECK(section_error("  frequency_ghz: 1e-4\n") ==
          "p.yaml:2: noc.frequency_ghz: expected 0.001 to 10 in GHz, found 1e-4");
    CHECK(section_error("  frequency_ghz: inf\n") ==
          "p.yaml:2: noc.frequency_ghz: expected 0.001 to 10 in GHz, found inf");
}

TEST_CASE("overrides win over the file and are used up", "[config]") {
    std::map<std::string, std::string> overrides{
        {"noc.link_bytes_per_cycle", "96"}, {"noc.impl", "detailed"}, {"noc.vcs", "4"}, {"hbm.label", "x"}};
    const Config config = read(YAML::Load("link_bytes_per_cycle: 48\nlabel: kept\n"), "p.yaml", &overrides);
    CHECK(config.link_bytes_per_cycle == 96);
    CHECK(config.impl == "detailed");
    CHECK(config.label == "kept");
    CHECK(overrides == std::map<std::string, std::string>{{"noc.vcs", "4"}, {"hbm.label", "x"}});

    CHECK(set_error("noc.capacity_bytes", "1 MB") ==
          "--set: noc.capacity_bytes: expected a plain integer in bytes, found \"1 MB\"");
    CHECK(set_error("noc.impl", "rtl") == "--set: noc.impl: expected one of fast, detailed, found \"rtl\"");
    CHECK(set_error("noc.capacity_bytes", "") ==
          "--set: noc.capacity_bytes: expected a plain integer in bytes, found \"\"");
}

TEST_CASE("keys describe themselves", "[config]") {
    std::vector<KeyDescription> keys;
    Config config;
    ConfigReader reader(YAML::Load("link_bytes_per_cycle: 96\n"), "p.yaml", "noc", nullptr, &keys);
    describe(reader, config);
    REQUIRE(keys.size() == 6);
    CHECK(keys[0].key == "noc.link_bytes_per_cycle");
    CHECK(keys[0].type == "integer");
    CHECK(keys[0].default_value == "192");
    CHECK(keys[0].range == "1 to 4096");
    CHECK(keys[0].text == "Bandwidth of a link");
    CHECK(keys[1].range == "1 to 1e+18");
    CHECK(keys[2].type == "number");
    CHECK(keys[2].default_value == "1");
    CHECK(keys[3].type == "yes/no");
    CHECK(keys[3].default_value == "no");
    CHECK(keys[4].type == "choice(fast|detailed)");
    CHECK(keys[5].type == "text");
}

TEST_CASE("files that are no YAML", "[config]") {
    CHECK(error_of([] { load_yaml("/nowhere/p.yaml"); }) ==
          "/nowhere/p.yaml: cannot be read: No such file or directory");
    CHECK(error_of([] { load_yaml("/tmp"); }) == "/tmp: expected a file, found a directory");
    const TemporaryFile file("a: 1\nb: [1\nc: 2\n");
    CHECK_THAT(error_of([&] { load_yaml(file.path()); }),
               Catch::Matchers::StartsWith(file.path() + ":3: expected YAML, found "));
    const TemporaryFile good("a: 1\nb:\n  c: 2\n");
    CHECK(line_of(load_yaml(good.path())["b"]["c"]) == 3);
    CHECK(line_of(load_yaml(good.path())["x"]) == 0);
}

TEST_CASE("an earlier name of a key is refused with the present one", "[config]") {
    CHECK(section_error("  model: fast\n") == "p.yaml:2: noc.model: expected the key noc.impl, found its earlier name");
    CHECK(set_error("noc.model", "fast") == "--set: noc.model: expected the key noc.impl, found its earlier name");
    CHECK_THAT(section_error("  modell: fast\n"), !Catch::Matchers::ContainsSubstring("model,"));
}

TEST_CASE("the nearest known word is suggested for a mistyped one", "[config]") {
    const std::vector<std::string> known = {"columns", "rows", "clock_ghz"};
    CHECK(switchyard::suggestion("colums", known) == "; did you mean columns?");
    CHECK(switchyard::suggestion("rosw", known) == "; did you mean rows?");
    CHECK(switchyard::suggestion("colock_gzh", known) == "; did you mean clock_ghz?");
    CHECK(switchyard::suggestion("bandwidth", known).empty());
    CHECK(switchyard::suggestion("ro", known).empty());
    CHECK(switchyard::suggestion("", known).empty());
    CHECK(switchyard::suggestion("rows", {}).empty());
}
