// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/ace/host_api.h"

namespace switchyard::sched::ace {

/// A lock between threads of the host. In no time of its own.
class HostMutex {
public:
    /// `what`: for whom asks why a thread waits.
    explicit HostMutex(const char* what) : what_(what) {}

    class Guard {
    public:
        Guard(HostMutex& mutex, HostThread& thread) : mutex_(mutex), thread_(thread) {
            thread.await([&mutex] { return !mutex.held_; }, mutex.what_);
            mutex.held_ = true;
        }
        ~Guard() {
            mutex_.held_ = false;
            thread_.changed();
        }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

    private:
        HostMutex& mutex_;
        HostThread& thread_;
    };

private:
    const char* what_;
    bool held_ = false;
};

}  // namespace switchyard::sched::ace
