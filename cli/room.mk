# cli: what every program shares: one way of options, one dialect of JSON. A library of its own, since
# programs need it and the component does not.
clv_cli_headers = cli/cli_options.h cli/cli_json.h
clv_cli_sources = cli/cli_options.c cli/cli_json.c

unit_tests += tests/unit/test_cli
script_tests += tests/unit/test_command_lines.sh
