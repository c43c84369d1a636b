// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <systemc>

#include "switchyard/tlm/time_use.h"

namespace switchyard {

/// A model broke one of its own rules or met a request that it cannot serve (bad address, full store, bit-flipped
/// kernel): time, module and what. Programs print it as one line and exit with 2.
class ModelError : public std::runtime_error {
public:
    ModelError(const sc_core::sc_object& module, const std::string& message);

private:
    friend class SimulationRegistry;
    /// With a text that has time and module.
    explicit ModelError(const std::string& text) : std::runtime_error(text) {}
};

/// Counters and wait reasons that modules register by name, so that reports, traces, tests and the no-progress report
/// find them without knowing the component. One registry a simulation; every module is given a reference to it.
class SimulationRegistry {
public:
    struct Counter {
        std::string module, name, unit;  ///< "chip.tile_0.pe_array", "macs", "1" (SI or "cycles", "bytes")
        std::function<double()> read;
    };
    struct Waiter {
        std::string module;
        std::function<std::string()> reason;  ///< "" if it waits for nothing
    };

    /// `value` must live as long as the module.
    void add(const sc_core::sc_object& module, const std::string& name, const std::string& unit,
             const std::uint64_t& value);
    void add(const sc_core::sc_object& module, const std::string& name, const std::string& unit,
             std::function<double()> read);
    /// For who counts on behalf of a module that is not there.
    void add(const std::string& module, const std::string& name, const std::string& unit, std::function<double()> read);
    void add_waiter(const sc_core::sc_object& module, std::function<std::string()> reason);

    /// Why `module` is about to answer with an error response: the response says only that something is wrong. Who
    /// gives up because of the response throws failure().
    void add_error(const sc_core::sc_object& module, const std::string& message);
    /// The error with which `module` gives up: the first one, which is the deepest cause, of those behind the first
    /// `known`. `otherwise`: what has happened, if no module has said why.
    ModelError failure(const sc_core::sc_object& module, const std::string& otherwise, std::size_t known = 0) const;

    TimeUses& time_uses() { return time_uses_; }
    const TimeUses& time_uses() const { return time_uses_; }

    const std::vector<std::string>& errors() const { return errors_; }  ///< texts of ModelErrors
    const std::vector<Counter>& counters() const { return counters_; }
    /// Sum of the counters called `name` in modules whose name begins with `module_prefix`.
    double sum(const std::string& module_prefix, const std::string& name) const;
    /// "module waits for reason" of every module that waits, in order of registration.
    std::vector<std::string> waits() const;

private:
    std::vector<Counter> counters_;
    std::vector<Waiter> waiters_;
    TimeUses time_uses_;
    std::vector<std::string> errors_;
};

}  // namespace switchyard
