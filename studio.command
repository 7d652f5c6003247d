#!/usr/bin/env bash
# A double click in macOS' Finder starts the studio with this.
cd "$(dirname "$0")" || exit 1
./studio "$@" && exit
echo
echo "Press Return to close this window."
read -r _
