// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/sw_scheduler/adyna/image/samples.h"

/// Commands and events between a tile's controller and its network interface: extensions on payloads with
/// TLM_IGNORE_COMMAND, sent by b_transport, served at once (no time passes but what is added to `delay`).
namespace switchyard {

/// Controller to network interface.
struct InterfaceCommand : ::tlm::tlm_extension<InterfaceCommand> {
    enum class Kind : std::uint8_t {
        program,        ///< use `program` from now on; every edge is closed
        open_segment,   ///< in-edges of `segment` accept units of `batch` (their slots are free)
        close_segment,  ///< forget the units and masks of `segment`
        open_weights,   ///< the region of weights edge `edge` is free: accept or fetch its bytes
        release_unit,   ///< input slot (edge, unit) has been consumed
        fetch_masks,    ///< read the recorded masks of (operator_index, unit) from HBM
        send_control,   ///< control packet `control` to the host endpoint
        send_profile    ///< config packet with `bytes` to the host endpoint
    };
    Kind kind = Kind::program;
    std::shared_ptr<const TileProgram> program;
    std::uint32_t batch = 0;
    std::uint16_t segment = 0;
    std::uint16_t edge = 0;
    std::uint16_t unit = 0;
    std::uint16_t operator_index = 0;
    std::uint32_t control = 0;
    std::vector<std::uint8_t> bytes;

    ::tlm::tlm_extension_base* clone() const override { return new InterfaceCommand(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const InterfaceCommand&>(other);
    }
};

/// Network interface to controller, at the time it happens.
struct InterfaceEvent : ::tlm::tlm_extension<InterfaceEvent> {
    enum class Kind : std::uint8_t {
        unit_ready,     ///< all of (edge, unit) lies in its slot; `index_list` is the edge's sample-index list
        weights_ready,  ///< weights edge `edge` is complete
        masks_ready,    ///< recorded masks of (operator_index, unit) have been read
        output_sent,    ///< (operator_index, unit) has left on every out-edge and is acknowledged by memory
        control,        ///< control packet arrived: `control`, batch, segment
        config_write,   ///< config packet: `bytes` to `address`
        config_read     ///< config packet: READ of `address`
    };
    Kind kind = Kind::unit_ready;
    std::uint32_t batch = 0;
    std::uint16_t segment = 0;
    std::uint16_t edge = 0;
    std::uint16_t unit = 0;
    std::uint16_t operator_index = 0;
    std::uint32_t control = 0;
    std::uint64_t address = 0;
    const std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
    SampleIndexListPtr index_list;
    std::shared_ptr<const MergedSamples> merged;  ///< unit_ready of a merge: with the last of its inputs
    /// unit_ready, weights_ready: when the last of the data were sent. output_sent: when the last edge, `edge`, could
    /// begin; kNone if it did not wait for a consumer.
    sc_core::sc_time sent_at;
    bool to_memory = false;  ///< output_sent: it was memory that acknowledged last

    ::tlm::tlm_extension_base* clone() const override { return new InterfaceEvent(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const InterfaceEvent&>(other);
    }
};

}  // namespace switchyard
