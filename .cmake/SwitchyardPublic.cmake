# SPDX-License-Identifier: Apache-2.0
# Public headers, target by target: what a project outside the tree includes. docs/stability.md says what is promised of
# them. A header that is not here is internal. It is installed only if a public one includes it, and may change any time.
set(SWITCHYARD_PUBLIC_base sw_scheduler/base/config.h sw_scheduler/base/csv.h sw_scheduler/base/error.h
  sw_scheduler/base/files.h sw_scheduler/base/json_reader.h sw_scheduler/base/mapping_reader.h
  sw_scheduler/base/random_source.h sw_scheduler/base/sections.h)
set(SWITCHYARD_PUBLIC_workload sw_scheduler/workload/dataflow.h sw_scheduler/workload/graph.h
  sw_scheduler/workload/kernel_stream.h sw_scheduler/workload/model_reader.h sw_scheduler/workload/profile.h
  sw_scheduler/workload/query_stream.h sw_scheduler/workload/route_provider.h sw_scheduler/workload/routing.h
  sw_scheduler/workload/trace.h sw_scheduler/workload/training_stream.h sw_scheduler/workload/weight_tiles.h)
set(SWITCHYARD_PUBLIC_onnx_import sw_scheduler/onnx_import/onnx_import.h)
set(SWITCHYARD_PUBLIC_collectives sw_scheduler/collectives/collectives.h sw_scheduler/collectives/link_choice.h
  sw_scheduler/collectives/link_topology.h)
set(SWITCHYARD_PUBLIC_image sw_scheduler/adyna/image/image.h sw_scheduler/adyna/image/image_check.h
  sw_scheduler/adyna/image/image_file.h sw_scheduler/adyna/image/kernel.h)
set(SWITCHYARD_PUBLIC_rules sw_scheduler/adyna/rules/micro_batches.h sw_scheduler/adyna/rules/segments.h)
set(SWITCHYARD_PUBLIC_scheduler sw_scheduler/adyna/compiler/compile.h sw_scheduler/adyna/compiler/design.h
  sw_scheduler/adyna/compiler/hardware.h sw_scheduler/adyna/sampling/kernel_sampling.h)
set(SWITCHYARD_PUBLIC_tlm tlm/activity_log.h tlm/address_map.h tlm/at_target.h tlm/base_protocol_checker.h
  tlm/clock_period.h tlm/demand_paged_memory.h tlm/dummy_buffer.h tlm/extended_payload.h tlm/has_process.h
  tlm/memory_access.h tlm/memory_manager.h tlm/memory_request.h tlm/packet.h tlm/protocol_repair_adapter.h
  tlm/register_file.h tlm/rtl_fault.h tlm/simulation_registry.h tlm/sparse_memory.h tlm/stat_counters.h
  tlm/timed_queue.h tlm/transactors/axi_checker.h tlm/transactors/axi_to_tlm.h tlm/transactors/tlm_to_axi.h)

# Components of hw/: the module with its sockets, and the messages that pass through them.
set(SWITCHYARD_PUBLIC_dispatcher hw/dispatcher/dispatcher.h hw/messages/tile_protocol.h)
set(SWITCHYARD_PUBLIC_dot_product_array hw/dot_product_array/dot_product_array.h hw/messages/dot_product_work.h)
set(SWITCHYARD_PUBLIC_dram hw/memory/dram/device.h hw/memory/dram_target.h hw/memory/hbm.h)
set(SWITCHYARD_PUBLIC_gpu hw/gpu/copy_engines.h hw/gpu/gpu.h)
set(SWITCHYARD_PUBLIC_host hw/host/command_port.h hw/host/host_interface.h hw/messages/adyna_message.h)
set(SWITCHYARD_PUBLIC_layer_controller hw/layer_controller/layer_controller.h)
set(SWITCHYARD_PUBLIC_link hw/link/collective_run.h hw/link/link_network.h hw/link/pcie_link.h)
set(SWITCHYARD_PUBLIC_network_interface hw/messages/interface_protocol.h hw/network_interface/network_interface.h)
set(SWITCHYARD_PUBLIC_noc hw/noc/network.h)
set(SWITCHYARD_PUBLIC_numerics hw/numerics/fp16.h hw/numerics/requantise.h)
set(SWITCHYARD_PUBLIC_on_chip_buffer hw/on_chip_buffer/on_chip_buffer.h)
set(SWITCHYARD_PUBLIC_paged_memory hw/paged_memory/page_table.h)
set(SWITCHYARD_PUBLIC_pe_array hw/pe_array/pe_array.h)
set(SWITCHYARD_PUBLIC_scheduling_window hw/scheduling_window/scheduling_window.h)
set(SWITCHYARD_PUBLIC_scratchpad hw/scratchpad/scratchpad.h)
set(SWITCHYARD_PUBLIC_task_tile hw/task_tile/task_message.h hw/task_tile/task_tile.h)
set(SWITCHYARD_PUBLIC_tile hw/tile/tile_controller.h)
# The factories of Verilated implementations.
set(SWITCHYARD_PUBLIC_rtl rtl/dispatcher/make_kernel_dispatcher.h rtl/dot_product_array/make_dot_product_core.h
  rtl/network_interface/make_routing_blocks.h rtl/pe_array/make_pe_array.h rtl/router/make_network.h
  rtl/router/make_router.h rtl/scheduling_window/make_window_core.h)

# Platforms, and what a system or an experiment outside the tree needs.
set(SWITCHYARD_PUBLIC_system platform/system/checks.h platform/system/config_section.h platform/system/network_work.h
  platform/system/report_parts.h platform/system/system.h platform/system/system_registry.h)
set(SWITCHYARD_PUBLIC_chip platform/chip/chip.h platform/chip/platform_config.h)
set(SWITCHYARD_PUBLIC_adyna platform/systems/adyna/accelerator.h platform/systems/adyna/network_values.h
  platform/systems/adyna/report.h platform/systems/adyna/simulation.h)
set(SWITCHYARD_PUBLIC_sushi platform/systems/sushi/sushi_accelerator.h)
set(SWITCHYARD_PUBLIC_gpu_device platform/gpu/gpu_device.h platform/gpu/gpu_platform.h)
set(SWITCHYARD_PUBLIC_m_tenant platform/systems/m_tenant/m_tenant.h)
set(SWITCHYARD_PUBLIC_gpu_roofline platform/systems/gpu_roofline/gpu.h)
set(SWITCHYARD_PUBLIC_experiment platform/experiment/run_experiment.h platform/experiment/run_sweep.h)
set(SWITCHYARD_PUBLIC_apps platform/apps/systems.h)

# switchyard_installed_headers(<variable> <header>...): the headers and those of ours that they include, directly or not.
function(switchyard_installed_headers variable)
  set(found "")
  set(pending ${ARGN})
  while(pending)
    list(POP_FRONT pending header)
    if(header IN_LIST found)
      continue()
    endif()
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${header})
      if(header IN_LIST ARGN)
        message(FATAL_ERROR "${header} is public and is not there")
      endif()
      continue()  # sy-regs makes it
    endif()
    list(APPEND found ${header})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^ *# *include \"switchyard/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*\"switchyard/([^\"]+)\".*" "\\1" included "${line}")
      list(APPEND pending ${included})
    endforeach()
  endwhile()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
