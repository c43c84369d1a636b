// SPDX-License-Identifier: Apache-2.0
#include <switchyard/accelerator.h>

#include <cstdio>

int sc_main(int argc, char** argv) {
    if (argc != 2) return 2;
    const switchyard::Accelerator accelerator("accelerator", switchyard::PlatformConfig::from_yaml_file(argv[1]));
    std::printf("%s\n", accelerator.config_socket.name());
    return 0;
}
