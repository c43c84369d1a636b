// SPDX-License-Identifier: Apache-2.0
// The readers that all formats share: lines, CSV, JSON, YAML.
#include <functional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/csv.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_reader.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/sections.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/text_lines.h"
#include "switchyard/sw_scheduler/base/words.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

std::string reader_refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

std::vector<std::string> lines_of(const std::string& text) {
    TextLines lines(text, "t", "text");
    std::vector<std::string> found;
    while (lines.next()) found.push_back(lines.line());
    return found;
}

std::string json_refusal(const std::string& text) {
    return reader_refusal([&] { parse_json(text, "f"); });
}

std::string yaml_refusal(const std::string& text) {
    return reader_refusal([&] { parse_yaml(text, "f"); });
}

CsvReader csv(const std::string& text, CsvReader::Header header = CsvReader::Header::required) {
    return {TextLines(text, "f", "CSV"), {"time", "kind", "bytes"}, header};
}

}  // namespace

TEST_CASE("lines are the same with LF, CRLF, a byte order mark and blank lines", "[readers]") {
    const std::vector<std::string> expected{"a b", "c"};
    for (const char* const mark : {"", "\xEF\xBB\xBF"})
        for (const char* const end : {"\n", "\r\n", "\n\n", "\r\n \r\n"})
            for (const bool ended : {true, false}) {
                CAPTURE(mark, end, ended);
                CHECK(lines_of(mark + std::string("a b") + end + "c" + (ended ? end : "")) == expected);
            }
    CHECK(lines_of("").empty());
    CHECK(lines_of("\xEF\xBB\xBF\r\n\n").empty());
}

TEST_CASE("a NUL byte in a line is an error with its place", "[readers]") {
    CHECK(reader_refusal([] { lines_of(std::string("a\nbc\0d\n", 7)); }) ==
          "t:2: expected text, found a NUL byte at byte 3");
    CHECK(reader_refusal([] { lines_of(std::string("\0", 1)); }) == "t:1: expected text, found a NUL byte at byte 1");
}

TEST_CASE("CSV has its header, its fields and its ranges", "[readers]") {
    CsvReader rows = csv("time,kind,bytes\r\n# a comment\r\n1.5,R,64\r\n2,W,0\r\n\r\n");
    REQUIRE(rows.next());
    CHECK(rows.number(0, 0, 10) == 1.5);
    CHECK(rows.one_of(1, {"R", "W"}) == "R");
    CHECK(rows.integer(2, 1, 64) == 64);
    REQUIRE(rows.next());
    CHECK(reader_refusal([&] { rows.integer(2, 1, 64); }) == "f:4: bytes: expected an integer of 1 to 64, found \"0\"");
    CHECK_FALSE(rows.next());
    CHECK(reader_refusal([] { csv("1,R,64\n"); }) == "f:1: header: expected time,kind,bytes, found \"1,R,64\"");
    CHECK(reader_refusal([] { csv("time,bytes,kind\n"); }) ==
          "f:1: header: expected time,kind,bytes, found \"time,bytes,kind\"");
    CHECK(reader_refusal([] { csv("\n"); }) == "f: expected the header time,kind,bytes, found nothing");
    for (const char* const row : {"1,R", "1,R,64,", "1,R,64,5", "1"})
        CHECK_THAT(reader_refusal([&] { csv(row, CsvReader::Header::none).next(); }),
                   StartsWith("f:1: expected 3 fields, time,kind,bytes, found "));
}

TEST_CASE("fields of CSV are decimal and finite", "[readers]") {
    for (const char* const field :
         {"nan", "inf", "-inf", "1e999", "0x10", "010", "", " 1", "1 ", "+1", "1,5", "1;", "--1"}) {
        CAPTURE(field);
        const std::string row = std::string(field) == "1,5" ? "1.5.5" : field;
        CsvReader rows = csv(row + ",R,64", CsvReader::Header::none);
        REQUIRE(rows.next());
        CHECK_THAT(reader_refusal([&] { rows.number(0, 0, 1e14); }),
                   StartsWith("f:1: time: expected a number of 0 to 100000000000000"));
        CHECK_THAT(reader_refusal([&] { rows.integer(0, 0, 100); }),
                   StartsWith("f:1: time: expected an integer of 0 to 100"));
    }
    for (const char* const field : {"-1", "101", "18446744073709551615", "18446744073709551616"}) {
        CsvReader rows = csv(std::string(field) + ",R,64", CsvReader::Header::none);
        REQUIRE(rows.next());
        CHECK_THAT(reader_refusal([&] { rows.integer(0, 0, 100); }),
                   StartsWith("f:1: time: expected an integer of 0 to 100"));
    }
    CsvReader rows = csv("1,X\x1b[31m,64", CsvReader::Header::none);
    REQUIRE(rows.next());
    CHECK(reader_refusal([&] { rows.one_of(1, {"R", "W"}); }) == "f:1: kind: expected R or W, found \"X?[31m\"");
}

