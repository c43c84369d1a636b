// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

namespace switchyard::platform {

/// Lets the batches of a plan begin whose model stands in one simulation with others (Plan::elaborate()).
class BatchGate {
public:
    BatchGate() = default;
    BatchGate(const BatchGate&) = delete;
    BatchGate& operator=(const BatchGate&) = delete;
    virtual ~BatchGate() = default;

    /// From a thread of the simulation; returns when batch `batch`, counted from 0, may begin.
    virtual void await_begin(std::size_t batch) = 0;
    /// At the time at which it has ended. Does not wait.
    virtual void note_end(std::size_t batch) = 0;
    /// Whether the model's host moves the network's input to it, and its outputs back; or others of the simulation do.
    virtual bool host_sends_inputs() const { return true; }
    virtual bool host_fetches_outputs() const { return true; }
};

/// A plan's model in a simulation that its caller starts.
class ElaboratedRun {
public:
    ElaboratedRun() = default;
    ElaboratedRun(const ElaboratedRun&) = delete;
    ElaboratedRun& operator=(const ElaboratedRun&) = delete;
    virtual ~ElaboratedRun() = default;

    /// Once the simulation has ended: what Plan::run() returns. Its times have in them that batches waited for the
    /// gate, but for the latencies of batches. Throws std::runtime_error that lists what waits for what if a batch has
    /// not ended.
    virtual nlohmann::ordered_json report() = 0;
};

}  // namespace switchyard::platform
