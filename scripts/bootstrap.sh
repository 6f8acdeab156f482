# Shared by ./run and ./test: makes sure that Debian packages are there, configures and builds.
# Sourced; expects to be run from the project's root.

build_packages="gcc cmake ninja-build pkg-config libsimgrid-dev libglib2.0-dev libjansson-dev libsqlite3-dev"
# Not needed to build: charts of the report, the browser its test opens, the batch system that a sweep is sent to.
test_packages="gnuplot-nox chromium fonts-dejavu-core slurm-wlm munge"

say() { printf '%s\n' "$*" >&2; }

# need PACKAGE...: installs those of the packages that are missing, or says which and fails.
need() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    local sudo=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
            say "missing packages, and no right to install them: ${missing[*]}"
            say "as root: apt-get install ${missing[*]}"
            return 1
        fi
        sudo=(sudo -n)
    fi
    say "installing: ${missing[*]}"
    "${sudo[@]}" apt-get update -qq >/dev/null || say "apt-get update failed; trying with the lists that are there"
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || {
        say "could not install: ${missing[*]}"
        return 1
    }
}

# want PACKAGE...: as need, but goes on without them.
want() {
    need "$@" || say "going on without; what depends on them is skipped"
}

# build PRESET: configures and builds quietly; on failure shows what the tools said.
build() {
    local preset=$1 log
    log=$(mktemp)
    say "building ($preset)"
    if ! { cmake --preset "$preset" && cmake --build --preset "$preset"; } >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        rm -f "$log"
        say "the build ($preset) failed"
        return 1
    fi
    rm -f "$log"
}
