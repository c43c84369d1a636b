// SPDX-License-Identifier: Apache-2.0
#include "random_step.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/memory_managers/managers.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::memory_managers;
using testing::filled_blocks;
using testing::largest_operator;
using testing::random_step;

namespace {

/// "" or what a program has done wrong; counts those that ran.
std::string wrong(const MemoryProgram& program, const sched::TrainingStream& stream, const TransferTimes& times,
                  std::size_t& ran) {
    if (!program.out_of_memory.empty()) return "";
    ++ran;
    const ProgramCheck check = check_program(program, stream, estimate(program, times));
    if (!check.broken.empty()) return check.broken.front();
    return check.persistent_hash == unlimited_hash(stream) ? "" : "other weights than with unlimited memory";
}

void check_steps(std::uint64_t first, std::uint64_t count) {
    std::size_t ran[7] = {}, mispredicted = 0, on_demand = 0, recomputed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        RandomSource random(seed, 7);
        const sched::TrainingStream stream = random_step(seed);
        const std::uint64_t largest = largest_operator(stream);
        const std::uint64_t half = largest + random.integer(0, 400), budget = 2 * half;
        TransferTimes times;
        times.setup_ns = random.uniform(0, 100);
        times.to_device_gb_per_s = random.log_uniform(0.01, 100);
        times.to_host_gb_per_s = random.log_uniform(0.01, 100);
        times.device_gb_per_s = random.log_uniform(0.01, 100);
        const dynn_offload::Prediction right = filled_blocks(stream, half),
                                       wrong_path =
                                           filled_blocks(random_step(seed, 1),
                                                         std::max(half, largest_operator(random_step(seed, 1))));
        DtrConfig dtr;
        dtr.max_overhead = 20;
        const MemoryProgram programs[] = {run_unmanaged(stream, random.chance(0.5) ? stream.peak_bytes() : budget),
                                          run_dtr(stream, budget, dtr),
                                          run_zero_offload(stream, stream.peak_bytes(), {}),
                                          run_double_buffer(stream, right, half),
                                          run_double_buffer(stream, wrong_path, half),
                                          run_double_buffer(stream, right, half, EvictionRule::for_room),
                                          run_double_buffer(stream, wrong_path, half, EvictionRule::for_room)};
        for (std::size_t m = 0; m < 7; ++m) {
            const std::string what = wrong(programs[m], stream, times, ran[m]);
            if (!what.empty()) FAIL("seed " << seed << ", manager " << m << ": " << what);
        }
        if (programs[3].on_demand + programs[5].on_demand > 0)
            FAIL("seed " << seed << ": on demand with the true path");
        mispredicted += programs[4].mispredicted;
        on_demand += programs[4].on_demand;
        recomputed += programs[1].recomputed;
    }
    // Each of them was put to the test.
    CHECK(ran[0] > count / 4);
    CHECK(ran[1] > count / 4);
    CHECK(ran[2] > count / 2);
    CHECK(ran[3] == count);
    CHECK(ran[4] == count);
    CHECK(ran[5] == count);
    CHECK(ran[6] == count);
    CHECK(mispredicted == count);
    CHECK(on_demand > count / 10);
    CHECK(recomputed > count / 10);
}

}  // namespace

TEST_CASE("managers keep every rule and make the weights of unlimited memory, on random steps", "[memory_managers]") {
    check_steps(1, 2000);
}

TEST_CASE("the same on 10^5 random steps", "[.memory-managers-long]") {
    check_steps(1000000, 100000);
}

TEST_CASE("a step that fits a half moves nothing but its inputs", "[memory_managers]") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const sched::TrainingStream stream = random_step(seed);
        std::uint64_t all = 0, inputs = 0;
        for (const sched::TrainingTensor& tensor : stream.tensors) {
            if (tensor.is_view()) continue;
            all += tensor.bytes;
            if (tensor.producer == sched::kNoOperator && !tensor.persistent()) inputs += tensor.bytes;
        }
        for (const sched::TrainingOperator& op : stream.operators) all += op.workspace_bytes;
        const MemoryProgram program = run_double_buffer(stream, filled_blocks(stream, all), all);
        const Timeline line = estimate(program, {});
        CHECK(line.to_host_bytes == 0);
        CHECK(line.carried_bytes == 0);
        CHECK(line.to_device_bytes <= inputs);
    }
}

TEST_CASE("a broken program is found", "[memory_managers]") {
    const sched::TrainingStream stream = random_step(3);
    const std::uint64_t half = largest_operator(stream);
    const dynn_offload::Prediction right = filled_blocks(stream, half);
    const MemoryProgram good = run_double_buffer(stream, right, half);
    std::size_t found = 0, tried = 0;
    for (std::size_t i = 0; i < good.actions.size(); ++i) {
        const ActionKind kind = good.actions[i].kind;
        if (kind == ActionKind::drop || kind == ActionKind::compute) continue;
        MemoryProgram bad = good;
        // Without this copy: nothing happens in its place.
        bad.actions[i].kind = ActionKind::drop;
        ++tried;
        found += !check_program(bad, stream, estimate(bad, {})).broken.empty();
    }
    CHECK(tried > 5);
    CHECK(found == tried);
    MemoryProgram small = good;
    small.capacity = {half - 1, half - 1};
    CHECK_FALSE(check_program(small, stream, estimate(small, {})).broken.empty());
    MemoryProgram hasty = good;
    for (Action& action : hasty.actions) action.after = kNoAction;
    CHECK_FALSE(check_program(hasty, stream, estimate(hasty, {})).broken.empty());
}

TEST_CASE("an operator that does not fit a half is refused", "[memory_managers]") {
    const sched::TrainingStream stream = random_step(5);
    const std::uint64_t half = largest_operator(stream);
    const dynn_offload::Prediction right = filled_blocks(stream, half);
    CHECK_THROWS_AS(run_double_buffer(stream, right, half - 1), Infeasible);
    CHECK_THROWS_AS(run_double_buffer(stream, right, 0), Infeasible);
    CHECK_FALSE(run_unmanaged(stream, 0).out_of_memory.empty());
    CHECK_FALSE(run_dtr(stream, 0, {}).out_of_memory.empty());
}
