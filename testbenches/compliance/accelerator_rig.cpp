// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/compliance/accelerator_rig.h"

#include <algorithm>
#include <utility>

#include "switchyard/platform/system/npy.h"
#include "switchyard/platform/systems/adyna/network_image.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::compliance {
namespace {

constexpr const char* kDigits = "configs/workloads/digits/skipnet/";
constexpr std::uint64_t kTensorBuffer = 1u << 20;

}  // namespace

PlatformConfig mini(std::map<std::string, std::string> overrides) {
    return PlatformConfig::from_yaml_file("configs/platforms/mini.yaml", std::move(overrides));
}

const std::vector<std::uint8_t>& digits_image() {
    static const std::vector<std::uint8_t> kBytes =
        platform::compile_network(sched::read_model("configs/workloads/digits_skipnet.yaml"), mini(), {}).bytes;
    return kBytes;
}

AcceleratorRig::AxiLink::AxiLink(const sc_core::sc_module_name& module_name, const AxiConfig& config,
                                 unsigned stall_percent)
    : sc_module(module_name),
      wires("wires", config),
      from_tlm("from_tlm", wires, {stall_percent, 1}),
      to_tlm("to_tlm", wires, {4, stall_percent, 2}),
      checker("checker", wires) {}

void AcceleratorRig::AxiLink::start(sc_core::sc_signal_in_if<bool>& clock, sc_core::sc_signal_in_if<bool>& aresetn) {
    const auto bind = [&](auto& module) {
        module.clock(clock);
        module.aresetn(aresetn);
    };
    bind(from_tlm);
    bind(to_tlm);
    bind(checker);
}

AcceleratorRig::AcceleratorRig(const PlatformConfig& platform, Style style, const sc_core::sc_module_name& module_name,
                               bool by_wires)
    : sc_module(module_name),
      accelerator("accelerator", platform),
      port("port", std::move(style)),
      memory("memory", platform.host_memory) {
    port.socket.bind(port_checker.target_socket);
    accelerator.host_socket.bind(memory_checker.target_socket);
    if (by_wires) {
        clock_ = std::make_unique<sc_core::sc_clock>("clock", ns(1));
        config_link = std::make_unique<AxiLink>("config_link", AxiConfig{true, 4, 0}, 20);
        host_link = std::make_unique<AxiLink>("host_link", AxiConfig{false, 8, 4}, 20);
        for (AxiLink* const link : {config_link.get(), host_link.get()}) link->start(*clock_, aresetn_);
        port_checker.initiator_socket.bind(config_link->from_tlm.socket);
        config_link->to_tlm.socket.bind(accelerator.config_socket);
        memory_checker.initiator_socket.bind(host_link->from_tlm.socket);
        host_link->to_tlm.socket.bind(memory.port);
        aresetn_.write(true);
    } else {
        port_checker.initiator_socket.bind(accelerator.config_socket);
        memory_checker.initiator_socket.bind(memory.port);
    }
    accelerator.irq(irq);
    accelerator.reset(reset);
    SWITCHYARD_HAS_PROCESS(AcceleratorRig);
    SC_THREAD(threads);
}

void AcceleratorRig::threads() {
    for (std::size_t i = 1; i < drivers_.size(); ++i) sc_core::sc_spawn([this, i] { drivers_[i](*this); });
    if (!drivers_.empty()) drivers_.front()(*this);
}

void AcceleratorRig::run(std::function<void(AcceleratorRig&)> driver) {
    bool finished = false;
    drive([&](AcceleratorRig& rig) {
        driver(rig);
        finished = true;
        if (clock_) sc_core::sc_stop();  // it would tick on
    });
    sc_core::sc_start();
    CHECK(finished);
}