TEST_CASE("JSON within JSON ends at a limit that no walker reaches", "[readers]") {
    for (const char* const open : {"[", "{\"a\":", "[{\"a\":", "[ "}) {
        CAPTURE(open);
        for (const int times : {300, 100000}) {
            CHECK_THAT(
                json_refusal(repeated(open, times)),
                StartsWith("f:1: expected at most 256 lists and objects within each other, found more at byte "));
            CHECK_THAT(
                reader_refusal([&] { parse_ordered_json(repeated(open, times), "f"); }),
                StartsWith("f:1: expected at most 256 lists and objects within each other, found more at byte "));
        }
    }
    CHECK(json_refusal(repeated("[", 256) + repeated("]", 256)) == "no error");
    CHECK(json_refusal("\n" + repeated("[", 257) + repeated("]", 257)) ==
          "f:2: expected at most 256 lists and objects within each other, found more at byte 258");
    // Brackets in a text are no nesting.
    CHECK(json_refusal("[\"" + repeated("[\\\"", 300) + "\"]") == "no error");
}

TEST_CASE("a NUL byte ends no JSON", "[readers]") {
    const std::string text = R"({"a": [1, "x\\", 2], "b": true})";
    for (std::size_t at = 0; at <= text.size(); ++at) {
        CAPTURE(at);
        CHECK(json_refusal(text.substr(0, at) + '\0' + text.substr(at)) ==
              "f:1: expected JSON, found a NUL byte at byte " + std::to_string(at + 1));
    }
    CHECK(json_refusal("\xEF\xBB\xBF" + text + "\r\n\r\n") == "no error");
}

TEST_CASE("values of JSON are of their type and in their range", "[readers]") {
    const nlohmann::json document = parse_json(
        R"({"n": 3, "x": -1, "f": 1.5, "t": "a", "big": 18446744073709551615, "l": [1, "b"], "o": {"k": 1}})", "f");
    const JsonReader file(document, "f", 4);
    CHECK(file.member("n").integer(0, 3) == 3);
    CHECK(file.member("big").integer(0, UINT64_MAX) == UINT64_MAX);
    CHECK(file.member("x").signed_integer(-1, 1) == -1);
    CHECK(file.member("o").member("k").integer(1, 1) == 1);
    CHECK(reader_refusal([&] { file.member("n").integer(0, 2); }) == "f:4: n: expected an integer of 0 to 2, found 3");
    CHECK(reader_refusal([&] { file.member("x").integer(0, 2); }) == "f:4: x: expected an integer of 0 to 2, found -1");
    CHECK(reader_refusal([&] { file.member("f").integer(0, 2); }) ==
          "f:4: f: expected an integer of 0 to 2, found 1.5");
    CHECK(reader_refusal([&] { file.member("big").signed_integer(0, 5); }) ==
          "f:4: big: expected an integer of 0 to 5, found 18446744073709551615");
    CHECK(reader_refusal([&] { file.member("t").number(); }) == "f:4: t: expected a number, found \"a\"");
    CHECK(reader_refusal([&] { file.member("l").numbers(); }) == "f:4: l[1]: expected a number, found \"b\"");
    CHECK(reader_refusal([&] { file.member("l").member("k"); }) == "f:4: l: expected an object, found a list of 2");
    CHECK(reader_refusal([&] { file.member("o").text(); }) == "f:4: o: expected a text, found an object");
    CHECK(reader_refusal([&] { file.member("none"); }) == "f:4: none: expected a value, found nothing");
    CHECK(reader_refusal([&] {
              file.allow({"n", "x", "f", "t", "bih", "l", "o"});
          }) == "f:4: big: expected one of n, x, f, t, bih, l, o, found big; did you mean bih?");
    CHECK_THAT(reader_refusal([&] { file.check_format("switchyard-x", 1, "x"); }),
               StartsWith("f:4: format: expected switchyard-x of a x, found nothing"));
}

TEST_CASE("YAML is refused where it would fill the memory or never end", "[readers]") {
    CHECK_THAT(yaml_refusal(repeated("[", 300) + repeated("]", 300)),
               ContainsSubstring("expected at most 256 lists and mappings within each other, found more"));
    CHECK_THAT(yaml_refusal(repeated("[", 100000)), StartsWith("f:1: "));
    CHECK_THAT(yaml_refusal(repeated("- ", 5000) + "a"),
               ContainsSubstring("expected at most 256 lists and mappings within each other, found more"));
    CHECK_THAT(yaml_refusal(repeated("{a: ", 300)),
               ContainsSubstring("expected at most 256 lists and mappings within each other, found more"));
    CHECK(yaml_refusal(repeated("[", 256) + repeated("]", 256)) == "no error");
    std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
    for (char c = 'b'; c < 'h'; ++c)
        bomb += fmt::format(
            "{0}: &{0} [{1}]\n", c,
            fmt::format("*{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}", static_cast<char>(c - 1)));
    CHECK_THAT(yaml_refusal(bomb), ContainsSubstring("expected at most 1000000 values, aliases included, found more"));
    CHECK(yaml_refusal("a: &a [1, *a]\n") ==
          "f:1: a: expected an alias of another node, found one within the node that it stands for");
    CHECK(yaml_refusal("a: &a {b: {c: *a}}\n") ==
          "f:1: a.b.c: expected an alias of another node, found one within the node that it stands for");
    CHECK(yaml_refusal("a: &a [1, 2]\nb: *a\n") == "no error");
}

