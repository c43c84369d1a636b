// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/simulation_registry.h"

#include <numeric>
#include <utility>

namespace switchyard {

void SimulationRegistry::add(const sc_core::sc_object& module, const std::string& name, const std::string& unit,
                             const std::uint64_t& value) {
    add(module, name, unit, [&value] { return static_cast<double>(value); });
}

void SimulationRegistry::add(const sc_core::sc_object& module, const std::string& name, const std::string& unit,
                             std::function<double()> read) {
    add(std::string(module.name()), name, unit, std::move(read));
}

void SimulationRegistry::add(const std::string& module, const std::string& name, const std::string& unit,
                             std::function<double()> read) {
    counters_.push_back({module, name, unit, std::move(read)});
}

void SimulationRegistry::add_waiter(const sc_core::sc_object& module, std::function<std::string()> reason) {
    waiters_.push_back({module.name(), std::move(reason)});
}

void SimulationRegistry::add_error(const sc_core::sc_object& module, const std::string& message) {
    errors_.emplace_back(ModelError(module, message).what());
}

ModelError SimulationRegistry::failure(const sc_core::sc_object& module, const std::string& otherwise,
                                       std::size_t known) const {
    return errors_.size() > known ? ModelError(errors_[known]) : ModelError(module, otherwise);
}

double SimulationRegistry::sum(const std::string& module_prefix, const std::string& name) const {
    return std::accumulate(counters_.begin(), counters_.end(), 0.0, [&](double total, const Counter& counter) {
        const bool counts = counter.name == name && counter.module.compare(0, module_prefix.size(), module_prefix) == 0;
        return counts ? total + counter.read() : total;
    });
}

std::vector<std::string> SimulationRegistry::waits() const {
    std::vector<std::string> lines;
    for (const Waiter& waiter : waiters_) {
        const std::string reason = waiter.reason();
        if (!reason.empty()) lines.push_back(waiter.module + " waits for " + reason);
    }
    return lines;
}

ModelError::ModelError(const sc_core::sc_object& module, const std::string& message)
    : std::runtime_error(sc_core::sc_time_stamp().to_string() + ": " + module.name() + ": " + message) {}

}  // namespace switchyard
