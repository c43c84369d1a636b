#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: lint_rtl.sh ROOT FOLDER MODULE
# Verilator reads ROOT/rtl/FOLDER/MODULE.sv, and what it instantiates from its folder and from common/, without a
# warning of -Wall; yosys reads it too, elaborates it and finds no conflict of drivers, loop or undriven net.
set -euo pipefail
waivers=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/packages.vlt
cd "$1/rtl"
folder=$2
module=$3

shopt -s nullglob
sources=()
for file in common/*_pkg.sv "$folder"/*_pkg.sv "$folder/$module.sv"; do
    if [[ " ${sources[*]} " != *" $file "* ]]; then sources+=("$file"); fi
done
verilator --lint-only -Wall -Icommon -y common -y "$folder" --top-module "$module" "$waivers" "${sources[@]}"

for file in common/*.sv "$folder"/*.sv; do
    if [[ " ${sources[*]} " != *" $file "* ]]; then sources+=("$file"); fi
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! yosys -q -l "$log" >/dev/null 2>&1 -p "
    read_verilog -sv -defer -Icommon ${sources[*]}
    hierarchy -check -top $module
    proc
    opt_clean
    check -assert"; then
    tail -n 20 "$log"
    exit 1
fi
# A small memory that becomes registers is what was meant; any other warning is not.
if grep '^Warning:' "$log" | grep -v 'Warning: Replacing memory'; then exit 1; fi
