#!/bin/sh
# Undoes what `lookalike dedup` did with duplicate files. Run: sh THIS_FILE
# It overwrites no file, and can be run again.
set -u
status=0
trap 'exit "$status"' EXIT

problem() {
    printf '%s: %s\n' "$1" "$2" >&2
    status=1
}

# Moves the file $1 back to $2.
moved() {
    if [ -e "$2" ] || [ -L "$2" ]; then
        if [ -e "$1" ]; then problem 'not moved back, a file has its name' "$2"; fi
    elif [ ! -f "$1" ]; then
        problem 'not moved back, it is gone' "$1"
    else
        { mkdir -p "${2%/*}/" && mv "$1" "$2"; } || status=1
    fi
}

# Replaces the link $1 to the file $2 by a copy, which was changed at $3.
linked() {
    copy="${1%/*}/.lookalike-undo.$$"
    if [ ! -f "$1" ] || [ ! "$1" -ef "$2" ]; then return; fi
    if [ -e "$copy" ]; then
        problem 'not copied, a file has the name of the copy' "$copy"
    elif cp -p "$1" "$copy"; then
        if [ "$#" -gt 2 ]; then touch -m -d "$3" "$copy" || status=1; fi
        mv -f "$copy" "$1" || status=1
    else
        rm -f "$copy"
        status=1
    fi
}

linked '/tmp/pytest-of-root/pytest-5/popen-gw1/test_a_link_needs_every_byte_t0/b.txt' '/tmp/pytest-of-root/pytest-5/popen-gw1/test_a_link_needs_every_byte_t0/a.txt' 2026-11-29T01:32:06.373360067Z
