// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/dispatcher/pin_bench.h"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace switchyard::testing {

using rtl::DispatcherState;
using rtl::DispatcherStatus;

FunctionalCoverage::FunctionalCoverage() {
    const auto add = [this](const std::string& group, const std::vector<std::string>& points) {
        for (const std::string& point : points) counts_[fmt::format("{} {}", group, point)] = 0;
    };
    add("state", {"idle", "search", "fetch", "issue", "send", "load", "result"});
    add("arc", {"idle>idle",   "idle>search",   "idle>load",    "idle>result", "search>search", "search>fetch",
                "search>send", "search>result", "fetch>fetch",  "fetch>issue", "fetch>send",    "fetch>result",
                "issue>issue", "issue>send",    "issue>result", "send>send",   "send>result",   "load>load",
                "load>result", "result>result", "result>idle"});
    add("fetch arc",
        {"idle>idle", "idle>request", "request>request", "request>data", "data>data", "data>idle", "data>request"});
    for (unsigned status = 0; status <= static_cast<unsigned>(DispatcherStatus::send_refused); ++status)
        add("status", {std::to_string(status)});
    add("search", {"hit first", "hit middle", "hit last", "hit only", "none", "no kernels", "beyond 16 bits",
                   "dyn_dim 0", "exact", "larger"});
    for (const char* level : {"reg", "pe", "spm", "tile", "unit"}) {
        for (const char dim : std::string("nkcpqrs")) {
            const std::string name = std::string(level) + "." + dim;
            const std::string where(level);
            const bool axis = std::string("nkpq").find(dim) != std::string::npos;
            add("loop", {name + " skipped"});
            if ((where == "unit" && dim != 'n') || (where == "pe" && !axis) ||
                (where == "tile" && (!axis || dim == 'q')))
                continue;
            add("loop", {name + " taken"});
        }
    }
    for (const char dim : std::string("nkpq"))
        add("nest", {std::string(1, dim) + " cut short", std::string(1, dim) + " ends with a part",
                     std::string(1, dim) + " outermost", std::string(1, dim) + " innermost"});
    add("block", {"multiply-accumulate", "vector", "first and last", "first", "last", "neither"});
    add("send", {"unicast", "multicast", "without blocks", "rank without work"});
    add("back-pressure", {"command", "fetch", "data", "instruction", "queue", "send", "result"});
    add("refused", {"with blocks behind it", "last block"});
    add("profiler", {"first", "again", "continued"});
    add("selected by", {"dyn_dim", "invocation"});
}

void FunctionalCoverage::hit(const std::string& point) {
    const auto found = counts_.find(point);
    if (found != counts_.end()) {
        ++found->second;
    } else if (unexpected_.size() < 10) {
        unexpected_.push_back(point);
    }
}

std::vector<std::string> FunctionalCoverage::missing() const {
    std::vector<std::string> points;
    for (const auto& [point, count] : counts_) {
        if (count == 0) points.push_back(point);
    }
    return points;
}

std::string PinBlock::text() const {
    return fmt::format(
        "ops {} vector {} first {} last {}, {} x {} of {} x {}, {} products, at {} of {} in {}, {:#x} {:#x} {:#x}", ops,
        vector_op, first, last, rows, columns, row_outputs, column_outputs, reduction, fmt::join(position, ","),
        fmt::join(extent, ","), fmt::join(box, ","), input_address, weight_address, output_address);
}

std::string PinOutcome::text() const {
    std::string result = fmt::format(
        "status {}, kernel {} of {}, largest {}, {} search cycles, {} invocations, {} blocks, {} skipped, fetched {}, "
        "sent {} at {:#x}",
        static_cast<unsigned>(status), index, kernels, largest, search_cycles, invocations, issued, skipped,
        fmt::join(fetched, " "), sent, sent_address);
    for (const PinBlock& block : blocks) result += "\n  " + block.text();
    return result;
}

namespace {

PinBlock block_on(const rtl::DispatcherOutputs& out) {
    PinBlock block;
    block.ops = out.instr_ops;
    block.vector_op = out.instr_vector;
    block.first = out.instr_first;
    block.last = out.instr_last;
    block.rows = out.instr_rows;
    block.columns = out.instr_columns;
    block.row_outputs = out.instr_row_outputs;
    block.column_outputs = out.instr_column_outputs;
    block.reduction = out.instr_reduction;
    block.position = out.instr_position;
    block.extent = out.instr_extent;
    block.box = out.instr_box;
    block.input_address = out.instr_input_address;
    block.weight_address = out.instr_weight_address;
    block.output_address = out.instr_output_address;
    return block;
}

const char* fetch_state(const rtl::DispatcherOutputs& out) {
    return out.fetch_valid ? "request" : out.data_ready ? "data" : "idle";
}

constexpr unsigned kSendOps = rtl::kOpUnicast | rtl::kOpMulticast;

}  // namespace

void PinBench::drive(const PinCommand& command) {
    rtl::DispatcherInputs& in = model_->in;
    in.cmd_configure = command.configure;
    in.cmd_multicast = command.multicast;
    in.cmd_first = command.first;
    in.cmd_rank = command.rank;
    in.cmd_count = command.count;
    in.cmd_dyn_dim = command.dyn_dim;
    in.cmd_invocation = command.invocation;
    in.cmd_continued = command.continued;
    in.cmd_input_offset = command.input_offset;
    in.cmd_weight_offset = command.weight_offset;
    in.cmd_output_offset = command.output_offset;
    in.cmd_channelwise = command.channelwise;
    in.cmd_in_channels = command.in_channels;
    in.cmd_in_rows = command.in_rows;
    in.cmd_in_columns = command.in_columns;
}

