# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# For run.sh and run_allreduce.sh, which source this with their arguments: --hosts and --rate go to $hosts and
# $rate_mbit, which have their defaults; the others are added to $options, those of the example.
. "$top/apps/cli/options.sh" || exit 4
words=("${options[@]}")
options_split "$@"
set -- "${options[@]}"
options=("${words[@]}")
while [ $# -gt 0 ]; do
    case $1 in
    --hosts | --rate) options_value "$@" ;;&
    --hosts) hosts=$2; shift 2 ;;
    --rate) rate_mbit=$2; shift 2 ;;
    --help | --version) options_other "$1" ;;
    *) options+=("$1"); shift ;;
    esac
done
case $hosts$rate_mbit in *[!0-9]*) options_wrong '--hosts and --rate are numbers' ;; esac
