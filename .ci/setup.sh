#!/usr/bin/env bash
# Makes .venv, or brings it up to date with requirements.lock and pyproject.toml.
#
# A finished environment keeps a copy of what it was made from. One without that copy was interrupted
# and is made anew, so that a set-up cut off at any point is repaired by the next call.
# PYTHON names the interpreter; without it the first suitable one of a list is taken.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly venv=.venv
readonly made_from=$venv/.made-from

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

wanted() { pwd -P; cat requirements.lock pyproject.toml .ci/setup.sh; }

# The range is that of requires-python. A pyenv shim may exist and not run; Debian's python3 may lack ensurepip.
suitable() {
    "$1" -I -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null
}

# Prints the interpreter itself, also when called through an environment or a shim.
base() { "$1" -I -c 'import sys; print(sys._base_executable)'; }

find_python() {
    local candidate
    if [[ -n ${PYTHON:-} ]]; then
        suitable "$PYTHON" || die "PYTHON=$PYTHON is no Python 3.11, 3.12 or 3.13 with venv and ensurepip"
        base "$PYTHON"
        return
    fi
    for candidate in python3.13 python3.12 python3.11 python3 python; do
        if suitable "$candidate"; then
            base "$candidate"
            return
        fi
    done
    die "found no Python 3.11, 3.12 or 3.13 with venv and ensurepip (Debian: python3-venv); name one with PYTHON="
}

# Without PYTHON an environment stays on the interpreter it was made with.
same_python() { [[ -z ${PYTHON:-} || $(base "$venv/bin/python") -ef $python ]]; }
finished() { [[ -f $made_from ]] && suitable "$venv/bin/python" && same_python; }
up_to_date() { finished && wanted | cmp -s - "$made_from"; }

# Settings of pip that say where packages come from are kept; those that say which, and whereto, are not.
keep_sources_only() {
    local name
    for name in $(compgen -e PIP_ || true); do
        case $name in
            PIP_CONFIG_FILE | PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_NO_INDEX | PIP_FIND_LINKS) ;;
            PIP_CERT | PIP_CLIENT_CERT | PIP_TRUSTED_HOST | PIP_PROXY | PIP_KEYRING_PROVIDER) ;;
            PIP_TIMEOUT | PIP_DEFAULT_TIMEOUT | PIP_RETRIES | PIP_CACHE_DIR | PIP_NO_CACHE_DIR) ;;
            *) unset "$name" ;;
        esac
    done
    unset PYTHONPATH PYTHONHOME
    export PIP_USER=0 PIP_CONSTRAINT=/dev/null # over what a configuration file says
}

install() {
    "$venv/bin/python" -I -m pip install -qq --no-input --disable-pip-version-check --root-user-action=ignore \
        --no-deps "$@" </dev/null
}

python=
if [[ -n ${PYTHON:-} ]]; then
    python=$(find_python)
fi
up_to_date && exit 0

# One set-up at a time; a second call waits, and then mostly finds nothing left to do.
exec 9<requirements.lock
if command -v flock >/dev/null; then
    flock --nonblock 9 || { say "waiting for another set-up"; flock 9; }
    up_to_date && exit 0
fi

keep_sources_only
if finished; then
    say "bringing $venv up to date"
    rm "$made_from"
else
    python=${python:-$(find_python)}
    say "making $venv with $("$python" -V)"
    rm -rf "$venv"
    "$python" -m venv "$venv"
fi
say "installing pip, setuptools and wheel"
install $(grep -E '^(pip|setuptools|wheel)==' requirements.lock)
say "installing requirements.lock (2.3 GB, some minutes the first time)"
install --no-build-isolation -r requirements.lock
say "installing btao itself, editable"
install --no-build-isolation -e .
wanted >"$made_from.part"
mv "$made_from.part" "$made_from"
say "ready"
