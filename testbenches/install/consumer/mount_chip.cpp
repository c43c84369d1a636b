// Mounts the whole chip in a virtual prototype of somebody else's and asks it through its configuration port who it is.
#include <switchyard/platform/chip.h>
#include <switchyard/platform/host_memory.h>

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <cstdio>

namespace {

namespace registers = switchyard::hw::host_registers;

struct Processor : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Processor> bus;
    sc_core::sc_in<bool> irq;

    explicit Processor(const sc_core::sc_module_name& name) : sc_module(name), bus("bus"), irq("irq") {
        SC_THREAD(run);
    }
    std::uint32_t id() const { return id_; }

private:
    SC_HAS_PROCESS(Processor);
    void run() {
        tlm::tlm_generic_payload payload;
        payload.set_command(tlm::TLM_READ_COMMAND);
        payload.set_address(registers::kId);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&id_));
        payload.set_data_length(sizeof id_);
        payload.set_streaming_width(sizeof id_);
        payload.set_byte_enable_ptr(nullptr);
        payload.set_dmi_allowed(false);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        sc_core::sc_time delay;
        bus->b_transport(payload, delay);
        wait(delay);
        if (payload.is_response_error()) id_ = 0;
    }

    std::uint32_t id_ = 0;
};

}  // namespace

int sc_main(int, char**) {
    const auto platform = switchyard::platform::read_platform(SWITCHYARD_CONFIGS "/platforms/mini.yaml");
    switchyard::SimulationRegistry registry;
    switchyard::platform::Chip chip("chip", platform, registry);
    switchyard::platform::HostMemory memory("memory", platform.host_memory);
    Processor processor("processor");
    sc_core::sc_signal<bool> irq("irq");
    processor.bus.bind(chip.host.config);
    chip.host.host_memory.bind(memory.port);
    chip.host.irq.bind(irq);
    processor.irq.bind(irq);
    sc_core::sc_start();

    std::printf("%u tiles, identity %08x\n", platform.tiles(), static_cast<unsigned>(processor.id()));
    return processor.id() == registers::kIdValue ? 0 : 1;
}
