// SPDX-License-Identifier: Apache-2.0
// States of a slot of the scheduling window (ACE, section 4.3: two bits).
package window_pkg;

    typedef enum logic [1:0] {
        SlotFree = 2'd0,
        SlotPending = 2'd1,   // its list is being written, or an upstream kernel has not completed
        SlotReady = 2'd2,
        SlotExecuting = 2'd3
    } slot_state_e;

    typedef enum logic [1:0] {
        PhaseIdle = 2'd0,
        PhaseLoad = 2'd1,    // the upstream ids of a new kernel come in
        PhaseUpdate = 2'd2   // the id of a completed kernel leaves the lists
    } phase_e;

endpackage
