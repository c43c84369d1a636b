// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>

#include "switchyard/platform/system/system_registry.h"

namespace switchyard::platform {

/// Which keys of an experiment or a sweep have an effect. A key that several points share needs one that takes it: a
/// design without routes may stand in a comparison whose other designs are drawn with a seed.
class UsedKeys {
public:
    /// Where a key is written: `line` 0 is left out of messages.
    struct Place {
        std::string key;  ///< "seed", "networks: skipnet: trace"
        int line = 0;
        bool operator<(const Place& other) const { return key < other.key; }
    };

    /// One point has the key there; `refusal`: why it has no effect on the point, or "".
    void add(const Place& place, const std::string& refusal);
    /// Throws InputError "file:line: key: ..." for a key without effect on any of its points.
    void check(const std::string& file) const;

private:
    std::map<Place, std::string> refusals_;  ///< "": some point takes it
};

/// Adds what the point's work sets. `network` and `design`: where its entries in the lists of the file are.
void add_work(UsedKeys& used, const Point& point, const SystemRegistry& registry, const UsedKeys::Place& network,
              const UsedKeys::Place& design);

}  // namespace switchyard::platform
