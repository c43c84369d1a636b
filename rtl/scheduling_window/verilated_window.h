// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind WindowCore: the library's, and those of the tests, which have
// mutants.
#include <string>

#include "switchyard/hw/scheduling_window/window_core.h"
#include "switchyard/rtl/common/recorded_model.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::rtl {

/// A WindowCore of which there is a waveform.
class WindowRtl : public hw::WindowCore {
public:
    /// As RecordedModel. evidence() writes the waveform.
    virtual void keep_waveform(const std::string& file) = 0;
};

struct WindowPins {
    template <class Top, class Visit>
    static void inputs(Top& top, Visit&& visit) {
        visit(top.rst_ni);
        visit(top.scheduled_i);
        visit(top.entry_valid_i);
        visit(top.entry_id_i);
        visit(top.entry_count_i);
        visit(top.upstream_valid_i);
        visit(top.upstream_id_i);
        visit(top.dispatch_ready_i);
        visit(top.complete_valid_i);
        visit(top.complete_id_i);
    }
};

/// rtl/scheduling_window/scheduling_window.sv. `Top`: the Verilated class, with TRACE if `Traced`.
template <class Top, bool Traced>
class VerilatedWindow : public WindowRtl, private RecordedModel<Top, WindowPins, Traced> {
    using Model = RecordedModel<Top, WindowPins, Traced>;

public:
    explicit VerilatedWindow(const hw::WindowShape& shape) {
        this->top_.scheduled_i = static_cast<std::uint8_t>(shape.scheduled_kernels);
        this->reset();
    }

    hw::WindowOutputs settle(const hw::WindowInputs& inputs) override {
        Top& top = this->top_;
        top.entry_valid_i = inputs.entry_valid;
        top.entry_id_i = inputs.entry_id;
        top.entry_count_i = inputs.entry_count;
        top.upstream_valid_i = inputs.upstream_valid;
        top.upstream_id_i = inputs.upstream_id;
        top.dispatch_ready_i = inputs.dispatch_ready;
        top.complete_valid_i = inputs.complete_valid;
        top.complete_id_i = inputs.complete_id;
        Model::settle();
        hw::WindowOutputs outputs;
        outputs.entry_ready = top.entry_ready_o;
        outputs.upstream_ready = top.upstream_ready_o;
        outputs.dispatch_valid = top.dispatch_valid_o;
        outputs.dispatch_id = top.dispatch_id_o;
        outputs.complete_ready = top.complete_ready_o;
        outputs.empty = top.empty_o;
        outputs.settled = top.settled_o;
        return outputs;
    }
    void clock() override { Model::clock(); }
    void keep_waveform(const std::string& file) override { Model::keep_waveform(file); }
    std::string evidence() override { return Model::evidence(); }
    void save_coverage(const std::string& file) const { Model::save_coverage(file); }
};

}  // namespace switchyard::rtl
