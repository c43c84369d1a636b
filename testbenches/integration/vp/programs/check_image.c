// SPDX-License-Identifier: Apache-2.0
/* Checks the image of the package with the driver, and nothing else. */
#include "../firmware/platform.h"
#include "switchyard_driver.h"
#include "switchyard_package.h"

uint32_t result;

int main(void) {
    const switchyard_package* const package = (const switchyard_package*)PACKAGE_ADDRESS;
    result = switchyard_check_image((const uint8_t*)package + package->image, package->image_bytes);
    return 0;
}
