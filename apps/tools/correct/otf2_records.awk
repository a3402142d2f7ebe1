# Makes the functions that read and copy every kind of record OTF2 has, from its installed headers
# and the table of what is done with each. Fails, and so does the build, when the headers have a kind
# that the table lacks: nothing of a trace is lost without somebody having decided it.
#
# usage: awk -f otf2_records.awk otf2_records.txt INCLUDE/otf2/OTF2_{EvtReader,GlobalDefReader,
#        DefReader}Callbacks.h > otf2_records.inc
# The table: class, kind, treatment (copy, note, clock, drop, applied); see there.

FILENAME ~ /otf2_records\.txt$/ {
    if ($0 !~ /^#/ && NF >= 3) treatment[$1 " " $2] = $3
    next
}
{
    if (FILENAME != file) { file = FILENAME; files[++n_files] = file }
    text[file] = text[file] " " $0
}

function without_comments(s,    out, at, rest) {
    out = ""
    while ((at = index(s, "/*")) > 0) {
        out = out substr(s, 1, at - 1)
        rest = substr(s, at + 2)
        s = substr(rest, index(rest, "*/") + 2)
    }
    return out s
}

# Splits "TYPE name, TYPE name" into declarations and their names.
function split_arguments(s,    i, n, words, k) {
    n = split(s, argument, ",")
    for (i = 1; i <= n; i++) {
        gsub(/^[ \t]+|[ \t]+$/, "", argument[i])
        gsub(/[ \t]+/, " ", argument[i])
        k = split(argument[i], words, /[ *]+/)
        name[i] = words[k]
    }
    return n
}

function joined(what, from, n,    i, s) {
    s = ""
    for (i = from; i <= n; i++) s = s ", " (what == "name" ? name[i] : argument[i])
    return s
}

function unused(from, n,    i, s) {
    s = ""
    for (i = from; i <= n; i++) s = s "    (void) " name[i] ";\n"
    return s
}

# Events: location, time, eventPosition, userData, attributeList, then their own.
function event(kind, how, n,    i, s, value) {
    s = "static OTF2_CallbackCode read_" kind "(" substr(joined("argument", 1, n), 3) ")\n{\n"
    s = s "    (void) location;\n    (void) eventPosition;\n" unused(6, n)
    s = s "    if (!correct_take_event(userData, time, attributeList)) {\n"
    s = s "        return OTF2_CALLBACK_INTERRUPT;\n    }\n"
    if (how == "note") s = s "    note_" kind "(userData" joined("name", 6, n) ");\n"
    s = s "    return OTF2_CALLBACK_SUCCESS;\n}\n"
    s = s "static OTF2_CallbackCode copy_" kind "(" substr(joined("argument", 1, n), 3) ")\n{\n"
    s = s "    (void) location;\n    (void) time;\n    (void) eventPosition;\n"
    s = s "    return correct_copied(userData, OTF2_EvtWriter_" kind "(correct_writer(userData), "
    s = s "attributeList, correct_next_time(userData)"
    for (i = 6; i <= n; i++) {
        value = argument[i] ~ /^OTF2_TimeStamp / ? "correct_time_at(userData, " name[i] ")" : name[i]
        s = s ", " value
    }
    return s "));\n}\n"
}

# Definitions: userData, then their own.
function definition(class, kind, how, n,    s, writer) {
    writer = class == "definition" ? "OTF2_GlobalDefWriter_Write" : "OTF2_DefWriter_Write"
    s = "static OTF2_CallbackCode " class "_" kind "(" substr(joined("argument", 1, n), 3) ")\n{\n"
    s = s "    (void) userData;\n" unused(2, n)
    if (how == "note" || how == "clock")
        s = s "    note_" class "_" kind "(userData" joined("name", 2, n) ");\n"
    if (how == "note" || how == "copy")
        s = s "    if (correct_" class "_writer(userData)) {\n        return correct_copied(userData, " \
            writer kind "(correct_" class "_writer(userData)" joined("name", 2, n) "));\n    }\n"
    return s "    return OTF2_CALLBACK_SUCCESS;\n}\n"
}

function registration(prefix, type, kinds, stem,    i, n, list, s) {
    n = split(kinds, list, " ")
    s = "static void " prefix "(" type " *callbacks)\n{\n"
    for (i = 1; i <= n; i++)
        s = s "    " type "_Set" list[i] "Callback(callbacks, " stem list[i] ");\n"
    return s "}\n"
}

function kinds_of(class, s,    body, at, head, kind, arguments, n, how, all) {
    all = ""
    while (match(s, /\( *\*[ ]*OTF2_[A-Za-z]*Callback_[A-Za-z0-9]* *\)/)) {
        head = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        kind = head
        sub(/.*Callback_/, "", kind)
        sub(/ *\).*/, "", kind)
        at = index(s, ")")
        arguments = substr(s, index(s, "(") + 1, at - index(s, "(") - 1)
        if (kind == "Unknown") continue
        how = treatment[class " " kind]
        if (how == "") {
            print "otf2_records: this OTF2 has " class " " kind ", which apps/tools/correct/" \
                  "otf2_records.txt does not name" > "/dev/stderr"
            failed = 1
            continue
        }
        n = split_arguments(arguments)
        print class == "event" ? event(kind, how, n) : definition(class, kind, how, n)
        all = all " " kind
        count[class]++
    }
    return substr(all, 2)
}

END {
    print "/* Made by otf2_records.awk from OTF2's headers and otf2_records.txt. */"
    for (f = 1; f <= n_files; f++) {
        body = without_comments(text[files[f]])
        if (files[f] ~ /EvtReader/) events = kinds_of("event", body)
        else if (files[f] ~ /GlobalDef/) definitions = kinds_of("definition", body)
        else locals = kinds_of("local", body)
    }
    if (failed || !count["event"] || !count["definition"] || !count["local"]) exit 1
    print registration("register_readers", "OTF2_EvtReaderCallbacks", events, "read_")
    print registration("register_copiers", "OTF2_EvtReaderCallbacks", events, "copy_")
    print registration("register_definitions", "OTF2_GlobalDefReaderCallbacks", definitions, "definition_")
    print registration("register_locals", "OTF2_DefReaderCallbacks", locals, "local_")
    print "enum {\n    N_EVENT_KINDS = " count["event"] ",\n    N_DEFINITION_KINDS = " \
          count["definition"] ",\n    N_LOCAL_KINDS = " count["local"] "\n};"
}
