// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/json_text.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Refuses text that is no JSON and keys that an object has twice, of which nlohmann's parser keeps the last and says
/// nothing. This is a pass of its own because that parser, if it has a callback, looks at all elements of an array
/// behind each object in it.
class Check : public nlohmann::json_sax<json> {
public:
    Check(std::string_view text, const std::string& path, int first_line)
        : text_(text), path_(path), first_line_(first_line) {}

    bool start_object(std::size_t /*elements*/) override {
        open_.emplace_back();
        return true;
    }
    bool end_object() override {
        open_.pop_back();
        return true;
    }
    bool key(std::string& key) override {
        open_.back().last = key;
        if (open_.back().keys.insert(key).second) return true;
        std::string place;
        for (const Object& object : open_) place += (place.empty() ? "" : ".") + object.last;
        throw InputError(path_, 0, place, "is given twice");
    }
    bool parse_error(std::size_t byte, const std::string& /*token*/, const json::exception& error) override {
        if (dynamic_cast<const json::out_of_range*>(&error) != nullptr)
            throw InputError(path_, first_line_, "", "not JSON: a number is out of range");
        // The byte counts from 1, and is one beyond a text that ends too early.
        const std::size_t before = std::min(byte > 0 ? byte - 1 : 0, text_.size());
        const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(before), '\n');
        throw InputError(path_, first_line_ > 0 ? first_line_ + static_cast<int>(lines) : 0, "",
                         fmt::format("not JSON from byte {} on", byte));
    }

    bool null() override { return true; }
    bool boolean(bool /*value*/) override { return true; }
    bool number_integer(json::number_integer_t /*value*/) override { return true; }
    bool number_unsigned(json::number_unsigned_t /*value*/) override { return true; }
    bool number_float(json::number_float_t /*value*/, const std::string& /*text*/) override { return true; }
    bool string(std::string& /*value*/) override { return true; }
    bool binary(json::binary_t& /*value*/) override { return true; }
    bool start_array(std::size_t /*elements*/) override { return true; }
    bool end_array() override { return true; }

private:
    struct Object {
        std::set<std::string> keys;
        std::string last;
    };

    std::string_view text_;
    const std::string& path_;
    int first_line_;
    std::vector<Object> open_;
};

template <class Json>
Json parse(std::string_view text, const std::string& path, int first_line) {
    Check check(text, path, first_line);
    json::sax_parse(text.begin(), text.end(), &check);
    return Json::parse(text.begin(), text.end());
}

template <class Json>
std::string text_of(const Json& document, int indent) {
    return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

json parse_json(std::string_view text, const std::string& path, int first_line) {
    return parse<json>(text, path, first_line);
}

ordered_json parse_ordered_json(std::string_view text, const std::string& path, int first_line) {
    return parse<ordered_json>(text, path, first_line);
}

std::string json_text(const json& document, int indent) {
    return text_of(document, indent);
}

std::string json_text(const ordered_json& document, int indent) {
    return text_of(document, indent);
}

}  // namespace switchyard