void AcceleratorRig::put_image(const std::vector<std::uint8_t>& bytes, unsigned burst) {
    std::vector<std::uint8_t> data = bytes;
    for (std::size_t begin = 0; begin < data.size(); begin += burst) {
        const auto length = static_cast<unsigned>(std::min<std::size_t>(burst, data.size() - begin));
        const PortInitiator::Access access{
            ::tlm::TLM_WRITE_COMMAND, regs::kImageWindow + begin, &data[begin], length, nullptr, 0};
        CHECK(port.access(access).status == ::tlm::TLM_OK_RESPONSE);
    }
    write(regs::kImageBytes, static_cast<std::uint32_t>(data.size()));
}

std::uint32_t AcceleratorRig::wait_for_interrupt() {
    port.sync();
    while (!irq.read()) wait(irq.posedge_event());
    const std::uint32_t status = read(regs::kIrqStatus);
    write(regs::kIrqStatus, status);
    port.sync();
    wait(ns(1));  // until the line has fallen
    return status;
}

void AcceleratorRig::await(std::uint32_t interrupts) {
    while ((pending_ & interrupts) != interrupts) {
        pending_ |= wait_for_interrupt();
        INFO(accelerator.last_error_text());
        REQUIRE((pending_ & regs::kIrqError) == 0);
    }
    pending_ &= ~interrupts;
}

void AcceleratorRig::load(const std::vector<std::uint8_t>& image) {
    write(regs::kIrqEnable, regs::kIrqAll);
    put_image(image);
    write(regs::kControl, regs::kCommitImage);
    await(regs::kIrqLoaded);
}

void AcceleratorRig::dma(std::uint64_t host, std::uint64_t chip, std::uint64_t bytes, std::uint32_t direction) {
    write(regs::kDmaHostLow, static_cast<std::uint32_t>(host));
    write(regs::kDmaHostHigh, static_cast<std::uint32_t>(host >> 32));
    write(regs::kDmaChipLow, static_cast<std::uint32_t>(chip));
    write(regs::kDmaChipHigh, static_cast<std::uint32_t>(chip >> 32));
    write(regs::kDmaBytes, static_cast<std::uint32_t>(bytes));
    write(regs::kDmaControl, direction);
    await(regs::kIrqDmaDone);
}

void AcceleratorRig::move(const Image& image, platform::NetworkValues& values, const std::string& kind) {
    for (const ImageMeta::Tensor& tensor : image.meta.tensors) {
        if (tensor.kind != kind) continue;
        for (std::size_t i = 0; i < tensor.addresses.size(); ++i) {
            if (kind == "output") {
                dma(kTensorBuffer, tensor.addresses[i], tensor.piece_bytes[i], regs::kDmaFromChip);
                values.take(tensor, i, 0, memory.read(kTensorBuffer, tensor.piece_bytes[i]));
            } else {
                const std::vector<std::uint8_t> bytes = values.piece(tensor, i, 0);
                memory.write(kTensorBuffer, bytes.data(), bytes.size());
                dma(kTensorBuffer, tensor.addresses[i], bytes.size(), regs::kDmaToChip);
            }
        }
    }
}

void AcceleratorRig::run_batch(const Image& image, platform::NetworkValues& values) {
    write(regs::kDoorbell, 0);
    await(regs::kIrqBatchDone);
    move(image, values, "output");
}

void AcceleratorRig::pulse_reset(const sc_core::sc_time& length) {
    port.sync();
    reset.write(true);
    wait(length);
    reset.write(false);
    wait(ns(1));
    pending_ = 0;
}

platform::NpyArray run_digits(AcceleratorRig& rig) {
    const Image image = decode_image(digits_image(), "digits");
    platform::NetworkValues values(image, std::string(kDigits) + "weights", std::string(kDigits) + "input_batch0.npy");
    rig.load(digits_image());
    rig.move(image, values, "weights");
    rig.move(image, values, "input");
    rig.run_batch(image, values);
    return values.output();
}

std::size_t wrong_digits(const platform::NpyArray& logits) {
    const auto found =
        platform::compare_outputs(logits, platform::read_npy(std::string(kDigits) + "logits_batch0.npy"), 0.1);
    CHECK(found.samples == 128);
    return found.wrong_labels;
}

}  // namespace switchyard::compliance
