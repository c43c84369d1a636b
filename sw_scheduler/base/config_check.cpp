// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/config_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace switchyard {

namespace {

bool contains(const std::vector<std::string>& choices, const std::string& value) {
    return std::find(choices.begin(), choices.end(), value) != choices.end();
}

}  // namespace

std::string listed(const std::vector<std::string>& choices) {
    std::string text;
    for (std::size_t i = 0; i < choices.size(); ++i)
        text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
    return text;
}

std::string not_among(const std::string& key, const std::vector<std::string>& choices, const std::string& value) {
    return fmt::format("{}: expected {}, found {}", key, listed(choices), value.empty() ? "nothing" : value);
}

std::string not_made(const std::string& key, const std::vector<std::string>& choices, const std::string& impl,
                     const std::string& factory) {
    if (!contains(choices, impl)) return not_among(key, choices, impl);
    return fmt::format(
        "{}: expected an implementation of hw::{}(), found {}, which is RTL; call rtl::{}() of a build with "
        "SWITCHYARD_RTL (Switchyard::rtl)",
        key, factory, impl, factory);
}

void ChoiceChecker::choice(const char* key, const std::string& value, const std::vector<std::string>& choices,
                           const char*) {
    if (error_.empty() && !contains(choices, value)) error_ = not_among(prefix_ + "." + key, choices, value);
}

}  // namespace switchyard
