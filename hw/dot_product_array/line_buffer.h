// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/weight_tiles.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::hw {

/// A pass of one channel through the line buffer. Rows are those that come in, the first one is 0.
struct LineBufferPass {
    std::uint32_t side = 3, stride = 1;
    std::uint32_t width = 1, rows = 1;
    std::uint32_t centre = 0;  ///< row of the first window's centre
    std::uint64_t fill = 0;    ///< pixels before the one that completes the first window
    std::int8_t zero = 0;      ///< beyond the edges

    /// Of a band of a layer; `zero` is left to the caller.
    static LineBufferPass of(const sched::Convolution& layer, const sched::RowBand& band) {
        return {layer.side,
                layer.stride,
                layer.width,
                band.input_end - band.input_begin,
                band.begin * layer.stride - band.input_begin,
                sched::pass_cycles(layer, band).fill};
    }
};

/// The line buffer of one channel (SUSHI, MLSys 2023, section 4.2.2), pixel by pixel
/// (rtl/dot_product_array/line_buffer.sv has the same ports). Implementations of RTL throw RtlFault.
class LineBufferCore : public RtlPart {
public:
    virtual void begin(const LineBufferPass& pass) = 0;
    /// One pixel of the pass, row by row; behind the last row any. True: it completes a window that the stride does not
    /// skip, which is then in `window` [side * side].
    virtual bool step(std::int8_t pixel, std::int8_t* window) = 0;
};

/// The model: keeps all pixels of the pass, and takes windows out of them by their definition.
class CycleLineBuffer : public LineBufferCore {
public:
    void begin(const LineBufferPass& pass) override {
        pass_ = pass;
        pixels_.clear();
    }
    bool step(std::int8_t pixel, std::int8_t* window) override;

private:
    LineBufferPass pass_;
    std::vector<std::int8_t> pixels_;
};

/// Makes the line buffer that `impl` names (`cycle`; `rtl` and `lockstep` with Switchyard::rtl) for windows of `side`,
/// of the module `name`. Throws std::invalid_argument: there is none.
using LineBufferFactory = std::function<std::unique_ptr<LineBufferCore>(const std::string& impl, std::uint32_t side,
                                                                        const std::string& name)>;

/// LineBufferFactory of this library: the model alone.
std::unique_ptr<LineBufferCore> make_line_buffer(const std::string& impl, std::uint32_t side, const std::string& name);

}  // namespace switchyard::hw
