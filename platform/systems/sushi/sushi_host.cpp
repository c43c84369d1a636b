// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/sushi_host.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/hw/layer_controller/layer_controller.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::platform::sushi {

using namespace sched::sushi;
using Port = hw::CommandPort;

namespace {

double now_us() {
    return sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_US);
}

}  // namespace

SushiHost::SushiHost(const sc_core::sc_module_name& module_name, const HostConfig& config, Task task)
    : sc_module(module_name), registers("registers"), irq("irq"), config_(config), task_(std::move(task)) {
    SWITCHYARD_HAS_PROCESS(SushiHost);
    SC_THREAD(run);
}

std::uint32_t SushiHost::access(bool writes, std::uint64_t address, std::uint32_t value) {
    ::tlm::tlm_generic_payload payload;
    payload.set_command(writes ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    sc_core::sc_time delay = microseconds(config_.register_us, "register_us");
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    registers->b_transport(payload, delay);
    if (payload.is_response_error())
        throw std::runtime_error(fmt::format("expected a register of the accelerator at {:#x}, found {}", address,
                                             payload.get_response_string()));
    return value;
}

void SushiHost::command(std::uint32_t operation, std::size_t argument) {
    access(true, Port::kOperation, operation);
    access(true, Port::kArgument, static_cast<std::uint32_t>(argument));
    access(true, Port::kDoorbell, 1);
    ++commands_;
}

void SushiHost::await(std::uint32_t commands) {
    for (;;) {
        while (!irq.read()) wait(irq.posedge_event());
        access(true, Port::kIrqStatus, Port::kCommandDone);
        if (access(false, Port::kCompleted) == commands) break;
    }
    if ((access(false, Port::kStatus) & Port::kFailed) != 0) ++failures_;
}

void SushiHost::run() {
    const LatencyTable& table = *task_.table;
    access(true, Port::kIrqEnable, Port::kCommandDone);
    CachePolicySetup setup;
    setup.supernet = task_.supernet;
    setup.table = &table;
    setup.queries = &task_.queries;
    setup.constraint = task_.constraint;
    setup.period = task_.period;
    const auto policy = make_cache_policy(task_.caches ? task_.policy : "fixed", setup);
    std::size_t subgraph = 0;
    std::vector<std::vector<double>> columns;
    if (task_.caches) {
        for (std::size_t g = 0; g < table.subgraphs.size(); ++g) columns.push_back(column(table, g));
        subgraph = first_subgraph(table, task_.only_subnet);
        command(hw::LayerController::kCache, subgraph);
        await(commands_);
    }
    begin_us_ = now_us();
    for (std::size_t q = 0; q < task_.queries.size(); ++q) {
        const sched::Query& query = task_.queries[q];
        double arrival_us = begin_us_ + query.arrival_us;
        if (query.arrival_us == 0)
            arrival_us = now_us();  // comes when the one before is done
        else if (arrival_us > now_us())
            wait(microseconds(arrival_us - now_us(), "the arrival of a query"));
        wait(microseconds(config_.decision_us, "decision_us"));
        const bool looks = task_.caches && task_.state_aware;
        Choice choice = choose_subnet(table, looks ? columns[subgraph] : table.without_us, query, task_.constraint);
        if (task_.only_subnet > 0) choice = {task_.only_subnet - 1, true};
        if (task_.before) task_.before(q, choice.subnet);
        const double busy_us = task_.busy_us ? task_.busy_us() : 0, sent_us = now_us();
        command(hw::LayerController::kServe, choice.subnet);
        await(commands_);
        if (task_.after) task_.after(q, choice.subnet);
        ServedQuery served{choice.subnet, subgraph, choice.met, 0, now_us() - arrival_us};
        served.service_us = task_.busy_us ? task_.busy_us() - busy_us : now_us() - sent_us;
        served_.push_back(served);
        const std::size_t next = policy->after(q, choice.subnet, subgraph);
        if (next != subgraph && q + 1 < task_.queries.size()) {
            subgraph = next;
            ++fills_;
            command(hw::LayerController::kCache, subgraph);
        }
    }
    end_us_ = now_us();
    finished_ = true;
}

}  // namespace switchyard::platform::sushi
