// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/timeline_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

namespace {

/// With quotes.
std::string json_string(std::string_view text) {
    return json_text(nlohmann::json(text));
}

constexpr double kFarTicks = 9e18;

}  // namespace

TimelineFile::TimelineFile(const std::string& path, const Window& window, double ticks_per_us)
    : file_(path),
      ticks_per_us_(ticks_per_us),
      begin_(static_cast<std::uint64_t>(std::min(window.begin_us * ticks_per_us, kFarTicks))),
      end_(static_cast<std::uint64_t>(std::min(window.end_us * ticks_per_us, kFarTicks))) {
    file_.stream() << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"" << kProgramKey << "\":\"" << kProgram
                   << "\"},\"traceEvents\":[";
}

/// To the nanosecond, as Perfetto keeps times: what ends when the next begins still does.
std::string TimelineFile::microseconds(std::uint64_t ticks) const {
    const auto ns = static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks) / ticks_per_us_ * 1e3));
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

void TimelineFile::event(const std::string& text) {
    file_.stream() << (first_ ? "\n" : ",\n") << text;
    first_ = false;
}

ActivityLog::Track TimelineFile::track(const std::string& group, const std::string& name) {
    const auto known = tracks_.find({group, name});
    if (known != tracks_.end()) return known->second;
    const auto [place, is_new] = groups_.try_emplace(group, static_cast<unsigned>(groups_.size() + 1));
    if (is_new)
        event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", place->second,
                          json_string(group)));
    const auto made = static_cast<Track>(places_.size());
    places_.push_back({place->second, made + 1, name});
    event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", place->second,
                      made + 1, json_string(name)));
    tracks_.emplace(std::make_pair(group, name), made);
    return made;
}

void TimelineFile::slice(Track track, std::string_view name, std::uint64_t begin, std::uint64_t end,
                         std::initializer_list<Argument> arguments) {
    sample_if_due();
    begin = std::max(begin, begin_);
    end = std::min(end, end_);
    if (end <= begin) return;
    Place& place = places_[track];
    if (arguments.size() > 0) {
        write_kept(place);
        write(place, name, begin, end, arguments);
        return;
    }
    if (place.kept != name || place.kept_end != begin) {
        write_kept(place);
        place.kept = name;
        place.kept_begin = begin;
    }
    place.kept_end = end;
}

void TimelineFile::write_kept(Place& place) {
    if (!place.kept.empty()) write(place, place.kept, place.kept_begin, place.kept_end, {});
    place.kept.clear();
}

void TimelineFile::write(const Place& place, std::string_view name, std::uint64_t begin, std::uint64_t end,
                         std::initializer_list<Argument> arguments) {
    const auto ns = [this](std::uint64_t ticks) {
        return std::llround(static_cast<double>(ticks) / ticks_per_us_ * 1e3);
    };
    const long long duration = ns(end) - ns(begin);
    std::string text =
        fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{}.{:03},"name":{})", place.group, place.thread,
                    microseconds(begin), duration / 1000, duration % 1000, json_string(name));
    if (arguments.size() > 0) {
        text += ",\"args\":{";
        const char* comma = "";
        for (const Argument& argument : arguments) {
            text += fmt::format("{}\"{}\":{}", comma, argument.name, argument.value);
            comma = ",";
        }
        text += "}";
    }
    event(text + "}");
}

void TimelineFile::value(Track track, std::uint64_t time, double value) {
    if (time < begin_ || time > end_) return;
    const Place& place = places_[track];
    event(fmt::format(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{"value":{:.6g}}}}})", place.group,
                      microseconds(time), json_string(place.name), value));
}

void TimelineFile::set_sampler(std::function<std::uint64_t()> now, std::function<void(std::uint64_t)> sample) {
    now_ = std::move(now);
    sample_ = std::move(sample);
}

void TimelineFile::sample_if_due() {
    if (!sample_ || sampling_) return;
    const std::uint64_t now = now_();
    if (now < next_sample_ || now < begin_ || now > end_) return;
    sampling_ = true;
    next_sample_ = now + static_cast<std::uint64_t>(kSampleUs * ticks_per_us_);
    sample_(now);
    sampling_ = false;
}

void TimelineFile::finish() {
    for (Place& place : places_) write_kept(place);
    file_.stream() << "\n]}\n";
    file_.commit();
}

TimelineFile::Window parse_timeline_window(const std::string& text) {
    TimelineFile::Window window;
    const std::size_t colon = text.find(':');
    const auto number = [&](const std::string& part, double otherwise) {
        if (part.empty()) return otherwise;
        double value = 0;
        if (parse_plain_number(part, value) != Parsed::ok || value < 0)
            throw InputError("--timeline-window", 0, "",
                             fmt::format("expected a number of microseconds, found \"{}\"", part));
        return value;
    };
    if (colon == std::string::npos)
        throw InputError("--timeline-window", 0, "", "expected BEGIN:END in microseconds, found other text");
    window.begin_us = number(text.substr(0, colon), window.begin_us);
    window.end_us = number(text.substr(colon + 1), window.end_us);
    if (window.end_us <= window.begin_us)
        throw InputError("--timeline-window", 0, "", "expected an end after the begin, found one before it");
    return window;
}

}  // namespace switchyard::platform
