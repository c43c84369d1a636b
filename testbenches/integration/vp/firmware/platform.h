// SPDX-License-Identifier: Apache-2.0
/* Where the prototype's loader puts what `sy-sched pack` has made: behind the firmware in RAM. */
#ifndef PLATFORM_H
#define PLATFORM_H

#define PACKAGE_ADDRESS 0x80100000u

#endif
