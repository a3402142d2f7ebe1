# SPDX-License-Identifier: BSD-3-Clause
#
# The command line of the scripts, which answer as the programs do (cli_options.h). Source it.
#
#   options_split "$@"; set -- "${options[@]}"   --name=value becomes two words, up to "--"
#   options_value "$@"                           exit 2 when the option $1 has no value behind it
#   options_other "$1"                           what is no option of the script's own: --help (its
#                                                usage), --version, else one line and exit 2

options_split() {
    local word
    options=()
    while [ $# -gt 0 ]; do
        word=$1
        shift
        case $word in
        --) options+=("$word" "$@"); return ;;
        --*=*) options+=("${word%%=*}" "${word#*=}") ;;
        *) options+=("$word") ;;
        esac
    done
}

options_wrong() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 2
}

options_value() {
    [ $# -ge 2 ] || options_wrong "$1 needs a value"
}

options_other() {
    case $1 in
    -h | --help) usage; exit 0 ;;
    --version)
        echo "${0##*/} (clv) $(sed -n 's/^#define CLV_VERSION  *"\(.*\)"/\1/p' "$top/util/util_version.h")"
        exit 0 ;;
    -*) options_wrong "unknown option '$1' (--help lists them)" ;;
    *) options_wrong "unknown argument '$1' (--help lists all)" ;;
    esac
}
