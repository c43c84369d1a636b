// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/json_text.h"

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/adyna/image/image_meta.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;

namespace {

std::string parse_error(const std::string& text, int first_line = 1) {
    try {
        parse_json(text, "file.json", first_line);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("JSON is read as it stands", "[json]") {
    CHECK(parse_json(R"({"a": [1, {"a": 2}, {"a": 3}], "b": {"a": 4}})", "f") ==
          nlohmann::json({{"a", {1, {{"a", 2}}, {{"a", 3}}}}, {"b", {{"a", 4}}}}));
}

TEST_CASE("JSON of every kind is read as nlohmann's own parser reads it", "[json]") {
    const std::string text = GENERATE(
        R"([])", R"({})", R"(7)", R"("text")", R"([[], [[]], {}, [{}, [1, [2, 3], 4]], 5])",
        R"({"a": {"b": {"c": [1, {"d": []}, 2]}, "e": 3}, "f": [[{"a": {}}, {"a": 1}], []], "g": {}})",
        R"([null, true, false, 0, -1, 18446744073709551615, -9223372036854775808, 18446744073709551616, 1.5, -2e-3])",
        R"(["", "\u00e9\n\"\\", "caf\u00e9", {"": 0, " ": 1, "\u0000": 2}])");
    CHECK((parse_json(text, "f") == nlohmann::json::parse(text)));
    CHECK(json_text(parse_ordered_json(text, "f")) == nlohmann::ordered_json::parse(text).dump());
}

TEST_CASE("objects keep the order of their keys where that is asked for", "[json]") {
    const std::string text = R"({"z":[1,-2,0.5],"a":{"c":true,"b":null}})";
    CHECK(json_text(parse_ordered_json(text, "f")) == text);
    CHECK(json_text(parse_json(text, "f")) == R"({"a":{"b":null,"c":true},"z":[1,-2,0.5]})");
    CHECK(json_text(parse_ordered_json(R"({"z":[]})", "f"), 1) == "{\n \"z\": []\n}");
    CHECK_THROWS_WITH(parse_ordered_json(R"({"z": {"a": 1, "a": 2}})", "f"),
                      "f: z.a: expected the key once, found it twice");
}

TEST_CASE("text that is not UTF-8 is written with replacement characters", "[json]") {
    CHECK(json_text(nlohmann::json("caf\xe9")) == "\"caf\xef\xbf\xbd\"");
}

TEST_CASE("a key that an object has twice is refused with its place", "[json]") {
    CHECK(parse_error(R"({"a": 1, "a": 2})") == "file.json: a: expected the key once, found it twice");
    CHECK(parse_error(R"({"a": {"b": 1}, "c": {"d": [{"b": 1, "b": 1}]}})") ==
          "file.json: c.d.b: expected the key once, found it twice");
}

TEST_CASE("what is no JSON is refused with line and byte, not in the library's words", "[json]") {
    CHECK(parse_error("{\n\"a\": tru}") == "file.json:2: expected JSON, found other text from byte 11 on");
    CHECK(parse_error("{\"a\": ", 7) == "file.json:7: expected JSON, found other text from byte 7 on");
    CHECK(parse_error("{} {}") == "file.json:1: expected JSON, found other text from byte 4 on");
    CHECK(parse_error("\xff") == "file.json:1: expected JSON, found other text from byte 1 on");
    CHECK(parse_error("1e999") == "file.json:1: expected JSON, found a number out of range, \"1e999\"");
}

TEST_CASE("image META says what it lacks, not in the library's words", "[json][image]") {
    const auto refused = [](const std::string& text) {
        try {
            meta_from_json(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    CHECK(refused("{") == "META: expected JSON, found other text from byte 2 on");
    CHECK(refused("{}") == "META: model: expected a value, found nothing");
    CHECK(refused("{\"model\": 1}") == "META: model: expected a text, found 1");
    CHECK(refused("[]").find("json.exception") == std::string::npos);
    std::string text = meta_to_json(ImageMeta());
    CHECK(refused(text) == "no error");
    ImageMeta latin;
    latin.model = "caf\xe9";
    CHECK(refused(meta_to_json(latin)) == "no error");
    CHECK(refused("{\"model\": 1," + text.substr(1)) == "META: model: expected the key once, found it twice");
}
