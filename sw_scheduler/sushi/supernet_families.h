// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/sushi/supernet.h"

namespace switchyard::sched::sushi {

/// Channels in multiples of eight, never more than 10 % below `value` (make_divisible of mit-han-lab/once-for-all).
std::uint32_t divisible(double value);

/// Search spaces of Once-for-all (mit-han-lab/once-for-all: ofa_resnets.py, ofa_mbv3.py, layers.py), without the
/// classifier. Each adds tensors of the largest SubNet; a SubNet is read from its mapping.

/// ResNet50D with elastic depth (0 to 2 blocks more a stage), expansion (a stage) and width (stem 0, stem 2, four
/// stages).
void add_resnet_tensors(Supernet& supernet);
SubNet read_resnet_subnet(const Supernet& supernet, MappingReader& mapping);

/// MobileNetV3 with elastic depth (2 to 4 blocks), expansion and kernel a stage. A depthwise kernel of another size is
/// another tensor: a learned transform stands between them.
void add_mobilenet_tensors(Supernet& supernet);
SubNet read_mobilenet_subnet(const Supernet& supernet, MappingReader& mapping);

/// Takes a slice for the layer; `from` the mapping's line if it does not nest. Appends it and returns its number.
int append_layer(const Supernet& supernet, SubNet& subnet, const MappingReader& from, const std::string& tensor,
                 LayerUse use);

}  // namespace switchyard::sched::sushi
