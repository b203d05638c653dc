#!/bin/sh
# Writes the files of a release next to the program: manual pages, completions, and the licences of
# linked crates.
#
# release-files.sh PROGRAM FOLDER
set -eu
program=$1
folder=$2
root=$(dirname "$0")/..
mkdir -p "$folder/man" "$folder/completions"

# The commands that the help of a command lists.
commands() {
    "$program" "$@" --help |
        awk '/^Commands:/ { listed = 1; next } listed && /^$/ { exit } listed && /^  [a-z]/ { print $1 }'
}

"$program" man >"$folder/man/lookalike.1"
for command in $(commands); do
    [ "$command" = help ] && continue
    "$program" man "$command" >"$folder/man/lookalike-$command.1"
    for inner in $(commands "$command"); do
        [ "$inner" = help ] && continue
        "$program" man "$command" "$inner" >"$folder/man/lookalike-$command-$inner.1"
    done
done

pages=$(find "$folder/man" -name '*.1' | wc -l)
if [ "$pages" -lt 20 ]; then
    echo "$0: $pages manual pages, expected at least 20; \`commands\` misread the help" >&2
    exit 1
fi

"$program" completions bash >"$folder/completions/lookalike.bash"
"$program" completions zsh >"$folder/completions/_lookalike"
"$program" completions fish >"$folder/completions/lookalike.fish"
"$program" completions powershell >"$folder/completions/_lookalike.ps1"

# Two lists, because the command and the package for Python link different crates.
python3 "$root/deploy/licences.py" "$folder/LICENSE-THIRD-PARTY" lookalike-cli postgres
python3 "$root/deploy/licences.py" "$root/python/LICENSE-THIRD-PARTY" lookalike-python
