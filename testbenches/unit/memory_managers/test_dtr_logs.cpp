// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>

#include "switchyard/sw_scheduler/memory_managers/managers.h"
#include "switchyard/sw_scheduler/workload/dtr_log.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::memory_managers;

// The logs of the DTR simulator are not part of this library (uwsampl/dtr-prototype, simrd/logs.zip). With their folder
// in SWITCHYARD_DTR_LOGS this prints, for each, recomputation over base computation by share of the peak memory.
TEST_CASE("DTR on the logs of its authors", "[.dtr-logs]") {
    const char* const folder = std::getenv("SWITCHYARD_DTR_LOGS");
    if (folder == nullptr) FAIL("SWITCHYARD_DTR_LOGS names no folder");
    std::set<std::filesystem::path> logs;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".log") logs.insert(entry.path());
    REQUIRE_FALSE(logs.empty());
    for (const std::filesystem::path& log : logs) {
        const sched::TrainingStream stream = sched::read_dtr_log(log.string());
        const double base = stream.total_ns();
        std::cout << log.stem().string() << ": " << stream.operators.size() << " operators, " << base * 1e-6 << " ms, "
                  << static_cast<double>(stream.peak_bytes()) * 1e-6 << " MB;";
        double before = 0;
        for (unsigned tenths = 10; tenths >= 1; --tenths) {
            const MemoryProgram program = run_dtr(stream, stream.peak_bytes() / 10 * tenths, {});
            if (!program.out_of_memory.empty()) {
                std::cout << " 0." << tenths << (program.thrashing ? ": thrashing" : ": out of memory");
                break;
            }
            const ProgramCheck check = check_program(program, stream, estimate(program, {}));
            INFO(log << " " << tenths);
            CHECK(check.broken == std::vector<std::string>{});
            before = program.recompute_ns / base;
            std::cout << " 0." << tenths << ": " << 100 * before << " %";
        }
        std::cout << std::endl;
    }
}
