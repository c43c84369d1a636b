// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/platform/systems/sushi/sushi_config.h"
#include "switchyard/sw_scheduler/sushi/serving.h"

namespace switchyard::platform::sushi {

/// What became of a query.
struct ServedQuery {
    std::size_t subnet = 0;
    std::size_t subgraph = 0;  ///< that was cached while it was served
    bool met = true;
    double service_us = 0;   ///< of the accelerator, from the command's begin to its end
    double response_us = 0;  ///< from its arrival, waiting included
};

/// The host's software: takes queries in order of arrival, chooses a SubNet for each and every Q queries a SubGraph,
/// and commands the accelerator through its registers (hw::CommandPort). A SubGraph is fetched behind the query before;
/// the next query's command waits for it in the port.
///
/// Modelled: times of register accesses and of the decision, the interrupt, one query at a time. Not modelled: moving
/// inputs and outputs between host and DRAM, the host's other work.
class SushiHost : public sc_core::sc_module {
public:
    struct Task {
        const sched::sushi::Supernet* supernet = nullptr;
        const sched::sushi::LatencyTable* table = nullptr;
        std::vector<sched::Query> queries;
        sched::sushi::Constraint constraint = sched::sushi::Constraint::accuracy;
        std::string policy = "nearest";
        bool caches = true;       ///< the accelerator has a persistent buffer
        bool state_aware = true;  ///< latencies are looked up with the SubGraph that is cached
        std::size_t period = 8;
        std::size_t only_subnet = 0;      ///< from 1 on
        std::function<double()> busy_us;  ///< time that the accelerator has served for; null: from command to interrupt
        std::function<void(std::size_t query, std::size_t subnet)> before, after;  ///< a query is served; may be empty
    };

    tlm_utils::simple_initiator_socket<SushiHost> registers;
    sc_core::sc_in<bool> irq;

    SushiHost(const sc_core::sc_module_name& name, const HostConfig& config, Task task);

    bool finished() const { return finished_; }
    const std::vector<ServedQuery>& served() const { return served_; }
    double begin_us() const { return begin_us_; }  ///< the first SubGraph is there
    double end_us() const { return end_us_; }
    std::uint64_t fills() const { return fills_; }  ///< after the first
    std::uint64_t failures() const { return failures_; }

private:
    void run();
    std::uint32_t access(bool writes, std::uint64_t address, std::uint32_t value = 0);
    void command(std::uint32_t operation, std::size_t argument);
    void await(std::uint32_t commands);

    HostConfig config_;
    Task task_;
    std::vector<ServedQuery> served_;
    std::uint32_t commands_ = 0;
    double begin_us_ = 0, end_us_ = 0;
    std::uint64_t fills_ = 0, failures_ = 0;
    bool finished_ = false;
};

}  // namespace switchyard::platform::sushi
