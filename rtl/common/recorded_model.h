// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind a wrapper.
#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/rtl/common/clocked_model.h"
#include "switchyard/rtl/common/model_state.h"
#include "switchyard/rtl/common/waveform_file.h"

namespace switchyard::rtl {

/// As ClockedModel, and after a failure there is a waveform of the last cycles. A good run pays little for that and
/// leaves no file: only the state from time to time and the inputs since are kept. The waveform is written afterwards,
/// by a second instance that begins with that state and gets the same inputs.
///
/// `Top`: the Verilated class, built with TRACE if `Recorded`. `Pins::inputs(top, visit)` calls visit(pin) with each
/// input but clk_i, in the same order every time.
template <class Top, class Pins, bool Recorded>
class RecordedModel {
public:
    /// Cycles that a waveform shows at least, if there were as many.
    static constexpr std::uint64_t kWaveformCycles = 1024;

    /// Calls of clock() since the reset.
    std::uint64_t cycles() const { return cycles_; }
    /// As ModelContext::save_coverage().
    void save_coverage(const std::string& file) const { model_.context().save_coverage(file); }

    /// Where the last cycles are to be kept when something has failed. Removes what an earlier run left there.
    void keep_waveform(const std::string& file) { waveform_ = WaveformFile(file); }
    /// Writes the waveform, unless that has been done. Returns "; waveform: FILE" or why there is none; "" if nobody
    /// has asked to keep one.
    std::string evidence() {
        if constexpr (Recorded)
            return waveform_.write([this](VerilatedFstC& file) { replay(file); });
        else
            return "";
    }

protected:
    /// Resets the module. A wrapper calls it after it has set the inputs that stay as they are and opened a waveform.
    void reset() {
        top_.rst_ni = 0;
        edge(false);
        edge(true);
        top_.rst_ni = 1;
        edge(false);
    }
    void settle() { edge(false); }
    void clock() {
        edge(true);
        ++cycles_;
    }

private:
    /// The model at one time, and what it got since.
    struct Window {
        std::vector<std::uint8_t> state;
        std::vector<std::uint8_t> edges;  ///< each: the clock, whether the inputs have changed, the inputs if so
        std::uint64_t cycles = 0;
    };

    void edge(bool clock) {
        top_.clk_i = clock;
        if constexpr (Recorded) record(clock);
        try {
            model_.eval();
        } catch (const RtlFault& fault) {
            throw RtlFault(fault.what() + evidence());
        }
    }

    void record(bool clock) {
        if (now_.state.empty() || (!clock && now_.cycles >= kWaveformCycles)) {
            std::swap(before_, now_);
            now_.state = save_state(model_.context(), model_.top());
            now_.edges.clear();
            now_.cycles = 0;
            inputs_.clear();
        }
        now_.cycles += clock ? 1 : 0;
        inputs_now_.clear();
        Pins::inputs(top_, [this](const auto& pin) {
            const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&pin);
            inputs_now_.insert(inputs_now_.end(), bytes, bytes + sizeof pin);
        });
        const bool changed = inputs_now_ != inputs_;
        now_.edges.push_back(static_cast<std::uint8_t>((clock ? 1 : 0) | (changed ? 2 : 0)));
        if (!changed) return;
        std::swap(inputs_, inputs_now_);
        now_.edges.insert(now_.edges.end(), inputs_.begin(), inputs_.end());
    }

    void replay(VerilatedFstC& file) const {
        ContextModel<Top> model;
        const Window& first = before_.state.empty() ? now_ : before_;
        restore_state(model.context(), model.top(), first.state);
        const ModelContext::Current current(model.context());
        model.context().get()->traceEverOn(true);  // part of what has been restored
        model.top().trace(&file, 99);
        file.open(waveform_.name().c_str());
        replay(first, model, file);
        if (&first != &now_) replay(now_, model, file);
        file.close();
    }
    void replay(const Window& window, ContextModel<Top>& model, VerilatedFstC& file) const {
        for (std::size_t at = 0; at < window.edges.size();) {
            const std::uint8_t edge = window.edges[at++];
            model.top().clk_i = edge & 1U;
            if ((edge & 2U) != 0)
                Pins::inputs(model.top(), [&](auto& pin) {
                    std::memcpy(static_cast<void*>(&pin), &window.edges[at], sizeof pin);
                    at += sizeof pin;
                });
            try {
                model.eval();
            } catch (const RtlFault&) {  // the one that is to be shown
            }
            file.dump(model.context().get()->time());
        }
    }

    ContextModel<Top> model_;
    std::uint64_t cycles_ = 0;
    WaveformFile waveform_;
    Window before_, now_;
    std::vector<std::uint8_t> inputs_, inputs_now_;

protected:
    Top& top_ = model_.top();
    const ModelContext& context() const { return model_.context(); }
};

}  // namespace switchyard::rtl
