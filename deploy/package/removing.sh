#!/bin/sh
# Before the package is removed, and not when another version takes its place. What was kept stays in /var/lib/footnote.
set -e
case "$1" in
  remove | 0)
    if [ -d /run/systemd/system ]; then
      systemctl disable --now footnote.service || true
    fi ;;
esac
