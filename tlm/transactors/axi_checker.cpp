// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/transactors/axi_checker.h"
#include "switchyard/tlm/has_process.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace switchyard {

const AxiRuleText& rule_text(AxiRule rule) {
    static const AxiRuleText kTexts[kAxiRules] = {
        {"valid_in_reset", "A3.1.2", "VALID is low in reset and in the first cycle after it"},
        {"valid_dropped", "A3.2.1", "VALID stays until READY"},
        {"payload_changed", "A3.2.1", "what a channel carries stays while VALID waits for READY"},
        {"burst_type_reserved", "A3.4.1", "a burst is FIXED, INCR or WRAP"},
        {"burst_crosses_4k", "A3.4.1", "a burst does not cross a 4 KiB boundary"},
        {"size_too_wide", "A3.4.1", "a beat is no wider than the data bus"},
        {"wrap_length", "A3.4.1", "a WRAP burst has 2, 4, 8 or 16 beats"},
        {"wrap_unaligned", "A3.4.1", "a WRAP burst begins at a multiple of its beats' size"},
        {"fixed_length", "A3.4.1", "a FIXED burst has up to 16 beats"},
        {"write_last", "A3.4.1", "WLAST comes with the last beat of a burst, and with no other"},
        {"strobe_outside_beat", "A3.4.3", "strobes are set in the byte lanes of the beat only"},
        {"write_response_unasked", "A3.3.1", "a write response has a write address of its ID before it"},
        {"write_response_early", "A3.3.1", "a write response comes after the last beat of data"},
        {"exclusive_okay", "A7.2.3", "EXOKAY answers exclusive accesses only"},
        {"read_data_unasked", "A3.3.1", "read data have a read address of their ID before them"},
        {"read_last", "A3.4.1", "RLAST comes with the last beat of a burst, and with no other"},
        {"lite_burst", "B1.1.1", "AXI4-Lite: one beat of the bus's width, no ID"}};
    return kTexts[static_cast<unsigned>(rule)];
}

AxiChecker::AxiChecker(const sc_core::sc_module_name& module_name, const AxiSignals& signals)
    : sc_module(module_name), axi_(signals) {
    SWITCHYARD_HAS_PROCESS(AxiChecker);
    SC_METHOD(clocked);
    sensitive << clock.pos();
    dont_initialize();
}

void AxiChecker::clocked() {
    check_handshakes();
    if (!aresetn.read()) {
        write_addresses_.clear();
        write_beats_.clear();
        awaited_writes_.clear();
        complete_writes_.clear();
        awaited_reads_.clear();
        outstanding_ = 0;
        return;
    }
    if (axi_.aw.valid.read() && axi_.aw.ready.read()) {
        const AxiBurst burst = AxiBurst::from(axi_.aw, axi_.config);
        check_address("AW", axi_.aw, burst);
        write_addresses_.push_back(burst);
        ++awaited_writes_[burst.id];
        max_outstanding_ = std::max(max_outstanding_, ++outstanding_);
    }
    if (axi_.w.valid.read() && axi_.w.ready.read())
        write_beats_.push_back({axi_.w.strobes.read(), axi_.config.lite || axi_.w.last.read()});
    // A response in the cycle of the last beat is too early: what this cycle completes counts from the next one on.
    take_write_response();
    match_writes();
    take_read_data();
    if (axi_.ar.valid.read() && axi_.ar.ready.read()) {
        const AxiBurst burst = AxiBurst::from(axi_.ar, axi_.config);
        check_address("AR", axi_.ar, burst);
        awaited_reads_[burst.id].push_back({burst, 0});
        max_outstanding_ = std::max(max_outstanding_, ++outstanding_);
    }
}

void AxiChecker::check_handshakes() {
    const auto address = [](const AxiSignals::Address& a) {
        return std::vector<std::uint64_t>{a.address.read(), a.id.read(), a.length.read(), a.size.read(),
                                          a.burst.read()};
    };
    const auto& [b, r, w] = std::tie(axi_.b, axi_.r, axi_.w);
    check_channel("AW", {axi_.aw.valid.read(), axi_.aw.ready.read(), address(axi_.aw)});
    check_channel("AR", {axi_.ar.valid.read(), axi_.ar.ready.read(), address(axi_.ar)});
    check_channel("W", {w.valid.read(), w.ready.read(), {w.data.read(), w.strobes.read(), w.last.read()}});
    check_channel("B", {b.valid.read(), b.ready.read(), {b.id.read(), b.response.read()}});
    check_channel("R",
                  {r.valid.read(), r.ready.read(), {r.data.read(), r.id.read(), r.response.read(), r.last.read()}});
    was_running_ = aresetn.read();
}

void AxiChecker::check_channel(const std::string& channel, const Handshake& now) {
    Handshake& before = before_[channel];
    const bool running = aresetn.read();
    if (now.valid && !was_running_) report(AxiRule::valid_in_reset, channel);
    if (running && was_running_ && before.valid && !before.ready) {
        if (!now.valid) report(AxiRule::valid_dropped, channel);
        if (now.valid && now.payload != before.payload) report(AxiRule::payload_changed, channel);
    }
    if (running && now.valid && !now.ready) ++stalled_;
    before = now;
}

