// SPDX-License-Identifier: Apache-2.0

/// Debian's SystemC library asks for this symbol; the programs have a main of their own.
extern "C" int sc_main(int, char**);
int sc_main(int, char**) {
    return 0;
}
