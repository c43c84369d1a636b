#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: prove.sh ROOT WORK BLOCK TOP pdr|induction|bounded=CYCLES [PARAMETER=VALUE...]
#        prove.sh ROOT WORK BLOCK TOP PROPERTY FILE SED [PARAMETER=VALUE...]
#
# The first form proves every assertion of ROOT/testbenches/formal/TOP.sv and of the modules of ROOT/rtl/BLOCK under it,
# for all inputs and for ever: with yosys-abc's property-directed reachability, or with yosys's temporal induction; or, bounded,
# for all inputs in the first CYCLES cycles.
# The second one changes FILE with the sed expression SED and expects a counterexample to PROPERTY: a property that no
# fault can break says nothing.
set -euo pipefail
root=$1
work=$2
block=$3
top=$4
shift 4
mutated=
if [[ $1 == pdr || $1 == induction || $1 == bounded=* ]]; then
    engine=$1
    shift
else
    property=$1
    mutated=$2
    change=$3
    shift 3
fi
parameters=
for parameter in "$@"; do parameters+=" -chparam ${parameter%%=*} ${parameter#*=}"; done

# The dispatcher's control is proved for any arithmetic around it, which the other proofs are about.
stubs=()
free=
if [[ $top == dispatcher_properties ]]; then
    stubs=(kernel_fitting.sv block_shape.sv address_generator.sv loop_nest.sv)
    free="cutpoint w:u_dispatcher.fetch_bad w:u_dispatcher.crc; delete t:\$assert */*block_within_dyn_dim %i"
fi
# Credits: what the two ends of a link assume of each other is to be shown. A ring: that alone.
if [[ $top == credit_properties ]]; then free="chformal -assume2assert"; fi
if [[ $top == ring_properties ]]; then
    free="delete t:\$assert t:\$assert */*something_moves %i %d"
fi

name=$top${mutated:+.$property}
folder=$work/$name${*:+.$(IFS=. && echo "$*")}
rm -rf "$folder"
mkdir -p "$folder"
cp "$root"/rtl/"$block"/*.sv "$folder"
cp "$root/testbenches/formal/$top.sv" "$folder"
cd "$folder"
if [[ -n $mutated ]]; then
    cp "$mutated" original
    sed -i "$change" "$mutated"
    if cmp -s original "$mutated"; then
        echo "the mutation of $mutated changes nothing: $change"
        exit 1
    fi
fi
for stub in "${stubs[@]}"; do rm "$stub"; done
if ((${#stubs[@]} > 0)); then cp "$root/testbenches/formal/dispatcher_stubs.sv" .; fi
shopt -s nullglob
sources=(*_pkg.sv)  # packages first
for file in *.sv; do
    if [[ $file != *_pkg.sv ]]; then sources+=("$file"); fi
done

prepare="read_verilog -formal -sv -defer -I$root/rtl/common ${sources[*]}
    hierarchy -check -top $top $parameters
    proc; flatten; $free
    select -list t:\$assert
    ${mutated:+delete t:\$assert t:\$assert */*$property %i %d}
    setundef -undriven -anyseq; async2sync; memory_map; opt -full; techmap; opt -fast; dffunmap; opt_clean
    abc -g AND -fast; opt_clean"
run_yosys() {
    if ! yosys -q -l log -p "$1" >/dev/null 2>error; then
        tail -n 5 log
        return 1
    fi
}
write="write_aiger -I -B -zinit -no-startoffset model.aig"
properties() { sed -n "s/^$top\///p" log | sed -E 's/^.*\.//' | sort -u; }

if [[ -n $mutated ]]; then
    run_yosys "$prepare; $write"
    if ! properties | grep -qx "$property"; then
        echo "no property called $property"
        exit 1
    fi
    yosys-abc -c "read_aiger model.aig; fold; orpos; strash; bmc3 -F 40 -T 120" >abc.log
    if ! grep -q 'was asserted in frame' abc.log; then
        tail -n 3 abc.log
        echo "$property holds although $mutated is changed by $change"
        exit 1
    fi
    sed -nE "s/.*was asserted in frame *([0-9]+).*/$property fails in cycle \1 with $mutated changed by ${change//\//\\/}/p" abc.log
    exit 0
fi

if [[ $engine == bounded=* ]]; then
    cycles=${engine#*=}
    run_yosys "$prepare; $write"
    yosys-abc -c "read_aiger model.aig; fold; strash; scorr; orpos; bmc3 -F $cycles -T 500" >abc.log
    if ! grep -q "No output asserted in $cycles frames" abc.log; then
        tail -n 5 abc.log
        exit 1
    fi
    echo "shown for all inputs in the first $cycles cycles, with ${*:-the default parameters}:"
    properties | sed 's/^/  /'
    exit 0
fi

if [[ $engine == induction ]]; then
    run_yosys "$prepare; sat -verify -tempinduct -prove-asserts -maxsteps 4"
else
    run_yosys "$prepare; $write"
    yosys-abc -c "read_aiger model.aig; fold; strash; scorr; pdr -a; print_status" >abc.log
    if ! grep -q ' 0 SAT, [1-9][0-9]* UNSAT, and 0 UNDEC' abc.log; then
        tail -n 5 abc.log
        exit 1
    fi
fi
echo "proved by $engine, for all inputs and any number of cycles, with ${*:-the default parameters}:"
properties | sed 's/^/  /'
