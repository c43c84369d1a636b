// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/sweep_page.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "switchyard/platform/experiment/database.h"
#include "switchyard/platform/experiment/run_sweep.h"
#include "switchyard/platform/system/page.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

std::string sweep_page(const Sweep& sweep, const std::string& store) {
    ordered_json rows =
        parse_ordered_json(query_store(store, "SELECT * FROM " + sql_name(sweep.name), RowFormat::json), store);
    ordered_json columns = ordered_json::array(), objectives = ordered_json::array(), states = ordered_json::object();
    if (!rows.empty())
        for (const auto& [name, value] : rows.front().items()) columns.push_back(name);
    for (const ordered_json& row : rows) {
        const ordered_json& value = row.at("state");
        const std::string state = value.is_string() ? value.get<std::string>() : json_text(value);
        states[state] = states.value(state, 0) + 1;
    }
    for (const Sweep::Objective& objective : sweep.objectives)
        if (objective.sign != 0)
            objectives.push_back({{"name", objective.name}, {"goal", objective.sign > 0 ? "min" : "max"}});
    const std::string title = sweep.title.empty() ? sweep.name : sweep.title;
    const ordered_json shown{{"name", sweep.name},     {"title", title},   {"store", store},
                             {"columns", columns},     {"states", states}, {"objectives", objectives},
                             {"rows", std::move(rows)}};
    return page_html(title, {{"kind", "sweep"}, {"sweep", shown}});
}

}  // namespace switchyard::platform
