// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchyard {

/// What components do at which time, for a timeline. A component that logs takes current() when it is made, asks for
/// its tracks, and tells each activity when it knows its end. Without a log it is null, and nothing is done.
///
/// The slices of a track do not overlap unless one lies within the other. Times are ticks of the simulator.
class ActivityLog {
public:
    using Track = std::uint32_t;
    struct Argument {
        const char* name;
        std::uint64_t value;
    };

    ActivityLog() = default;
    ActivityLog(const ActivityLog&) = delete;
    ActivityLog& operator=(const ActivityLog&) = delete;
    virtual ~ActivityLog() = default;

    /// Of the process's simulation; null: nobody wants one.
    static ActivityLog* current() { return current_log(); }
    static void set_current(ActivityLog* log) { current_log() = log; }

    /// The track `name` of a group; the same each time.
    virtual Track track(const std::string& group, const std::string& name) = 0;
    virtual void slice(Track track, std::string_view name, std::uint64_t begin, std::uint64_t end,
                       std::initializer_list<Argument> arguments = {}) = 0;
    /// From `time` on a quantity has this value. Its track has no slices.
    virtual void value(Track track, std::uint64_t time, double value) = 0;

    /// `sample(now)` is called at intervals, so that it can tell values; `now()` is the simulator's time. Empty: no
    /// more.
    virtual void set_sampler(std::function<std::uint64_t()> now, std::function<void(std::uint64_t)> sample) = 0;

    /// Of operators of the network, by id.
    void set_operator_names(std::vector<std::string> names) { operator_names_ = std::move(names); }
    std::string operator_name(std::uint16_t op_id) const {
        return op_id < operator_names_.size() ? operator_names_[op_id] : "operator " + std::to_string(op_id);
    }

private:
    static ActivityLog*& current_log() {
        static ActivityLog* log = nullptr;
        return log;
    }

    std::vector<std::string> operator_names_;
};

/// Tracks for activities that may overlap, told in the order of their ends: each comes on the first track that is free.
class ActivityLanes {
public:
    ActivityLanes(std::string group, std::string name) : group_(std::move(group)), name_(std::move(name)) {}

    ActivityLog::Track lane(ActivityLog& log, std::uint64_t begin, std::uint64_t end) {
        std::size_t lane = 0;
        while (lane < ends_.size() && ends_[lane] > begin) ++lane;
        if (lane == ends_.size()) ends_.push_back(0);
        ends_[lane] = end;
        return log.track(group_, lane == 0 ? name_ : name_ + ", lane " + std::to_string(lane + 1));
    }

private:
    std::string group_, name_;
    std::vector<std::uint64_t> ends_;
};

}  // namespace switchyard
