# cli: what every program shares: one way of options, one dialect of JSON, files read whole, output that arrived. A library of its own, since
# programs need it and the component does not.
clv_cli_headers = apps/cli/cli_options.h apps/cli/cli_json.h apps/cli/cli_file.h
clv_cli_sources = apps/cli/cli_options.c apps/cli/cli_json.c apps/cli/cli_file.c

unit_tests += tests/apps/test_cli
script_tests += tests/apps/test_command_lines.sh
