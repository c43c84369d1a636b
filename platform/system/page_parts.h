// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace switchyard::platform {

/// The files of system/page/ and the drawing libraries, as the build has found them (page_parts.cpp.in).
struct PageParts {
    std::string_view html, style, script;
    std::string_view libraries, licences;  ///< empty: none
};
const PageParts& page_parts();

}  // namespace switchyard::platform
