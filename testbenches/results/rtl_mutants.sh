#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: rtl_mutants.sh BIN
# All mutants of the RTL, block by block: the score of each file as a table.
set -euo pipefail
source "$(dirname "$0")/lib/inputs.sh"
bin=$1
reports=$bin/../mutation
cat <<'MARKDOWN'
# Mutants of the RTL

Each mutant changes one expression, condition or assignment of a file (`docs/cosim.md`); it is found if the block's regression
fails. Equivalent mutants cannot be told from the original: `testbenches/cosim/mutation/survivors.tsv` says why. The score
is what the regression found of the others. Proofs do not count in it: the last column names those that include the module
(`docs/cosim.md`, "What is proved"), and a dash says that there is none.

Command: `./run results rtl_mutants`, which runs `test_cosim_BLOCK_mutants "[.all-mutants]"` of each block.

| block | file | mutants | found | equivalent | missed | score, % | proofs |
| --- | --- | --- | --- | --- | --- | --- | --- |
MARKDOWN
for block in fp pe_array dispatcher network_interface router scheduling_window dot_product_array; do
    # A block takes minutes: what was measured of these files is not measured again.
    folder=${block/#fp/pe_array}
    verdicts=$(cd "rtl/$folder" && printf '^%s\t\n' *.sv | grep -f - ../../testbenches/cosim/mutation/survivors.tsv || true)
    key=$(cat - testbenches/cosim/mutation/{mutate.py,selected.tsv} rtl/{common,"$folder"}/*.sv testbenches/cosim/"$block"/* \
        <<<"$verdicts" | sha256sum)
    if [[ ! -f $reports/$block.key || $(<"$reports/$block.key") != "$key" ]]; then
        log=$("$bin/test_cosim_${block}_mutants" "[.all-mutants]" 2>&1) || {
            echo "$log" >&2
            exit 1
        }
        echo "$key" >"$reports/$block.key"
    fi
    python3 -B testbenches/results/lib/rtl_proofs.py <"$reports/$block.md"
done
inputs testbenches/cosim/mutation/{mutate.py,selected.tsv,survivors.tsv} 'rtl/*/*.sv'
