#!/bin/sh
# After the package was installed: the user that the service runs as, and its directory. Nothing is started.
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
  systemd-sysusers footnote.conf || true
fi
if ! getent passwd footnote >/dev/null 2>&1 && command -v useradd >/dev/null 2>&1; then
  useradd --system --user-group --home-dir /var/lib/footnote --no-create-home --shell /usr/sbin/nologin footnote
fi
mkdir -p /var/lib/footnote
if getent passwd footnote >/dev/null 2>&1; then
  chown footnote:footnote /var/lib/footnote
fi
chmod 0700 /var/lib/footnote
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
  # a service that runs already goes on with the new program
  systemctl try-restart footnote.service || true
fi
