// SPDX-License-Identifier: Apache-2.0
// A virtual prototype of somebody else's with the accelerator behind its bus: its software runs the digits network,
// takes the interrupts and checks the labels. A base-protocol checker stands on every link.
//
//   soc CONFIGS IMAGE lt QUANTUM_NS | at
#include <switchyard/accelerator.h>
#include <switchyard/hw/host/host_registers.h>
#include <switchyard/platform/systems/adyna/network_values.h>
#include <switchyard/sw_scheduler/adyna/image/image.h>
#include <switchyard/tlm/base_protocol_checker.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "bus.h"
#include "processor.h"
#include "ram.h"

namespace {

namespace registers = switchyard::hw::host_registers;

constexpr std::uint64_t kRam = 0x8000'0000, kRamBytes = 16u << 20, kAccelerator = 0x4000'0000,
                        kAcceleratorBytes = registers::kAddressSpan;

/// The driver: what it knows of the accelerator stands in docs/registers.md.
class Software {
public:
    Software(const std::string& configs, const std::string& image)
        : folder_(configs + "/workloads/digits/skipnet/"),
          image_(switchyard::read_image(image)),
          bytes_(switchyard::encode(image_)),
          values_(image_, folder_ + "weights", folder_ + "input_batch0.npy") {}

    void run(Processor& processor, Ram& ram) {
        cpu_ = &processor;
        ram_ = &ram;
        set(registers::kIrqEnable, registers::kIrqAll);
        for (std::size_t i = 0; i < bytes_.size(); i += 64) {
            const auto length = static_cast<unsigned>(std::min<std::size_t>(64, bytes_.size() - i));
            cpu_->access(tlm::TLM_WRITE_COMMAND, kAccelerator + registers::kImageWindow + i, &bytes_[i], length);
        }
        set(registers::kImageBytes, static_cast<std::uint32_t>(bytes_.size()));
        set(registers::kControl, registers::kCommitImage);
        await(registers::kIrqLoaded);
        move("weights");
        move("input");
        set(registers::kDoorbell, 0);
        await(registers::kIrqBatchDone);
        move("output");
        finished_ = true;
    }

    /// Samples whose label is not the recorded one; 128 before the run has finished.
    std::size_t wrong_labels() const {
        if (!finished_) return 128;
        const auto recorded = switchyard::platform::read_npy(folder_ + "logits_batch0.npy");
        return switchyard::platform::compare_outputs(values_.output(), recorded, 0).different_labels;
    }
    unsigned interrupts() const { return interrupts_; }

private:
    void set(std::uint64_t offset, std::uint32_t value) { cpu_->store(kAccelerator + offset, value); }

    void await(std::uint32_t interrupt) {
        cpu_->wait_for_interrupt();
        ++interrupts_;
        const std::uint32_t status = cpu_->load(kAccelerator + registers::kIrqStatus);
        set(registers::kIrqStatus, status);
        if (status != interrupt)
            throw std::runtime_error("error " + std::to_string(cpu_->load(kAccelerator + registers::kError)));
    }

    void move(const std::string& kind) {
        for (const switchyard::ImageMeta::Tensor& tensor : image_.meta.tensors) {
            if (tensor.kind != kind) continue;
            for (std::size_t i = 0; i < tensor.addresses.size(); ++i) {
                auto* const buffer = &ram_->bytes[buffer_];
                if (kind == "output") {
                    transfer(tensor.addresses[i], tensor.piece_bytes[i], registers::kDmaFromChip);
                    values_.take(tensor, i, 0, {buffer, buffer + tensor.piece_bytes[i]});
                } else {
                    const auto piece = values_.piece(tensor, i, 0);
                    std::copy(piece.begin(), piece.end(), buffer);
                    transfer(tensor.addresses[i], piece.size(), registers::kDmaToChip);
                }
                buffer_ += tensor.piece_bytes[i];
            }
        }
    }

    void transfer(std::uint64_t chip, std::uint64_t bytes, std::uint32_t direction) {
        set(registers::kDmaHostLow, static_cast<std::uint32_t>(kRam + buffer_));
        set(registers::kDmaHostHigh, 0);
        set(registers::kDmaChipLow, static_cast<std::uint32_t>(chip));
        set(registers::kDmaChipHigh, static_cast<std::uint32_t>(chip >> 32));
        set(registers::kDmaBytes, static_cast<std::uint32_t>(bytes));
        set(registers::kDmaControl, direction);
        await(registers::kIrqDmaDone);
    }

    std::string folder_;
    switchyard::Image image_;
    std::vector<std::uint8_t> bytes_;
    switchyard::platform::NetworkValues values_;
    Processor* cpu_ = nullptr;
    Ram* ram_ = nullptr;
    std::uint64_t buffer_ = 0x1000;  ///< in RAM: where the next piece lies
    unsigned interrupts_ = 0;
    bool finished_ = false;
};

int simulate(const std::string& configs, const std::string& image, bool by_phases) {
    const auto platform = switchyard::PlatformConfig::from_yaml_file(
        configs + "/platforms/mini.yaml", {{"chip.functional", "yes"}, {"chip.check_protocol", "on"}});
    Software software(configs, image);

    Bus bus("bus");
    Ram ram("ram", kRamBytes);
    Processor processor("processor", by_phases, [&](Processor& cpu) { software.run(cpu, ram); });
    switchyard::Accelerator accelerator("accelerator", platform);
    sc_core::sc_signal<bool> interrupt("interrupt"), reset("reset");
    switchyard::BaseProtocolChecker<> at_processor("at_processor"), at_dma("at_dma"), at_ram("at_ram"),
        at_config("at_config");
    processor.bus.bind(at_processor.target_socket);
    at_processor.initiator_socket.bind(bus.masters);
    accelerator.host_socket.bind(at_dma.target_socket);
    at_dma.initiator_socket.bind(bus.masters);
    bus.map(kRam, kRamBytes);
    bus.slaves.bind(at_ram.target_socket);
    at_ram.initiator_socket.bind(ram.socket);
    bus.map(kAccelerator, kAcceleratorBytes);
    bus.slaves.bind(at_config.target_socket);
    at_config.initiator_socket.bind(accelerator.config_socket);
    accelerator.irq(interrupt);
    accelerator.reset(reset);
    processor.interrupt(interrupt);
    sc_core::sc_start();

    std::uint64_t sum = 14695981039346656037u;  // FNV-1a
    for (const unsigned char byte : ram.bytes) sum = (sum ^ byte) * 1099511628211u;
    std::printf("%zu wrong labels of 128, %u interrupts, memory %016llx\n", software.wrong_labels(),
                software.interrupts(), static_cast<unsigned long long>(sum));
    return software.wrong_labels() == 0 ? 0 : 1;
}

}  // namespace

int sc_main(int argc, char** argv) {
    const std::string style = argc > 3 ? argv[3] : "";
    if (!(style == "at" && argc == 4) && !(style == "lt" && argc == 5)) {
        std::fprintf(stderr, "usage: soc CONFIGS IMAGE lt QUANTUM_NS | at\n");
        return 2;
    }
    if (style == "lt") {
        const sc_core::sc_time quantum(std::atof(argv[4]), sc_core::SC_NS);
        tlm::tlm_global_quantum::instance().set(quantum);
    }
    try {
        return simulate(argv[1], argv[2], style == "at");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
