#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# After `make uninstall`: removes the folders that install made, where they are empty, and those around them.
#
#   rmdirs.sh DESTDIR PREFIX FOLDER...
#
# Up to DESTDIR; without one up to PREFIX, which stays: it may have been there, and make distcheck looks into it. In a prefix of the machine's or a user's own only
# folders named clv and what lies in them: an empty bin or lib is meant to be there.
set -u
destdir=${1%/} prefix=${2%/}
shift 2

goes() { # FOLDER
    case $1 in
    "$destdir" | / | .) return 1 ;;
    esac
    [ -z "$destdir" ] || return 0
    case $1 in
    "$prefix"/*) ;;
    *) return 1 ;;
    esac
    case $prefix in
    '' | /usr | /usr/local | "${HOME-}" | "${HOME-}/.local") case ${1#"$prefix"} in */clv | */clv/*) ;; *) return 1 ;; esac ;;
    esac
}

for folder in "$@"; do
    folder=$destdir$folder
    while goes "$folder" && { [ ! -e "$folder" ] || rmdir "$folder" 2>/dev/null; }; do
        folder=$(dirname "$folder")
    done
done
exit 0
