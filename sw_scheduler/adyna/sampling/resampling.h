// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/sw_scheduler/adyna/sampling/distribution.h"

namespace switchyard::sched {

// Multi-kernel re-sampling as in Adyna, section VII: Algorithms 1 and 2 and the equations around them. What a chip
// counts is how often each kernel was selected; everything here assumes, as the paper does, that within the range
// (v[i-1], v[i]] of a kernel all dyn_dims are equally frequent. v[-1] is 0: a unit without samples needs no kernel.

/// vals[] and freq[]: the kernels' dyn_dims, and how often each kernel was selected; sizes are equal.
struct Samples {
    DynDims values;
    std::vector<double> frequency;
};

/// What a profiler counts for these kernels: frequency[i] = sum of phi(v) over (values[i-1], values[i]].
Samples selected_counts(const Distribution& phi, const DynDims& values);

/// phi(v) under the paper's assumption: frequency[i] / (values[i] - values[i-1]) for each v of a range. `unused`: units
/// without samples.
Distribution uniform_within_ranges(const Samples& samples, double unused = 0);

/// CALCPUNISH: what the loss grows by if a value is removed, so that its range runs the next kernel. Equation (1):
///   punish[i] = sum of phi(v) (v[i+1] - v[i]) over (v[i-1], v[i]] = freq[i] (v[i+1] - v[i]).
/// Infinite for the largest value, which must stay.
std::vector<double> calc_punish(const Samples& samples);

/// CALCSAVING: what the loss shrinks by if m = floor((v[i-1] + v[i]) / 2) is added in front of v[i]. Equation (1) with
/// m in the place of v_i, and the share of freq[i] that lies in (v[i-1], m]:
///   saving[i] = freq[i] (m - v[i-1]) / (v[i] - v[i-1]) * (v[i] - m),
/// which is freq[i] (v[i] - v[i-1]) / 4 for an even range. 0 where no value lies between.
std::vector<double> calc_saving(const Samples& samples);

/// REDISTFREQ (Algorithm 2): the frequencies for `new_values`, whose last is that of samples.values. The new values in
/// (v[i-1], v[i]] take the part of freq[i] from the value before (v[i-1] for the first) up to themselves.
///
/// As printed, LOWERBOUND(vals, pos) is not defined and p counts within the filtered list: taken as v[pos-1] (0 for the
/// first), and as the value's place in new_vals. As printed, what lies above the last new value of a range is lost, and
/// all of freq[i] if there is none (only for ub < new_vals[0] line 6 says where it goes). Here, as there, it goes to
/// the next larger new value, whose kernel it will run: the total frequency is conserved.
std::vector<double> redistribute(const Samples& samples, const DynDims& new_values);

/// One iteration of Algorithm 1 (lines 3 to 19): removes the value with the least punishment, adds the middle of the
/// range with the most saving, redistributes the frequencies; of several, the smallest value. Returns false, and leaves
/// `samples` as they are, where the algorithm recovers the removed value and stops: the value to add is the one that
/// was removed, or is invalid. Invalid is taken as: nothing lies between, or there is nothing to save. Line 8 needs
/// frequencies for the values that are left: they are those of Algorithm 2.
bool resample_once(Samples& samples);

/// Algorithm 1: at most `iterations` iterations. As many values as before, the largest among them.
Samples resample(Samples samples, unsigned iterations);

/// Of all the sets that Algorithm 1 passes, beginning with the given one, that with the least expected loss for `phi`;
/// of several, the first. So re-sampling never makes it worse, as far as phi is known; without `phi` it is
/// uniform_within_ranges(samples). (As printed, an iteration may add what saves less than the removal cost.)
DynDims resample_best(const Samples& samples, unsigned iterations);
DynDims resample_best(const Samples& samples, unsigned iterations, const Distribution& phi);

/// N of Algorithm 1, of which the paper does not say how large it is: enough for each value to be moved a few times.
unsigned usual_iterations(std::size_t values);

}  // namespace switchyard::sched
