# Makes C of help-coll-clv.txt: HELP_TOPIC("name", "text") for each of its topics.
function finish() {
    if (topic != "")
        printf "HELP_TOPIC(\"%s\",\n%s)\n", topic, text
    topic = text = ""
}
/^#/ { next }
/^\[.*\]$/ { finish(); topic = substr($0, 2, length($0) - 2); next }
{
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    text = text "           \"" $0 "\\n\"\n"
}
END { finish() }
