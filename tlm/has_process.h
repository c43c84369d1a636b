// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

/// Names the class whose members SC_THREAD and SC_METHOD register, where SystemC has to be told. From IEEE 1666-2023
/// (SystemC 3) on they find it themselves, and SC_HAS_PROCESS is deprecated.
#if defined(IEEE_1666_SYSTEMC) && IEEE_1666_SYSTEMC >= 202301L
#define SWITCHYARD_HAS_PROCESS(Module) static_assert(true, "the semicolon behind it")
#else
#define SWITCHYARD_HAS_PROCESS(Module) SC_HAS_PROCESS(Module)
#endif
