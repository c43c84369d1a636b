// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace switchyard {

/// `text` as the content of an XML element or of an attribute in double quotes.
std::string xml_escaped(std::string_view text);

}  // namespace switchyard
