// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace switchyard::platform {

/// Tiles in which a component has another implementation than the one that its section names.
struct TileOverrides {
    std::string text;  ///< "0=rtl 3=lockstep": tile (row * columns + column) and implementation

    /// The implementation of `tile`, which is `impl` unless the text says otherwise.
    std::string impl_of(unsigned tile, const std::string& impl) const;
    /// "" or what is wrong with the text on a chip of `tiles`, with the implementations that there are.
    std::string validation_error(unsigned tiles, const std::vector<std::string>& implementations) const;
    /// For reports: "analytic; 0=rtl 3=lockstep".
    std::string describe_all(const std::string& impl) const { return text.empty() ? impl : impl + "; " + text; }
};

template <class V>
void describe(V& v, TileOverrides& c) {
    v.field("impl_of_tiles", c.text, "tiles with another implementation, such as `0=rtl 3=lockstep`");
}

}  // namespace switchyard::platform
