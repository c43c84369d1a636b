#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: speed_pairs.sh BEFORE AFTER [CASES]: two folders of programs, of two commits. Runs each case five times with
# both in turn, and prints a line a case: name, median, smallest and largest user CPU seconds before, the same after, and
# whether reports (images) of both are the same bytes. CASES: a regular expression, of cases with such names alone. Run it
# from the top of the repository.
set -euo pipefail
before=$1 after=$2 cases=${3:-}
chip=configs/platforms/adyna.yaml small=configs/platforms/mini.yaml digits=configs/workloads/digits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# User CPU seconds of a command.
seconds() {
    local TIMEFORMAT=%U
    { time "$@" >/dev/null 2>&1; } 2>&1
}
summary() {
    printf '%s\n' "$@" | sort -n | awk '{ t[NR] = $1 } END { printf "%s\t%s\t%s", t[int((NR + 1) / 2)], t[1], t[NR] }'
}
# usage: pairs NAME RESULT COMMAND...: {} stands for the folder of programs, {out} for where the result goes.
pairs() {
    local name=$1 result=$2 turn which bin args times_before=() times_after=() same=same
    shift 2
    [[ $name =~ $cases ]] || return 0
    for turn in 1 2 3 4 5; do
        for which in before after; do
            bin=${!which}
            args=("${@//\{\}/$bin}")
            args=("${args[@]//\{out\}/$work/$which}")
            if [[ $which == before ]]; then times_before+=("$(seconds "${args[@]}")"); else times_after+=("$(seconds "${args[@]}")"); fi
        done
        cmp -s "$work/before$result" "$work/after$result" || same=different
    done
    printf '%s\t%s\t%s\t%s\n' "$name" "$(summary "${times_before[@]}")" "$(summary "${times_after[@]}")" "$same"
}
image() {
    "$before/sy-sched" compile "configs/workloads/$1.yaml" --platform "$3" --design "$2" -o "$work/$1.$2.syk" >/dev/null
}
# usage: run NAME IMAGE [KEY=VALUE]...
run() {
    local name=$1 image=$2 settings=() setting
    shift 2
    for setting in chip.impl=tiles "$@"; do settings+=(--set "$setting"); done
    pairs "$name" /report.json {}/sy-sim run --platform "$chip" "${settings[@]}" --image "$work/$image.syk" --batches 1 \
        --report {out}
}
# usage: values NAME NETWORK INPUTS ACC
values() {
    image "digits_$2" adyna "$small"
    pairs "$1" /report.json {}/sy-sim run --platform "$small" --set chip.functional=yes --set "pe_array.acc=$4" \
        --image "$work/digits_$2.adyna.syk" --weights "$digits/$2/weights" --inputs "$digits/$3" \
        --expect "$digits/$2/logits_batch0_to_19.npy" --bound 1000 --trace "$digits/$2/routing.jsonl" --batches 2 \
        --report {out}
}
# usage: schedule NETWORK [TEXT SETTING...]: TEXT tells what the settings are.
schedule() {
    local network=$1 text=${2:-}
    shift $(($# < 2 ? $# : 2))
    pairs "scheduling, $network$text" .syk {}/sy-sched compile "configs/workloads/$network.yaml" --platform "$chip" "$@" \
        --design adyna -o {out}.syk
}

image tutel_moe adyna "$chip"
image tutel_moe m-tile "$chip"
run "tiles, tutel_moe, adyna" tutel_moe.adyna
run "tiles, tutel_moe, m-tile" tutel_moe.m-tile
run "tiles and flits, tutel_moe, adyna" tutel_moe.adyna noc.impl=flit
run "tiles and banks, tutel_moe, adyna" tutel_moe.adyna hbm.impl=bank
values "values, digits_moe, acc fp32" moe moe/inputs_batch0_to_19.npy fp32
values "values, digits_moe, acc fp16" moe moe/inputs_batch0_to_19.npy fp16
values "values, digits_skipnet, acc fp32" skipnet inputs_batch0_to_19.npy fp32
schedule tutel_moe
run "tiles, flits and banks, tutel_moe, adyna" tutel_moe.adyna noc.impl=flit hbm.impl=bank
values "values, digits_channel_gate, acc fp16" channel_gate inputs_batch0_to_19.npy fp16
for network in skipnet_resnet34 skipnet_resnet101 fbsnet_mcifarnet fbsnet_resnet18 pabee_bert dpsnet; do
    schedule "$network"
done
schedule skipnet_resnet34 ", 64x64 tiles" --set chip.columns=64 --set chip.rows=64 --set host.image_window_bytes=134217728
image skipnet_resnet34 adyna "$chip"
run "tiles, skipnet_resnet34, adyna" skipnet_resnet34.adyna
