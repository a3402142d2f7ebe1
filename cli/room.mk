# cli: what every program shares: one way of options, one dialect of JSON, files read whole, output that arrived. A library of its own, since
# programs need it and the component does not.
clv_cli_headers = cli/cli_options.h cli/cli_json.h cli/cli_file.h cli/cli_output.h
clv_cli_sources = cli/cli_options.c cli/cli_json.c cli/cli_file.c cli/cli_output.c

unit_tests += tests/unit/test_cli
script_tests += tests/unit/test_command_lines.sh
