// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/platform/chip/host_memory.h"
#include "switchyard/platform/driver/switchyard_driver.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/workload/trace.h"
#include "switchyard/tlm/activity_log.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::platform {

/// The software of the host. It knows the chip only through the driver of platform/driver/, which is what firmware
/// would use as well, and so through the registers of the configuration port (docs/registers.md), DMA and interrupt.
///
/// Modelled: the image is written through the configuration port in bursts and committed; weights are moved to HBM
/// once; for each batch the input and the recorded routing masks are moved to one bank of HBM while the batch before
/// runs from the other, the doorbell is rung, the interrupt taken, the output moved back, each as one DMA list;
/// profiles of all tiles are read back; at given intervals another image is scheduled from these and loaded. Accuracy:
/// every register access is a blocking transaction and takes the time that the chip's port adds. Without values
/// (Job::values null) only routing masks have contents; inputs, outputs and weights move as sizes. With values the chip
/// computes the masks, and the host reads them back. Not modelled: instructions between accesses, an operating system's
/// interrupt latency.
///
/// Sockets: `config` to the chip, `irq` from it; `memory.port` takes the chip's DMA.
class SimulatedHost : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<SimulatedHost> config;
    sc_core::sc_in<bool> irq;
    HostMemory memory;

    /// A kernel image, and the same as bytes.
    struct Schedule {
        std::shared_ptr<const Image> image;
        std::vector<std::uint8_t> bytes;
    };
    struct Profile {
        std::uint32_t batches = 0;                        ///< finished when it was read, since the beginning
        std::uint32_t batches_of_phase = 0;               ///< of these, in the present phase
        std::size_t phase = 0;                            ///< index in Result::phases
        std::vector<std::vector<ProfileRecord>> by_tile;  ///< since the phase's image was loaded
    };
    struct Job {
        const Image* image = nullptr;
        std::vector<std::uint8_t> image_bytes;               ///< as read from the file: the chip checks them itself
        const std::vector<BatchRouting>* routing = nullptr;  ///< one a batch
        NetworkValues* values = nullptr;                     ///< null: sizes only
        bool sends_inputs = true, fetches_outputs = true;    ///< false: others do; masks and numbers are the host's
        unsigned tiles = 0;                                  ///< profiles to read back
        unsigned profile_interval = 0;  ///< read profiles back every N batches as well; 0: at the end only
        /// Every N batches the chip is drained, its profiles are read, `reschedule` is asked for another image,
        /// and if it returns one, that is loaded with its weights; 0: never.
        unsigned reschedule_interval = 0;
        std::function<Schedule(const Profile&)> reschedule;
        std::function<void(std::size_t)> before_batch;  ///< before a batch's doorbell; may wait, may be empty
        std::function<void(std::size_t)> batch_ended;   ///< at a batch's interrupt; may be empty
        std::function<bool()> ends_early;  ///< asked once a batch has begun: whether it is the last; may be empty
        std::function<void()> run_begins;  ///< just before the first doorbell
        std::function<void()> run_ends;    ///< just after the last interrupt
    };
    struct Batch {
        sc_core::sc_time doorbell, interrupt;
        std::uint64_t chip_cycles = 0;  ///< LAST_CYCLES
    };
    /// What the chip was loaded with, and from which batch on.
    struct Phase {
        std::uint32_t first_batch = 0;
        std::shared_ptr<const Image> image;
        sc_core::sc_time reconfiguration;  ///< from the end of the batch before until the first input is in; first: 0
    };
    struct Result {
        sc_core::sc_time image_loaded, weights_loaded;  ///< from the start of the simulation
        std::uint64_t weight_bytes = 0, input_bytes = 0, mask_bytes = 0, output_bytes = 0;
        std::vector<Batch> batches;
        std::vector<Phase> phases;         ///< one, and one more for each image that was loaded later
        std::vector<Profile> profiles;     ///< at least one a phase, at its end
        std::vector<BatchRouting> routed;  ///< with values: the masks that the chip has computed
        bool finished = false;

        /// Of each phase the profile that was read at its end.
        std::vector<const Profile*> last_profiles() const;
    };

    SimulatedHost(const sc_core::sc_module_name& name, const HostMemory::Config& memory_config, Job job);

    const Result& result() const { return result_; }

private:
    SWITCHYARD_HAS_PROCESS(SimulatedHost);

    struct Transfer {
        std::uint64_t host_address, chip_address, bytes;
        std::uint32_t flags;
    };
    /// A piece of a tensor, and where in host memory its values will be.
    struct Piece {
        const ImageMeta::Tensor* tensor;
        std::size_t index;
        std::uint64_t buffer;
    };

    void software();
    bool reschedules_after(std::uint32_t batch) const;
    void reschedule(std::uint32_t next_batch);
    void send_inputs(std::uint32_t batch);
    /// With values: room for the chip's masks, cleared, because no gate writes that of a sample that does not reach it.
    void add_masks(std::uint32_t batch);
    void fetch_outputs(std::uint32_t batch);
    void take_masks();
    void run_batches();
    void read_profiles();

    void ring_doorbell(std::uint32_t batch);
    /// Adds the tensors of `kind` for `batch` to the transfers; returns their bytes.
    std::uint64_t add_tensors(const std::string& kind, std::uint32_t batch, std::uint32_t direction);
    std::uint64_t send_weights();
    /// Moves what was added, as few lists as there can be.
    void dma();
    /// Throws ModelError, with the chip's error text if it is the chip that complains.
    void check(switchyard_result result);

    std::uint32_t read_register(std::uint64_t offset);
    void write_register(std::uint64_t offset, std::uint32_t value);
    void access(::tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, std::size_t size);

    void log(const char* what, const sc_core::sc_time& begin, std::uint32_t batch) const;

    Job job_;
    std::uint32_t batches_;  ///< that run
    Result result_;
    switchyard_device device_;
    std::vector<Transfer> transfers_;  ///< that the next list will have
    ActivityLog* const log_ = ActivityLog::current();
    ActivityLog::Track batches_track_ = 0, work_track_ = 0;
    std::vector<Piece> expected_;  ///< with values: what they will bring from the chip
};

}  // namespace switchyard::platform
