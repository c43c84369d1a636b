// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/page.h"

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/page_parts.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/xml_text.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

/// JSON that ends no script element: "<" stands in strings only, where it may be written as a number.
std::string in_script(const ordered_json& data) {
    const std::string text = json_text(data);
    std::string result;
    result.reserve(text.size());
    for (const char c : text) {
        if (c == '<')
            result += "\\u003c";
        else
            result += c;
    }
    return result;
}

}  // namespace

std::string page_html(const std::string& title, const ordered_json& data) {
    const PageParts& parts = page_parts();
    const std::pair<std::string_view, std::string> values[] = {{"@TITLE@", xml_escaped(title)},
                                                               {"@STYLE@", std::string(parts.style)},
                                                               {"@LICENCES@", xml_escaped(parts.licences)},
                                                               {"@DATA@", in_script(data)},
                                                               {"@LIBRARIES@", std::string(parts.libraries)},
                                                               {"@SCRIPT@", std::string(parts.script)}};
    std::string page;
    std::string_view rest = parts.html;
    for (const auto& [name, value] : values) {  // in the order of the file
        const std::size_t at = rest.find(name);
        page += rest.substr(0, at);
        page += value;
        rest.remove_prefix(at + name.size());
    }
    return page += rest;
}

bool page_draws_charts() {
    return !page_parts().libraries.empty();
}

}  // namespace switchyard::platform
