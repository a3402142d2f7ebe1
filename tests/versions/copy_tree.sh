# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that build a copy of the tree elsewhere; not a test.
#
# copy_tree TOP FOLDER: what git knows and what is new in the working tree, without what builds left
# behind.
copy_tree() {
    mkdir -p "$2"
    git -C "$1" ls-files -z --cached --others --exclude-standard |
        (cd "$1" && while IFS= read -r -d '' file; do
            [ ! -e "$file" ] || printf '%s\0' "$file"
        done | tar -c --null -T -) | tar -x -C "$2"
}
