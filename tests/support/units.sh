# For scripts that run the unit tests alone, with $top: in $unit_tests, for ./clv test, the folders of tests that
# modules have: those with a build list, and apps.
unit_tests="tests/($(cd "$top" && printf '%s\n' */module.mk | sed 's|/.*||' | paste -sd'|')|apps)/"
