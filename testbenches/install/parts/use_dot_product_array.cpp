// SPDX-License-Identifier: Apache-2.0
// The cycles of a 3x3 convolution with 64 channels on SUSHI's dot-product array, sizes only.
#include <switchyard/hw/dot_product_array/dot_product_array.h>
#include <switchyard/tlm/extended_payload.h>
#include <cstdio>

int sc_main(int, char**) {
    using namespace switchyard;
    SimulationRegistry registry;
    hw::DotProductArray array("array", {}, registry);
    struct Controller : sc_core::sc_module {
        tlm_utils::simple_initiator_socket<Controller> command{"command"};
        tlm_utils::simple_target_socket<Controller> buffers[5];  // unused: sizes only
        explicit Controller(const sc_core::sc_module_name& name) : sc_module(name) {}
    } controller("controller");
    controller.command.bind(array.command);
    unsigned next = 0;
    for (auto* const to : {&array.persistent, &array.dynamic, &array.streaming, &array.parameters, &array.output})
        to->bind(controller.buffers[next++]);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    ExtendedPayload<DotProductWorkExtension> work;
    work->layer = {64, 64, 3, 1, 56, 56};
    const sched::ArrayMapping mapping = sched::map_to_array(work->layer, {12, 12});
    work->unit = sched::units_of_band(work->layer, {}, mapping, {0, 0, 0, 0, 1 << 20, 0}, 0, 56).front();
    work->has_values = false;
    sc_core::sc_time delay;
    controller.command->b_transport(work.fresh(), delay);
    std::printf("%llu cycles, %s\n", static_cast<unsigned long long>(work->cycles), delay.to_string().c_str());
    return work->cycles > 0 ? 0 : 1;
}