void AxiChecker::check_address(const std::string& channel, const AxiSignals::Address& wires, const AxiBurst& burst) {
    const std::string where = fmt::format("{} {:#x}, {} beats of {} bytes, type {}, ID {}", channel, burst.address,
                                          burst.beats(), burst.beat_bytes(), burst.type, burst.id);
    if (axi_.config.lite) {
        // A master has none of these wires: they stay 0, or say what is implied.
        const unsigned length = wires.length.read(), size = wires.size.read(), id = wires.id.read();
        if (length != 0 || id != 0 || (size != 0 && size != axi_.config.full_size()))
            report(AxiRule::lite_burst,
                   fmt::format("{} {:#x}, length {}, size {}, ID {}", channel, burst.address, length, size, id));
        return;
    }
    if (burst.type > static_cast<unsigned>(AxiBurstType::wrap)) return report(AxiRule::burst_type_reserved, where);
    if (burst.beat_bytes() > axi_.config.data_bytes) report(AxiRule::size_too_wide, where);
    if (burst.is(AxiBurstType::incr) && burst.address / 4096 != (burst.highest() - 1) / 4096)
        report(AxiRule::burst_crosses_4k, where);
    if (burst.is(AxiBurstType::fixed) && burst.beats() > 16) report(AxiRule::fixed_length, where);
    if (burst.is(AxiBurstType::wrap)) {
        const unsigned beats = burst.beats();
        if (beats != 2 && beats != 4 && beats != 8 && beats != 16) report(AxiRule::wrap_length, where);
        if (burst.address % burst.beat_bytes() != 0) report(AxiRule::wrap_unaligned, where);
    }
}

/// Write data belong to addresses in order, and may come before them.
void AxiChecker::match_writes() {
    while (!write_addresses_.empty() && !write_beats_.empty()) {
        const AxiBurst burst = write_addresses_.front();
        const unsigned arrived = static_cast<unsigned>(std::min<std::size_t>(burst.beats(), write_beats_.size()));
        const auto last = std::find_if(write_beats_.begin(), write_beats_.begin() + arrived,
                                       [](const WriteBeat& beat) { return beat.last; });
        const auto ended = static_cast<unsigned>(last - write_beats_.begin());
        const bool complete = arrived == burst.beats() || ended < arrived;
        if (!complete) return;
        if (ended + 1 != burst.beats())
            report(AxiRule::write_last, fmt::format("burst of {} beats at {:#x}", burst.beats(), burst.address));
        const unsigned beats = std::min(ended + 1, arrived);
        for (unsigned i = 0; i < beats; ++i) {
            const std::uint64_t width = axi_.config.data_bytes;
            unsigned lanes = 0;
            for (std::uint64_t a = burst.beat_address(i); a < burst.beat_end(i); ++a) lanes |= 1u << a % width;
            if (write_beats_[i].strobes & ~lanes)
                report(AxiRule::strobe_outside_beat, fmt::format("beat {} at {:#x}: strobes {:#x}", i,
                                                                 burst.beat_address(i), write_beats_[i].strobes));
        }
        write_beats_.erase(write_beats_.begin(), write_beats_.begin() + beats);
        write_addresses_.pop_front();
        ++complete_writes_[burst.id];
    }
}

void AxiChecker::take_write_response() {
    if (!axi_.b.valid.read() || !axi_.b.ready.read()) return;
    const unsigned id = axi_.b.id.read();
    ++writes_;
    if (axi_.b.response.read() == static_cast<unsigned>(AxiResponse::exokay))
        report(AxiRule::exclusive_okay, fmt::format("B, ID {}", id));
    if (awaited_writes_[id] == 0) return report(AxiRule::write_response_unasked, fmt::format("ID {}", id));
    --awaited_writes_[id];
    --outstanding_;
    if (complete_writes_[id] == 0) return report(AxiRule::write_response_early, fmt::format("ID {}", id));
    --complete_writes_[id];
}

void AxiChecker::take_read_data() {
    if (!axi_.r.valid.read() || !axi_.r.ready.read()) return;
    const unsigned id = axi_.r.id.read();
    if (axi_.r.response.read() == static_cast<unsigned>(AxiResponse::exokay))
        report(AxiRule::exclusive_okay, fmt::format("R, ID {}", id));
    std::deque<ReadBurst>& bursts = awaited_reads_[id];
    if (bursts.empty()) return report(AxiRule::read_data_unasked, fmt::format("ID {}", id));
    ReadBurst& read = bursts.front();
    const bool last = ++read.beats == read.burst.beats();
    if (!axi_.config.lite && last != axi_.r.last.read())
        report(AxiRule::read_last,
               fmt::format("beat {} of {} at {:#x}", read.beats, read.burst.beats(), read.burst.address));
    if (!last && !axi_.r.last.read()) return;
    bursts.pop_front();
    --outstanding_;
    ++reads_;
}

void AxiChecker::report(AxiRule rule, const std::string& detail) {
    const AxiRuleText& text = rule_text(rule);
    const std::string message =
        fmt::format("{}: not so: {} (ARM IHI 0022H {}): {}", name(), text.text, text.clause, detail);
    if (handler_)
        handler_({rule, message});
    else
        SC_REPORT_ERROR((std::string("switchyard/axi/") + text.id).c_str(), message.c_str());
}

}  // namespace switchyard
