#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `run` does on machines that know all, some or none of its packages: run_test.sh RUN SCRATCH. Everything that it
# would start is replaced by a script that writes its arguments to a log.
set -euo pipefail
run=$(realpath "$1")
scratch=$2

rm -rf "$scratch"
mkdir -p "$scratch/project" "$scratch/bin"
cp "$run" "$scratch/project/run"
cd "$scratch"

# pretend NAME BODY: a program that logs its call, then does BODY.
pretend() {
    printf '#!/bin/bash\necho "%s $*" >>%q/log\n%s\n' "$1" "$PWD" "${2:-}" >"bin/$1"
    chmod +x "bin/$1"
}
pretend cmake
pretend apt-get
pretend sudo 'exec "$@"'

status=0
must() { # must WHAT COMMAND...: the command succeeds
    if ! "${@:2}"; then
        echo "FAILED: $1; the log:" && cat log output
        status=1
    fi
}
call() { # call ARGUMENT...: ./run with the programs above; its exit status is in $code
    : >log
    code=0
    PATH=$PWD/bin:$PATH project/run "$@" >output 2>&1 || code=$?
}
logged() { grep -q "$1" log; }
silent() { ! grep -q "$1" log; }

pretend dpkg-query 'shift 2; for package; do echo "installed $package"; done'
call build
must "all installed: succeeds" test $code = 0
must "all installed: installs nothing" silent apt-get
must "all installed: configures and builds" logged 'cmake --build --preset release'

pretend dpkg-query 'echo "dpkg-query: no packages found" >&2; exit 1'
call build
must "no package known: succeeds" test $code = 0
must "no package known: updates the lists" logged 'apt-get .* update'
must "no package known: installs them all" logged 'apt-get .*install.* g++ .*libsystemc-dev .*gcc-riscv64-unknown-elf'
must "no package known: builds then" logged 'cmake --build'

pretend dpkg-query 'echo "installed g++"; echo "config-files cmake"; exit 1'
call build
must "some known: succeeds" test $code = 0
must "some known: installs what is missing or was removed" logged 'install .*recommends cmake ninja-build'

pretend apt-get 'exit 100'
call build
must "installation fails: so does run" test $code = 100
must "installation fails: nothing is built" silent '^cmake'
must "installation fails: says what it was installing" grep -q '^run: installing cmake' output

for bad in 'unknown' 'test now' 'build release debug'; do
    # shellcheck disable=SC2086  # words on purpose
    call $bad
    must "run $bad: status 2" test $code = 2
    must "run $bad: a line of its own" grep -q '^run: ' output
    must "run $bad: nothing started" test ! -s log
done
exit $status
