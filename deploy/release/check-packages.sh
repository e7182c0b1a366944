# A part of check.sh: installs the .deb in an empty Debian, and reads the .rpm. It needs root and debootstrap.
deb=$(ls "$dist"/footnote_*_amd64.deb) rpm=$(ls "$dist"/footnote-*.x86_64.rpm)
mkdir "$tmp/deb"
dpkg-deb -x "$deb" "$tmp/deb"
for file in usr/bin/footnote usr/lib/systemd/system/footnote.service etc/footnote/footnote.env usr/share/doc/footnote/copyright; do
  [ -s "$tmp/deb/$file" ] || failed "the .deb has no $file"; done
if [ "$(id -u)" = 0 ] && command -v debootstrap > /dev/null; then
  [ -e .cache/debian.tar ] || { debootstrap --variant=minbase bookworm "$tmp/debian" > /dev/null && tar -C "$tmp/debian" --exclude=./dev -cf .cache/debian.tar .; rm -rf "$tmp/debian"; }
  mkdir "$tmp/debian" && tar -C "$tmp/debian" -xf .cache/debian.tar
  inside() { chroot "$tmp/debian" "$@"; }
  mkdir -p "$tmp/debian/dev"; mknod -m 666 "$tmp/debian/dev/null" c 1 3; mknod -m 666 "$tmp/debian/dev/urandom" c 1 9
  cp "$deb" "$tmp/debian/footnote.deb"
  inside dpkg -i /footnote.deb > "$tmp/log" 2>&1 || failed ".deb: $(cat "$tmp/log")"
  [ "$(inside stat -c '%U %a' /var/lib/footnote)" = 'footnote 700' ] || failed ".deb: /var/lib/footnote is not the user's"
  [ "$(inside find / -xdev -newer /footnote.deb -user footnote -type f | wc -l)" = 0 ] || failed ".deb: something ran"
  says ".deb" inside /usr/bin/footnote
  DATA=/var/lib/footnote serves ".deb, as its own user," unshare --mount sh -c 'mount --rbind /proc "$0/proc" && exec chroot --userspec=footnote:footnote "$0" /usr/bin/footnote "$@"' "$tmp/debian"
  inside dpkg -r footnote > /dev/null 2>&1 && [ -d "$tmp/debian/var/lib/footnote" ] && ! [ -e "$tmp/debian/usr/bin/footnote" ] || failed ".deb: removing"
  passed ".deb is installed and removed, and what was kept stays"
else
  says ".deb" chroot "$tmp/deb" /usr/bin/footnote
  skipped ".deb in a Debian: needs root and debootstrap"
fi
if command -v rpm > /dev/null; then
  mkdir "$tmp/rpm"
  rpm --root "$tmp/rpm" --initdb
  rpm --root "$tmp/rpm" --nodeps --noscripts --ignorearch -i "$rpm"
  says ".rpm" chroot "$tmp/rpm" /usr/bin/footnote
else skipped ".rpm: no rpm (apt-get install rpm)"; fi
if command -v systemd-analyze > /dev/null; then
  cp "$amd64/footnote" "$tmp/footnote-unit"
  sed "s|/usr/bin/footnote|$tmp/footnote-unit|" deploy/package/footnote.service > "$tmp/footnote.service"
  systemd-analyze verify "$tmp/footnote.service" && passed "systemd's unit"
else skipped "systemd's unit: no systemd-analyze"; fi
