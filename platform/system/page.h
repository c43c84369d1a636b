// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace switchyard::platform {

/// One file of HTML that shows `data` and needs no other file and no network (docs/pages.md). Its key `kind` says what
/// is shown: "run" with `report`; "experiment" with `results` (results.json); "sweep" with `sweep`; "compare" with
/// `reports` and their `names`. Charts are drawn by Vega-Lite where the build has found it, otherwise the page has
/// tables. The same data give the same bytes.
std::string page_html(const std::string& title, const nlohmann::ordered_json& data);

/// The build has found the drawing libraries.
bool page_draws_charts();

}  // namespace switchyard::platform
