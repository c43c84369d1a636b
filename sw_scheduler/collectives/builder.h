// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/collectives/collectives.h"

namespace switchyard::sched {

/// Puts transfers into a program, with what software adds to each.
class ProgramBuilder {
public:
    ProgramBuilder(const LinkTopology& topology, std::string name, const CollectiveCosts& costs,
                   std::uint64_t buffer_bytes)
        : topology_(topology), costs_(costs) {
        program_.name = std::move(name);
        program_.devices = topology.devices();
        program_.buffer_bytes = buffer_bytes;
        program_.base_ns = costs.base_ns;
    }

    std::uint32_t copy(unsigned from, unsigned to, std::uint64_t source, std::uint64_t destination, std::uint64_t bytes,
                       std::vector<std::uint32_t> after = {}) {
        Transfer transfer;
        transfer.from = from;
        transfer.to = to;
        transfer.source = source;
        transfer.destination = destination;
        transfer.bytes = bytes;
        transfer.wire_bytes = static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes) * costs_.wire_factor));
        if (from != to) {
            const double step = topology_.route_over_pcie(from, to) ? costs_.pcie_step_ns : costs_.step_ns;
            transfer.step_ns = std::max(0.0, step - topology_.route_latency_ns(from, to));
        }
        transfer.after = std::move(after);
        program_.transfers.push_back(std::move(transfer));
        return static_cast<std::uint32_t>(program_.transfers.size() - 1);
    }
    std::uint32_t add(unsigned from, unsigned to, std::uint64_t offset, std::uint64_t staging, std::uint64_t bytes,
                      std::vector<std::uint32_t> after = {}) {
        const std::uint32_t number = copy(from, to, offset, offset, bytes, std::move(after));
        program_.transfers.back().reduce = true;
        program_.transfers.back().staging = staging;
        return number;
    }
    CollectiveProgram take() { return std::move(program_); }

private:
    const LinkTopology& topology_;
    CollectiveCosts costs_;
    CollectiveProgram program_;
};

}  // namespace switchyard::sched
