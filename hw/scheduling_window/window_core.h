// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/ace/window_entry.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::hw {

/// What the scheduling window sees in a cycle: the ports of rtl/scheduling_window/scheduling_window.sv.
struct WindowInputs {
    bool entry_valid = false;
    sched::ace::KernelId entry_id = 0;
    std::uint8_t entry_count = 0;  ///< upstream ids that follow
    bool upstream_valid = false;
    sched::ace::KernelId upstream_id = 0;
    bool dispatch_ready = false;
    bool complete_valid = false;
    sched::ace::KernelId complete_id = 0;
};

struct WindowOutputs {
    bool entry_ready = false, upstream_ready = false, dispatch_valid = false, complete_ready = false;
    sched::ace::KernelId dispatch_id = 0;  ///< 0 if dispatch_valid is not set
    bool empty = true;
    bool settled = true;  ///< nothing changes until something comes in or is taken

    bool operator==(const WindowOutputs& o) const {
        return entry_ready == o.entry_ready && upstream_ready == o.upstream_ready &&
               dispatch_valid == o.dispatch_valid && complete_ready == o.complete_ready &&
               dispatch_id == o.dispatch_id && empty == o.empty && settled == o.settled;
    }
};

/// One line: "entry_ready 1, ...", for messages.
std::string text_of(const WindowOutputs& outputs);
/// The name of the first output that is not the same in both, "" if there is none.
std::string first_difference(const WindowOutputs& a, const WindowOutputs& b);

struct WindowShape {
    unsigned slots = 32;              ///< N, 2 to 128
    unsigned scheduled_kernels = 64;  ///< M of the host's scheduled_list, N to 255
};

/// "" or what is wrong with it.
std::string validation_error(const WindowShape& shape);

/// The scheduling window and the upstream load module of ACE-HW (section 4.3), cycle by cycle: settle(), where outputs
/// depend on inputs and are to be seen, then clock(). Implementations of RTL throw RtlFault.
class WindowCore : public RtlPart {
public:
    virtual WindowOutputs settle(const WindowInputs& inputs) = 0;
    /// With the inputs of the last settle().
    virtual void clock() = 0;
};

/// Makes the one that `impl` names (`model`; `rtl` and `lockstep` with Switchyard::rtl) for the module `name`. Throws
/// std::invalid_argument: there is none for this shape, or of this name.
using WindowCoreFactory = std::function<std::unique_ptr<WindowCore>(const std::string& impl, const WindowShape& shape,
                                                                    const std::string& name)>;

/// WindowCoreFactory of this library: the model alone.
std::unique_ptr<WindowCore> make_window_core(const std::string& impl, const WindowShape& shape,
                                             const std::string& name);

}  // namespace switchyard::hw
