# SPDX-License-Identifier: Apache-2.0
# inputs FILE...: the last line of a results page: the files on which its figures depend, with the first twelve digits of
# their SHA-256. A FILE with a `*`, in quotes, stands for all files of such names: one that is added or removed changes its
# digits too. The test `results_current` compares them with the files that are there.
inputs() {
    local file
    printf '\nInputs:'
    for file in "$@"; do printf ' `%s` %s' "$file" "$(input_digits "$file")"; done
    printf '\n'
}
# The digits of one such FILE, or "missing".
input_digits() {
    if [[ $1 == *'*'* ]]; then
        compgen -G "$1" | LC_ALL=C sort | xargs -r sha256sum | sha256sum | cut -c1-12
    elif [[ -f $1 ]]; then
        sha256sum "$1" | cut -c1-12
    else
        echo missing
    fi
}
