# SPDX-License-Identifier: BSD-3-Clause
#
# Completion in bash of clv's tools and of the script ./clv: what their --help says, asked when it is needed,
# so that it cannot be out of date. Installed where bash-completion looks; or source it.
#
# Options from the lines of the help that begin with them; behind an option of a FILE or DIR file names;
# behind another the words of the help's section of that name (patterns, schedulers, ...), also in lists
# with commas; commands of ./clv.

# Words of the section of the help, on standard input, whose heading is the option's name or its value's, or begins so;
# not of lines that go on behind a word, which begin further in.
_clv_section() { # OPTION VALUE
    awk -v option="$1" -v value="${2,,}" '
        /^[a-z-]+:$/ {
            name = substr($0, 1, length - 1); indent = 0
            inside = index(name, option) == 1 || index(option, name) == 1 || index(name, value) == 1; next
        }
        /^[^ ]/ || /^$/ { inside = 0 }
        inside && /^ +[a-z0-9-]+( |$)/ {
            match($0, /^ +/); indent = indent ? indent : RLENGTH
            if (RLENGTH == indent) print $1
        }'
}

_clv_complete() {
    local command=$1 word=${COMP_WORDS[COMP_CWORD]} before= help value list=
    [ "$COMP_CWORD" -eq 0 ] || before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    command=${command/#\~\//$HOME/}
    help=$("$command" --help 2>/dev/null </dev/null) || return
    # --name=value is three words
    [ "$word" != = ] || word=
    [ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
    if [ "${command##*/}" = clv ]; then
        [ "$COMP_CWORD" -ne 1 ] ||
            COMPREPLY=($(compgen -W "$(sed -nE 's/^  ([a-z]+) .*/\1/p' <<<"$help") --help --version" -- "$word"))
        return
    fi
    value=
    [[ ! $before =~ ^--?[a-z][a-z-]*$ ]] ||
        value=$(sed -nE "s/^  ((-[a-z], )?$before|$before, --[a-z-]+) ([A-Z][^ ]*|[a-z]+) .*/\3/p" <<<"$help")
    case $value in
    FILE | DIR | N) ;; # bash's own, see below, or a number
    '')
        [[ $word != -* ]] || COMPREPLY=($(compgen -W "--help --version
            $(sed -nE 's/^  (-[a-z], )?(--[a-z-]+)( .*|$)/\2/p' <<<"$help")" -- "$word")) ;;
    *)
        [[ $word != *,* ]] || list=${word%,*},
        COMPREPLY=($(compgen -P "$list" -W "$([[ $value != [a-z]* ]] || echo "$value"
            _clv_section "${before#--}" "$value" <<<"$help")" -- "${word##*,}"))
        [ -z "${COMPREPLY[*]-}" ] || return 0 ;;
    esac
    # No option, and no word of the help: names of files.
    [[ $word == -* && -z $value ]] || [ -n "${COMPREPLY[*]-}" ] || compopt -o default 2>/dev/null
}
complete -F _clv_complete clv clv-bench clv-bench-compare clv-clock clv-correct clv-plan clv-predict clv-view