TEST_CASE("YAML is refused in words of ours", "[readers]") {
    CHECK(yaml_refusal("a: [\n") == "f:2: expected YAML, found a [ without ]");
    CHECK(yaml_refusal("a: b: c\n") ==
          "f:1: expected YAML, found a colon here; put the text in quotes or check the indentation");
    CHECK(yaml_refusal("a: *b\n") == "f:1: expected YAML, found an alias without anchor");
    for (const char* const open : {"a: 'b\n", "a: \"b\n", "a: 'b\nc: 1\n", "'a: 1\nb: 2"})
        CHECK_THAT(yaml_refusal(open), ContainsSubstring("expected YAML, found a quote that is not closed"));
    CHECK(yaml_refusal("a: 'it''s'\nb: it's\nc: |\n  'x\n# 'y\n") == "no error");
    CHECK(yaml_refusal("a: 1\nb:\n  c: 1\n  c: 2\n") == "f:4: b.c: expected the key once, found it twice");
    CHECK(yaml_refusal("a: 1\n---\nb: 1\n") == "f:3: expected one YAML document, found a second");
    for (const char c : {'\0', '\x04', '\x01', '\x7f', '\xff', '\r'}) {
        CAPTURE(static_cast<int>(c));
        const std::string text = std::string("a: 1\nb: ") + c + "x\nc: 2\n";
        CHECK_THAT(yaml_refusal(text), StartsWith("f:2: expected YAML in UTF-8, found ") && EndsWith(" at byte 9"));
    }
    const YAML::Node read = parse_yaml(
        "\xEF\xBB\xBF"
        "a: 1\r\nb: |\r\n  x\r\n  y\r\n\r\n",
        "f");
    CHECK(read["a"].Scalar() == "1");
    CHECK(read["b"].Scalar() == "x\ny\n");
}

TEST_CASE("sections of a file are those of its kind", "[readers]") {
    const SectionRules rules{"adyna", {"chip", "noc"}, {"gpu_file"}, {"chip"}};
    const auto refused = [&](const std::string& text) {
        return reader_refusal([&] { check_sections(parse_yaml(text, "f"), "f", rules); });
    };
    CHECK(refused("system: adyna\nchip: {}\nnoc:\ngpu_file: x\n") == "no error");
    CHECK(refused("chip: {}\nnox: {}\n") ==
          "f:2: nox: expected one of chip, gpu_file, noc, system, found nox; did you mean noc?");
    CHECK(refused("noc: {}\n") == "f:1: chip: expected a section, found none");
    CHECK(refused("chip: 3\n") == "f:1: chip: expected a mapping of keys, found \"3\"");
    CHECK(refused("chip: {}\ngpu_file: [a]\n") == "f:2: gpu_file: expected text, found a list");
    CHECK(refused("chip: {}\nsystem: ace\n") ==
          "f:2: system: expected adyna, found \"ace\"; a platform of another system has other sections");
    CHECK(refused("chip: {}\n? [a]\n: b\n") == "f:2: expected text as a key, found a list");
    CHECK(refused("a\n") == "f:1: expected a mapping of sections, found \"a\"");
    CHECK(reader_refusal([] {
              refuse_left_overrides({{"noc.vcss", "1"}}, {"noc.vcs", "chip.rows"});
          }) == "--set: noc.vcss: expected a known key, found noc.vcss; did you mean noc.vcs?");
}

TEST_CASE("addresses are decimal or hexadecimal, and words have no blanks", "[readers]") {
    std::uint64_t value = 0;
    CHECK(parse_address("0x1F", value) == Parsed::ok);
    CHECK(value == 31);
    CHECK(parse_address("31", value) == Parsed::ok);
    for (const char* const text : {"0x", "1F", "0xG", "010", "-0x1", "0x-1", " 1", ""})
        CHECK(parse_address(text, value) != Parsed::ok);
    CHECK(parse_address("0x10000000000000000", value) == Parsed::out_of_range);
    CHECK(words_of("  a\tb \r\n c ") == std::vector<std::string>{"a", "b", "c"});
    CHECK(words_of(" ").empty());
    CHECK(shown(std::string(100, 'x')) == "\"" + std::string(60, 'x') + "...\"");
}
