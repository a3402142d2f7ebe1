# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that build a copy of the tree elsewhere, or Open MPI; not a test.
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

# fetch_openmpi FOLDER: Debian's source package of the openmpi that apt offers, as FOLDER/openmpi; from the mirrors that
# apt uses here, without changing apt's own sources. Says what it does; 1 when it could not.
fetch_openmpi() {
    local apt=$1/apt options sources=$1/apt/parts/clv.list
    mkdir -p "$apt/lists/partial" "$apt/parts"
    apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) main' 'Created-By: Packages' \
        'Origin: Debian' 'Component: main' | sort -u >"$sources"
    [ -s "$sources" ] || { echo 'apt on this machine has no Debian mirror'; return 1; }
    options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts"
        -o "Dir::State::lists=$apt/lists" -o APT::Sandbox::User=root)
    (cd "$1" && timeout 600 apt-get -qq "${options[@]}" update &&
        timeout 600 apt-get -qq "${options[@]}" source --only-source openmpi && mv openmpi-[0-9]*/ openmpi)
}
