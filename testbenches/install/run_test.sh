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

# Tests of the desk: more packages, only the programs, only their label.
pretend apt-get
pretend ctest
pretend dpkg-query 'echo "dpkg-query: no packages found" >&2; exit 1'
call test desk
must "test desk: succeeds" test $code = 0
must "test desk: asks for its packages" logged 'install .*python3-torch'
must "test desk: builds the programs alone" logged "cmake --build --preset release --parallel $(nproc) --target sy-sched sy-sim sy-sweep"
must "test desk: runs its preset" logged 'ctest --preset desk'
call test
must "test: asks for no package of the desk" silent python3-torch
must "test: runs its preset" logged 'ctest --preset release'

# Sanitizers: the build without the RTL, random pairs and the unit tests.
pretend apt-get
pretend dpkg-query 'shift 2; for package; do echo "installed $package"; done'
pretend ctest
mkdir -p project/build/asan-unit/bin
cp bin/ctest project/build/asan-unit/bin/property_pairs
call sanitize
must "sanitize: succeeds" test $code = 0
must "sanitize: builds its preset" logged 'cmake --build --preset asan-unit'
must "sanitize: tests it at last" test "$(tail -n 1 log | cut -d ' ' -f 1-3)" = 'ctest --preset asan-unit'

# Lint of what has changed: the sources of changed headers, no more than asked for, and a status that says what failed.
commit() { git -C project -c user.name=n -c user.email=e -c init.defaultBranch=main "$@" >/dev/null; }
pretend clang-format
pretend clang-tidy 'if [[ $* == *bad* ]]; then exit 1; fi'
mkdir -p project/hw project/build/lint
printf '/build\n' >project/.gitignore
for file in old good bad; do echo "int $file;" >"project/hw/$file.cpp"; done
for file in old good bad driver; do
    if [[ $file == driver ]]; then file=driver.c; else file=$file.cpp; fi
    echo "{\"file\": \"$PWD/project/hw/$file\"}"
done >project/build/lint/compile_commands.json
echo 'int h;' >project/hw/old.h
commit init
commit add -A
commit commit -q -m before
echo 'int h2;' >>project/hw/old.h
printf 'int d;\nint e;\n' >project/hw/driver.c
echo 'int unknown;' >project/hw/unknown.cpp
commit add -A
commit commit -q -m after
call lint HEAD~1
must "lint: succeeds" test $code = 0
must "lint: builds compile commands alone" silent 'cmake --build --preset release'
must "lint: checks a changed source in C" logged 'clang-tidy .*hw/driver.c'
must "lint: checks the source of a changed header" logged 'clang-tidy .*hw/old.cpp'
must "lint: checks nothing else" silent 'clang-tidy .*\(good\|unknown\)'
must "lint: says how many" grep -q 'clang-tidy of 2 of 2 sources that changed since HEAD~1' output
# All sources: those that a unity build compiles together, and those that it compiles by themselves.
units=project/build/lint-all
mkdir -p $units/hw/Unity
echo "#include \"$PWD/project/hw/good.cpp\"" >$units/hw/Unity/unity_0_cxx.cxx
echo "#include \"$PWD/$units/made.cpp\"" >$units/hw/Unity/unity_1_cxx.cxx
printf '{\n  "file": "%s",\n  "output": "x"\n},\n' "$PWD/project/hw/driver.c" "$PWD/$units/made.cpp" \
    "$PWD/$units/hw/Unity/unity_0_cxx.cxx" "$PWD/$units/hw/Unity/unity_1_cxx.cxx" >$units/compile_commands.json
call lint
must "lint of all: succeeds" test $code = 0
must "lint of all: checks several sources at once" logged 'clang-tidy .*Unity/unity_0'
must "lint of all: checks a source by itself" logged 'clang-tidy .*hw/driver.c'
must "lint of all: checks nothing that is made" silent 'clang-tidy .*\(unity_1\|made\)'
call lint HEAD~1 1
must "lint with a limit: the most changed source" logged 'clang-tidy .*hw/driver.c'
must "lint with a limit: no other" silent 'clang-tidy .*hw/old.cpp'
must "lint with a limit: says how many" grep -q 'clang-tidy of 1 of 2 sources' output
call lint nowhere
must "lint since no commit: status 2" test $code = 2
echo 'int worse;' >>project/hw/bad.cpp
call lint HEAD
must "lint with a finding: status 1" test $code = 1
must "lint with a finding: says of what" grep -q '^lint: findings of clang-tidy' output
pretend clang-tidy 'kill -9 $$'
call lint HEAD
must "clang-tidy is killed: no finding" test $code = 2
pretend cmake 'exit 1'
call lint HEAD
must "no compile commands: no finding" test $code = 2
must "no compile commands: nothing is checked" silent "^clang-format"

for bad in 'unknown' 'test now' 'build release debug'; do
    # shellcheck disable=SC2086  # words on purpose
    call $bad
    must "run $bad: status 2" test $code = 2
    must "run $bad: a line of its own" grep -q '^run: ' output
    must "run $bad: nothing started" test ! -s log
done
exit $status
