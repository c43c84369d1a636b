// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/json_text.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/text_check.h"

namespace switchyard {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// `byte` counts from 0.
[[noreturn]] void refuse(std::string_view text, std::size_t byte, const std::string& path, int first_line,
                         const std::string& message) {
    throw InputError(path, first_line > 0 ? first_line + line_of_byte(text, byte) - 1 : 0, "", message);
}

/// nlohmann's parser takes a NUL byte for the end of the text, and has no limit of depth.
void check_text(std::string_view text, const std::string& path, int first_line) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\0')
            refuse(text, i, path, first_line, fmt::format("expected JSON, found a NUL byte at byte {}", i + 1));
        if (in_string) {
            if (c == '\\')
                i += i + 1 < text.size() && text[i + 1] != '\0' ? 1 : 0;
            else
                in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kMaxDepth)
                refuse(text, i, path, first_line,
                       fmt::format("expected at most {} lists and objects within each other, found more at byte {}",
                                   kMaxDepth, i + 1));
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
}

/// Builds a document and refuses a key that an object has twice, of which nlohmann's own parser keeps the last and says
/// nothing. A callback of that parser could see keys too, but then it looks at all elements of an array behind each
/// object in it.
template <class Json>
class Builder : public nlohmann::json_sax<Json> {
public:
    Builder(std::string_view text, const std::string& path, int first_line)
        : text_(text), path_(path), first_line_(first_line) {}

    Json document;

    bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
    bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(std::string& key) override {
        Level& level = open_.back();
        const auto [entry, added] = level.value->template get_ref<typename Json::object_t&>().emplace(key, Json());
        level.key = key;
        level.next = &entry->second;
        if (added) return true;
        std::string place;
        for (const Level& one : open_)
            if (one.next != nullptr) place += (place.empty() ? "" : ".") + one.key;
        throw InputError(path_, 0, place, "expected the key once, found it twice");
    }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(typename Json::number_integer_t value) override { return add(value); }
    bool number_unsigned(typename Json::number_unsigned_t value) override { return add(value); }
    bool number_float(typename Json::number_float_t value, const std::string& /*text*/) override { return add(value); }
    bool string(std::string& value) override { return add(std::move(value)); }
    bool binary(typename Json::binary_t& value) override { return add(std::move(value)); }

    bool parse_error(std::size_t byte, const std::string& token, const json::exception& error) override {
        if (dynamic_cast<const json::out_of_range*>(&error) != nullptr)
            throw InputError(path_, first_line_, "", "expected JSON, found a number out of range, " + shown(token));
        // The byte counts from 1, and is one beyond a text that ends too early.
        refuse(text_, byte > 0 ? byte - 1 : 0, path_, first_line_,
               fmt::format("expected JSON, found other text from byte {} on", byte));
    }

private:
    /// An array or an object whose end has not come.
    struct Level {
        Json* value;
        std::string key;       ///< of an object, the last one
        Json* next = nullptr;  ///< its value
    };

    template <class Value>
    Json* put(Value&& value) {
        if (open_.empty()) return &(document = std::forward<Value>(value));
        const Level& level = open_.back();
        if (level.next != nullptr) return &(*level.next = std::forward<Value>(value));
        auto& elements = level.value->template get_ref<typename Json::array_t&>();
        return &elements.emplace_back(std::forward<Value>(value));
    }
    template <class Value>
    bool add(Value&& value) {
        put(std::forward<Value>(value));
        return true;
    }
    bool open(Json&& empty) {
        open_.push_back({put(std::move(empty)), {}, nullptr});
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    std::string_view text_;
    const std::string& path_;
    int first_line_;
    std::vector<Level> open_;
};

template <class Json>
Json parse(std::string_view text, const std::string& path, int first_line) {
    check_text(text, path, first_line);
    Builder<Json> builder(text, path, first_line);
    Json::sax_parse(text.begin(), text.end(), &builder);
    return std::move(builder.document);
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
