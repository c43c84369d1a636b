// SPDX-License-Identifier: Apache-2.0
// Two accelerators in one simulation, of which one or both have blocks in RTL. Each runs a batch of the digits network.
//
//   two_accelerators PLATFORM IMAGE DATA first|second|both [KEY=VALUE...]
//
// DATA: the folder with weights/ and input_batch0.npy. KEY=VALUE: of those that are named. Ends with 0, or with 2 and
// one line on standard error.
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "switchyard/accelerator.h"
#include "switchyard/hw/host/host_registers.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace {

namespace registers = switchyard::hw::host_registers;

/// Software, and the memory that the accelerator's DMA reaches.
class Host : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<Host> bus{"bus"};
    tlm_utils::simple_target_socket<Host> memory{"memory"};
    sc_core::sc_in<bool> irq{"irq"};

    Host(const sc_core::sc_module_name& name, const std::string& image, const std::string& data)
        : sc_module(name),
          image_(switchyard::read_image(image)),
          bytes_(switchyard::encode(image_)),
          values_(image_, data + "/weights", data + "/input_batch0.npy") {
        memory.register_b_transport(this, &Host::b_transport);
        SC_HAS_PROCESS(Host);
        SC_THREAD(software);
    }
    bool finished() const { return finished_; }

private:
    void software() {
        access(tlm::TLM_WRITE_COMMAND, registers::kImageWindow, bytes_.data(), bytes_.size());
        store(registers::kImageBytes, static_cast<std::uint32_t>(bytes_.size()));
        store(registers::kIrqEnable, registers::kIrqAll);
        store(registers::kControl, registers::kCommitImage);
        await(registers::kIrqLoaded);
        for (const switchyard::ImageMeta::Tensor& tensor : image_.meta.tensors) {
            if (tensor.kind != "weights" && tensor.kind != "input") continue;
            for (std::size_t i = 0; i < tensor.addresses.size(); ++i) {
                const auto piece = values_.piece(tensor, i, 0);
                std::copy(piece.begin(), piece.end(), ram_.begin());
                store(registers::kDmaHostLow, 0);
                store(registers::kDmaHostHigh, 0);
                store(registers::kDmaChipLow, static_cast<std::uint32_t>(tensor.addresses[i]));
                store(registers::kDmaChipHigh, static_cast<std::uint32_t>(tensor.addresses[i] >> 32));
                store(registers::kDmaBytes, static_cast<std::uint32_t>(piece.size()));
                store(registers::kDmaControl, registers::kDmaToChip);
                await(registers::kIrqDmaDone);
            }
        }
        store(registers::kDoorbell, 0);
        await(registers::kIrqBatchDone);
        finished_ = true;
    }

    void await(std::uint32_t interrupt) {
        if (!irq.read()) wait(irq.posedge_event());
        std::uint32_t status = 0;
        access(tlm::TLM_READ_COMMAND, registers::kIrqStatus, reinterpret_cast<unsigned char*>(&status), sizeof status);
        store(registers::kIrqStatus, status);
        wait(sc_core::SC_ZERO_TIME);
        if (status != interrupt) throw std::runtime_error(std::string(name()) + ": the accelerator reports an error");
    }
    void store(std::uint64_t address, std::uint32_t value) {
        access(tlm::TLM_WRITE_COMMAND, address, reinterpret_cast<unsigned char*>(&value), sizeof value);
    }
    void access(tlm::tlm_command command, std::uint64_t address, unsigned char* data, std::size_t length) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data);
        payload.set_data_length(static_cast<unsigned>(length));
        payload.set_streaming_width(static_cast<unsigned>(length));
        sc_core::sc_time delay;
        bus->b_transport(payload, delay);
        if (payload.is_response_error()) throw std::runtime_error(std::string(name()) + ": an access is refused");
        wait(delay);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        const std::uint64_t begin = payload.get_address(), length = payload.get_data_length();
        if (begin + length > ram_.size()) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        auto* const at = ram_.data() + begin;
        if (payload.is_read()) std::copy_n(at, length, payload.get_data_ptr());
        if (payload.is_write()) std::copy_n(payload.get_data_ptr(), length, at);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    switchyard::Image image_;
    std::vector<std::uint8_t> bytes_;
    switchyard::platform::NetworkValues values_;
    std::vector<std::uint8_t> ram_ = std::vector<std::uint8_t>(8 << 20);
    bool finished_ = false;
};

struct System {
    System(const std::string& name, const switchyard::PlatformConfig& platform, const std::string& image,
           const std::string& data)
        : accelerator(name.c_str(), platform), host((name + "_host").c_str(), image, data) {
        host.bus.bind(accelerator.config_socket);
        accelerator.host_socket.bind(host.memory);
        accelerator.irq(irq);
        accelerator.reset(reset);
        host.irq(irq);
    }
    switchyard::Accelerator accelerator;
    Host host;
    sc_core::sc_signal<bool> irq, reset;
};

}  // namespace

int sc_main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: two_accelerators PLATFORM IMAGE DATA first|second|both [KEY=VALUE...]\n");
        return 2;
    }
    const std::string which = argv[4];
    try {
        std::map<std::string, std::string> models{{"chip.functional", "yes"}, {"chip.impl", "tiles"}}, rtl = models;
        for (int i = 5; i < argc; ++i) {
            const std::string setting = argv[i];
            const std::size_t equals = setting.find('=');
            rtl[setting.substr(0, equals)] = setting.substr(equals + 1);
        }
        const auto platform = [&](const char* name) {
            return switchyard::PlatformConfig::from_yaml_file(argv[1], which == name || which == "both" ? rtl : models);
        };
        System first("first", platform("first"), argv[2], argv[3]),
            second("second", platform("second"), argv[2], argv[3]);
        sc_core::sc_start();
        if (!first.host.finished() || !second.host.finished()) throw std::runtime_error("an accelerator stands still");
    } catch (const sc_core::sc_report& report) {  // what() has the place in SystemC behind the message
        std::fprintf(stderr, "%s\n", report.get_msg());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
