// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

namespace switchyard::platform {

/// A piece of work failed. `what()` is what its process had to say, in one line.
class WorkFailed : public std::runtime_error {
public:
    WorkFailed(std::size_t failed, const std::string& message) : std::runtime_error(message), index(failed) {}
    std::size_t index;
};

/// Runs work(0) to work(count - 1), each in a forked process of its own, at most `jobs` (at least 1) at a time, and
/// calls finished(index, result, seconds) in this process for each that has ended, as they end. SystemC elaborates once
/// a process; so no SystemC object may exist here. If this process is killed, so are they (on Linux).
///
/// Throws WorkFailed for the first that throws, dies or ends without a result, and passes on what `finished` throws;
/// those that still run are killed first. Where interrupt_requested(), they are sent SIGTERM, so that they see it too.
void run_in_processes(std::size_t count, unsigned jobs, const std::function<std::string(std::size_t)>& work,
                      const std::function<void(std::size_t, const std::string&, double)>& finished);

/// The same, but calls failed(index, message, seconds) for one that throws, dies or ends without a result, and goes on.
/// Where interrupt_requested() (system/interrupt.h), those that still run are killed. Returns whether all have ended.
bool run_all_in_processes(std::size_t count, unsigned jobs, const std::function<std::string(std::size_t)>& work,
                          const std::function<void(std::size_t, const std::string&, double)>& finished,
                          const std::function<void(std::size_t, const std::string&, double)>& failed);

}  // namespace switchyard::platform
