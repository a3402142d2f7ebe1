# Makes C of page.html: a string per line.
{
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    print "\"" $0 "\","
}