void PinBench::observe(const rtl::DispatcherOutputs& before) {
    const rtl::DispatcherOutputs& now = model_->out();
    const rtl::DispatcherInputs& in = model_->in;
    const std::string state = rtl::state_name(before.state);
    coverage_.hit("state " + state);
    coverage_.hit("arc " + state + ">" + rtl::state_name(now.state));
    coverage_.hit(std::string("fetch arc ") + fetch_state(before) + ">" + fetch_state(now));
    coverage_.hit_if(in.cmd_valid && !before.cmd_ready, "back-pressure command");
    coverage_.hit_if(before.fetch_valid && !in.fetch_ready, "back-pressure fetch");
    coverage_.hit_if(before.data_ready && !in.data_valid, "back-pressure data");
    coverage_.hit_if(before.result_valid && !in.result_ready, "back-pressure result");
    if (before.instr_valid && !in.instr_ready) {
        const bool send = (before.instr_ops & kSendOps) != 0;
        coverage_.hit(send ? "back-pressure send" : "back-pressure instruction");
        ++waiting_;
        // The queue has two slots, and what stands at the port is in one of them.
        coverage_.hit_if(!send && waiting_ > 2 && before.state == DispatcherState::issue, "back-pressure queue");
        if (!now.instr_valid || block_on(now).text() != block_on(before).text())
            throw std::runtime_error("an instruction that waits has changed: " + block_on(before).text() + " and " +
                                     (now.instr_valid ? block_on(now).text() : "nothing"));
    } else {
        waiting_ = 0;
    }
    if (before.fetch_valid && !in.fetch_ready && (!now.fetch_valid || now.fetch_index != before.fetch_index))
        throw std::runtime_error("a request that waits has changed");
    if (before.result_valid && !in.result_ready && !now.result_valid)
        throw std::runtime_error("a result that waits has gone");
}

std::vector<PinOutcome> PinBench::run(const std::vector<PinCommand>& commands) {
    constexpr unsigned kPatience = 2000;        // cycles without a transfer
    constexpr unsigned kMaxTransfers = 60'000;  // of a command; the longest nests of the regression have 50,000 blocks
    rtl::DispatcherInputs& in = model_->in;
    std::vector<PinOutcome> outcomes;
    PinOutcome outcome;
    std::size_t next = 0;  // command that comes
    int fetches = 0, instructions = 0;
    bool fetching = false;  // asked, not answered
    bool again = false;     // an offered command stays
    unsigned idle = 0, transfers = 0;
    std::uint64_t begin = 0;
    while (outcomes.size() < commands.size()) {
        const rtl::DispatcherOutputs out = model_->out();
        bool moves = false;
        in.cmd_valid = next < commands.size() && (again || !stalled(stalls.command));
        if (in.cmd_valid) drive(commands[next]);
        in.fetch_ready = !stalled(stalls.fetch);
        in.data_valid = fetching && !stalled(stalls.data);
        in.instr_ready = !stalled(stalls.instruction);
        in.result_ready = !stalled(stalls.result);
        in.data_error = false;
        in.instr_error = !(out.instr_valid && in.instr_ready);  // means nothing without a transfer
        if (in.data_valid) {
            const std::uint32_t index = outcome.fetched.back();
            in.data_error = fetches++ == commands[outcomes.size()].fail_fetch;
            in.data = index < store.size() ? store[index] : KernelBytes{};
            fetching = false;
            moves = true;
        }
        if (out.fetch_valid && in.fetch_ready) {
            outcome.fetched.push_back(out.fetch_index);
            fetching = moves = true;
        }
        if (out.instr_valid && in.instr_ready) {
            in.instr_error = instructions++ == commands[outcomes.size()].refuse_instruction;
            moves = true;
            if ((out.instr_ops & kSendOps) == 0) {
                outcome.blocks.push_back(block_on(out));
            } else {
                outcome.sent = out.instr_ops;
                outcome.sent_address = out.instr_output_address;
            }
        }
        if (out.result_valid && in.result_ready) {
            outcome.status = out.result_status;
            outcome.index = out.result_index;
            const bool configured = commands[outcomes.size()].configure;
            const bool found = !configured && (out.result_status == DispatcherStatus::ok ||
                                               out.result_status > DispatcherStatus::full);
            if (!configured && out.result_status != DispatcherStatus::out_of_range)
                outcome.largest = out.result_largest;
            outcome.search_cycles = out.result_search_cycles;
            if (found) outcome.invocations = out.result_invocations;
            outcome.issued = out.result_issued;
            outcome.skipped = out.result_skipped;
            outcome.kernels = out.kernels;
            outcome.cycles = model_->cycles() - begin;
            outcomes.push_back(outcome);
            outcome = {};
            fetches = instructions = 0;
            transfers = 0;
            moves = true;
        }
        if (in.cmd_valid && out.cmd_ready) {
            begin = model_->cycles();
            ++next;
            again = false;
            moves = true;
        } else {
            again = in.cmd_valid;
        }
        model_->step();
        observe(out);
        idle = moves ? 0 : idle + 1;
        if (moves && ++transfers > kMaxTransfers) throw std::runtime_error("the command does not end");
        if (idle > kPatience) throw std::runtime_error(std::string("stuck in state ") + rtl::state_name(out.state));
        if (outcome.blocks.size() > 50'000) throw std::runtime_error("the nest does not end");
    }
    in.cmd_valid = false;
    return outcomes;
}

}  // namespace switchyard::testing
