#!/bin/sh
# Runs the linters that are installed, cppcheck and clang-tidy, over the tree; fails on any finding. A build folder with
# compile_commands.json is needed for clang-tidy.
#
#     scripts/lint.sh [BUILD_FOLDER] [FILE...]
set -eu

cd "$(dirname "$0")/.."
build=${1:-build/release}
[ $# -gt 0 ] && shift
rooms="model noc memory units workloads analysis cli tests"
status=0

# Suppressed: fp22.c shifts signed vectors to make masks, which GCC and clang define; cppcheck 2.10 loses the thread in
# two nested conditions (internalAstError). Patterns of whole suites of assertions are defined away in cppcheck.xml.
if command -v cppcheck >/dev/null; then
    cppcheck --enable=warning,performance,portability --inline-suppr --quiet --std=c11 --error-exitcode=1 \
        --library=scripts/lint/cppcheck.xml -I. -Itests \
        -D_GNU_SOURCE -DG_LOG_DOMAIN='"flitsim"' -DFLITSIM_VERSION='"0"' -DFLITSIM_SIMGRID='"simgrid"' \
        -DFLITSIM_SOURCE_DIR='"."' -DFLITSIM_SOURCE_CONFIGS='"configs"' -DFLITSIM_BINARY='"flitsim"' \
        --suppress=shiftTooManyBitsSigned:model/numeric/fp22.c --suppress=internalAstError \
        ${@:-$rooms} || status=1
else
    echo "lint: cppcheck is not installed" >&2
fi

if ! command -v clang-tidy >/dev/null; then
    echo "lint: clang-tidy is not installed" >&2
elif [ ! -f "$build/compile_commands.json" ]; then
    echo "lint: $build/compile_commands.json is missing: configure first" >&2
    status=1
else
    # shellcheck disable=SC2086
    files=${*:-$(find $rooms -name '*.c' -not -path 'tests/plugins/*')}
    for file in $files; do
        clang-tidy --quiet -p "$build" "$file" 2>/dev/null || status=1
    done
fi
exit $status
