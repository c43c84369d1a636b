// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/adyna/compiler/hardware.h"
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/adyna/sampling/kernel_sampling.h"
#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/profile.h"

namespace switchyard::sched {

struct CompileOptions {
    std::string design = "adyna";
    /// Mechanisms of the design that are left out (design.h, mechanism_names()).
    std::vector<std::string> without;
    Invocation invocation = Invocation::micro_batch;
    SampleRouting routing = SampleRouting::sorted_reload;
    /// Batches that the chip is given together: their micro-batches follow one another through each segment.
    std::uint32_t batches_in_flight = 1;
    /// Expected share of the batch at each operator; nullptr: the model's own expectations.
    const Profile* profile = nullptr;
    /// How a dynamic operator gets the dyn_dims of its kernels; all but uniform need a profile and a design that
    /// re-samples.
    Sampling sampling = Sampling::uniform;
    /// What they are sampled from; nullptr: `profile`.
    const Profile* sampled = nullptr;
    /// Use only the first `tiles` tiles of the chip; 0: all.
    unsigned tiles = 0;
    /// Samples of a micro-batch, in every segment; 0: chosen by cost.
    unsigned unit_samples = 0;
    Margins margins;
};

/// Names that CompileOptions::design accepts.
std::vector<std::string> design_names();
/// True if the design's kernels may follow a profile (CompileOptions::sampling). Throws InputError, as compile().
bool resamples(const std::string& design);

/// Segments the graph, gives tiles to operators, generates their kernels and lays out scratchpads and HBM.
/// Every operator has a kernel for the largest dyn_dim that can occur (its unit's samples), so best fit never fails.
/// Throws InputError: an unknown design (lists the known ones), a sampling without what it needs, an operator that does
/// not fit the chip (names it and the bytes), a size beyond the kernel format's 16 bits.
///
/// The model's inputs are entries of ImageMeta::operators too (kind "input", after all real operators); their
/// OperatorPlacement has segment kNone and memory interfaces as tiles, and edges from them have src_op = that op_id.
Image compile(const DynGraph& graph, const HardwareDescription& hardware, const CompileOptions& options = {});

/// Switches of which every branch goes from tile to tile, not through HBM.
std::size_t switches_on_chip(const Image& image);

/// What `sy-sched inspect --json` writes: switches, segments, tiles and kernels of each operator, scratchpad map
/// (docs/cli.md).
nlohmann::ordered_json describe_image(const Image& image);
/// The same as the text of `sy-sched inspect`.
std::string explain(const Image& image);

}  // namespace switchyard::sched
