// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/kernel_streams/stream_model.h"

namespace switchyard::sched {

/// Each reads its keys of a description and makes the generator. docs/kernel_stream.md has the keys; a generator's
/// source says what was read in which publication or repository, and what was assumed.
StreamGenerator read_brax(MappingReader& file);
StreamGenerator read_squeezenet(MappingReader& file);
StreamGenerator read_nasnet(MappingReader& file);
StreamGenerator read_amoebanet(MappingReader& file);
StreamGenerator read_random_wiring(MappingReader& file);
StreamGenerator read_instanas(MappingReader& file);
StreamGenerator read_dynamic_routing(MappingReader& file);
StreamGenerator read_condconv(MappingReader& file);
/// A stream that somebody captured: `stream: FILE`, JSON Lines or binary, relative to the description.
StreamGenerator read_recorded(MappingReader& file);

}  // namespace switchyard::sched
