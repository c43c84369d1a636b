// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/json_text.h"

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Follows the parser, which keeps the last of several values of a key and says nothing.
template <class Json>
class KeyCheck {
public:
    using Event = typename Json::parse_event_t;

    explicit KeyCheck(const std::string& path) : path_(path) {}

    bool operator()(int /*depth*/, Event event, Json& parsed) {
        if (event == Event::object_start) open_.emplace_back();
        if (event == Event::object_end) open_.pop_back();
        if (event == Event::key) add(parsed.template get_ref<const std::string&>());
        return true;
    }

private:
    struct Object {
        std::set<std::string> keys;
        std::string last;
    };

    void add(const std::string& key) {
        open_.back().last = key;
        if (open_.back().keys.insert(key).second) return;
        std::string place;
        for (const Object& object : open_) place += (place.empty() ? "" : ".") + object.last;
        throw InputError(path_, 0, place, "is given twice");
    }

    const std::string& path_;
    std::vector<Object> open_;
};

template <class Json>
Json parse(std::string_view text, const std::string& path, int first_line) {
    KeyCheck<Json> check(path);
    try {
        return Json::parse(text.begin(), text.end(), std::ref(check));
    } catch (const json::out_of_range&) {
        throw InputError(path, first_line, "", "not JSON: a number is out of range");
    } catch (const json::parse_error& error) {
        // The byte counts from 1, and is one beyond a text that ends too early.
        const std::size_t before = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
        const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(before), '\n');
        throw InputError(path, first_line > 0 ? first_line + static_cast<int>(lines) : 0, "",
                         fmt::format("not JSON from byte {} on", error.byte));
    }
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
