#!/bin/sh
# Makes configure and Makefile.in from their sources. Needs autoconf, automake, libtool.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux
exec autoreconf --install "$@"
