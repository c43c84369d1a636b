// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/preprocessor/repetition/repeat.hpp>

#include "switchyard/hw/pe_array/array_core.h"

namespace switchyard::rtl {
/// The registers of a Verilated pe_array.sv.
template <class Model>
hw::ArrayState state_of(const Model& model);
}  // namespace switchyard::rtl

/// Defines state_of() for a Verilated pe_array.sv of this size. Verilator gives each PE's
/// registers a name of its own, so the names are made here; `Model___024root.h` declares them.
#define SWITCHYARD_ARRAY_STATE(Model, kRows, kColumns)                                                           \
    template <>                                                                                                  \
    inline hw::ArrayState state_of(const Model& model) {                                                         \
        const auto& root = *model.rootp;                                                                         \
        const decltype(&root.SWITCHYARD_ARRAY_SUMS(0, 0)) sums[] = {                                             \
            BOOST_PP_REPEAT(kRows, SWITCHYARD_ARRAY_ROW, kColumns)};                                             \
        hw::ArrayState state;                                                                                    \
        state.columns = kColumns;                                                                                \
        state.accumulators = sizeof *sums[0] / sizeof(*sums[0])[0] / 2;                                          \
        state.fresh = root.pe_array__DOT__fresh_q;                                                               \
        state.feed_set = root.pe_array__DOT__feed_set_q;                                                         \
        state.drain_set = root.pe_array__DOT__drain_set_q;                                                       \
        state.drain_accumulator = root.pe_array__DOT__drain_accumulator_q;                                       \
        state.beats_left = root.pe_array__DOT__beats_left_q;                                                     \
        for (unsigned set = 0; set < 2; ++set) {                                                                 \
            state.sets[set].busy = root.pe_array__DOT__busy_q[set];                                              \
            state.sets[set].filled = root.pe_array__DOT__filled_q[set];                                          \
            state.sets[set].wait = root.pe_array__DOT__wait_q[set];                                              \
            state.sets[set].rows = root.pe_array__DOT__rows_q[set];                                              \
            state.sets[set].accumulators = root.pe_array__DOT__accumulators_q[set];                              \
        }                                                                                                        \
        for (const auto* of_a_pe : sums)                                                                         \
            for (unsigned set = 0; set < 2; ++set)                                                               \
                for (unsigned i = 0; i < state.accumulators; ++i) state.sums.push_back((*of_a_pe)[2 * i + set]); \
        return state;                                                                                            \
    }

#define SWITCHYARD_ARRAY_SUMS(i, j) \
    pe_array__DOT__g_column__BRA__##j##__KET____DOT__g_row__BRA__##i##__KET____DOT__i_pe__DOT__sums_q
#define SWITCHYARD_ARRAY_PE(z, j, i) &root.SWITCHYARD_ARRAY_SUMS(i, j),
#define SWITCHYARD_ARRAY_ROW(z, i, kColumns) BOOST_PP_REPEAT(kColumns, SWITCHYARD_ARRAY_PE, i)
