# SPDX-License-Identifier: Apache-2.0
# inputs FILE...: the last line of a results page: the files on which its figures depend, with the first twelve digits of
# their SHA-256. The test `results_current` compares them with the files that stand there.
inputs() {
    local file
    printf '\nInputs:'
    for file in "$@"; do printf ' `%s` %s' "$file" "$(sha256sum "$file" | cut -c1-12)"; done
    printf '\n'
}
