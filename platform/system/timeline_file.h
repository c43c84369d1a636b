// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/tlm/activity_log.h"

namespace switchyard::platform {

/// A timeline in the Trace Event Format (JSON), which Perfetto's UI and trace_processor open (docs/timeline.md). It is
/// written while the simulation goes on.
class TimelineFile : public ActivityLog {
public:
    /// Times in microseconds of simulated time: what lies outside is left out, what reaches beyond is cut.
    struct Window {
        double begin_us = 0, end_us = std::numeric_limits<double>::infinity();
    };

    /// `ticks_per_us`: of the simulator. Throws InputError if the file cannot be written.
    TimelineFile(const std::string& path, const Window& window, double ticks_per_us);

    Track track(const std::string& group, const std::string& name) override;
    void slice(Track track, std::string_view name, std::uint64_t begin, std::uint64_t end,
               std::initializer_list<Argument> arguments) override;
    void value(Track track, std::uint64_t time, double value) override;

    /// At slices that are told at least kSampleUs after the last call.
    void set_sampler(std::function<std::uint64_t()> now, std::function<void(std::uint64_t)> sample) override;
    /// Nobody has asked for a track.
    bool empty() const { return places_.empty(); }
    /// The file is whole and takes its name. Throws InputError.
    void finish();

private:
    static constexpr double kSampleUs = 1;
    struct Place {
        unsigned group = 0, thread = 0;
        std::string name;
        std::string kept{};  ///< name of a slice without arguments that the next one may go on with
        std::uint64_t kept_begin = 0, kept_end = 0;
    };
    void write(const Place& place, std::string_view name, std::uint64_t begin, std::uint64_t end,
               std::initializer_list<Argument> arguments);
    void write_kept(Place& place);
    std::string microseconds(std::uint64_t ticks) const;
    void event(const std::string& text);
    void sample_if_due();

    OutputFile file_;
    double ticks_per_us_;
    std::uint64_t begin_, end_;
    bool first_ = true, sampling_ = false;
    std::map<std::string, unsigned> groups_;
    std::map<std::pair<std::string, std::string>, Track> tracks_;
    std::vector<Place> places_;
    std::uint64_t next_sample_ = 0;
    std::function<std::uint64_t()> now_;
    std::function<void(std::uint64_t)> sample_;
};

/// "BEGIN:END" in microseconds; either may be left out. Throws InputError.
TimelineFile::Window parse_timeline_window(const std::string& text);

}  // namespace switchyard::platform
