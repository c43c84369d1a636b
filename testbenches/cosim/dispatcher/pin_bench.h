// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "switchyard/rtl/dispatcher/dispatcher_model.h"

namespace switchyard::testing {

/// Functional coverage: a fixed list of points, each with the number of times that it was seen.
class FunctionalCoverage {
public:
    FunctionalCoverage();
    void hit(const std::string& point);
    void hit_if(bool seen, const std::string& point) {
        if (seen) hit(point);
    }
    std::vector<std::pair<std::string, std::uint64_t>> points() const { return {counts_.begin(), counts_.end()}; }
    std::vector<std::string> missing() const;
    /// What was hit without being on the list: a state or an arc that should not exist.
    const std::vector<std::string>& unexpected() const { return unexpected_; }

private:
    std::map<std::string, std::uint64_t> counts_;
    std::vector<std::string> unexpected_;
};

/// A command as it goes over the pins, and what the other sides of the ports do meanwhile.
struct PinCommand {
    bool configure = false, multicast = false;
    std::uint16_t first = 0, rank = 0;
    std::uint32_t count = 0, dyn_dim = 0;
    std::uint32_t invocation = 0;  ///< samples by which the kernel is selected; 0: by dyn_dim
    bool continued = false;        ///< a later unit of an invocation
    std::uint32_t input_offset = 0, weight_offset = 0, output_offset = 0;
    bool channelwise = false;
    std::uint16_t in_channels = 1, in_rows = 1, in_columns = 1;
    int fail_fetch = -1;          ///< ordinal of the fetch that the scratchpad answers with an error
    int refuse_instruction = -1;  ///< ordinal of the instruction that is refused
};

struct PinBlock {
    unsigned ops = 0;
    bool vector_op = false, first = false, last = false;
    std::uint32_t rows = 0, columns = 0, row_outputs = 0, column_outputs = 0, reduction = 0;
    hw::OutputIndex position{}, extent{}, box{};
    std::uint32_t input_address = 0, weight_address = 0, output_address = 0;
    std::string text() const;
};

struct PinOutcome {
    rtl::DispatcherStatus status = rtl::DispatcherStatus::ok;
    std::uint32_t index = 0, largest = 0, search_cycles = 0, invocations = 0;
    std::uint64_t issued = 0, skipped = 0;
    std::uint32_t kernels = 0;
    std::vector<std::uint32_t> fetched;
    std::vector<PinBlock> blocks;
    unsigned sent = 0;  ///< ops of the send, 0: none
    std::uint32_t sent_address = 0;
    std::uint64_t cycles = 0;  ///< from the one in which the command was taken to the one with the result
    std::string text() const;
};

/// How often a side makes the dispatcher wait, in percent of the cycles.
struct Stalls {
    unsigned command = 0, fetch = 0, data = 0, instruction = 0, result = 0;
};

/// Drives every pin of a dispatcher, cycle by cycle, from a list of commands: the next one may stand at the port while
/// the one before is still in progress. Checks what the protocol asks of the dispatcher: what waits at a port stays.
class PinBench {
public:
    PinBench(std::unique_ptr<rtl::DispatcherModel> model, FunctionalCoverage& coverage, unsigned seed)
        : model_(std::move(model)), coverage_(coverage), random_(seed) {}

    /// Kernel store of the scratchpad.
    std::vector<KernelBytes> store;
    Stalls stalls;

    /// Throws std::runtime_error if the dispatcher breaks the protocol, an assertion fails or nothing happens any more.
    std::vector<PinOutcome> run(const std::vector<PinCommand>& commands);

    rtl::DispatcherModel& model() { return *model_; }

private:
    bool stalled(unsigned percent) { return random_() % 100 < percent; }
    void drive(const PinCommand& command);
    void observe(const rtl::DispatcherOutputs& before);

    std::unique_ptr<rtl::DispatcherModel> model_;
    FunctionalCoverage& coverage_;
    std::mt19937 random_;
    unsigned waiting_ = 0;  ///< cycles for which an instruction has waited
};

}  // namespace switchyard::testing
