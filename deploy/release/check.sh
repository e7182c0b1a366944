#!/usr/bin/env bash
# Checks what make release left in dist/, as far as one Linux machine can: check.sh VERSION. Everything that can be
# started is started; the rest is unpacked and read. Then the same is built again elsewhere and compared.
set -euo pipefail
version=$1 dist=$PWD/dist root=$PWD
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
passed() { echo "✓ $*"; }
skipped() { echo "- $*"; }
failed() { echo "✕ $*" >&2; exit 1; }

# says NAME COMMAND...: the command is footnote, of this version.
says() {
  local name=$1; shift
  [ "$("$@" --version)" = "v$version" ] || failed "$name is not v$version"
  passed "$name is v$version"
}

# serves NAME COMMAND...: the command is footnote; it serves a page and its health on loopback.
serves() {
  local name=$1 url='' pid; shift
  : > "$tmp/said"
  env FOOTNOTE_ADDR=127.0.0.1:0 ${DATA:+FOOTNOTE_DATA=$DATA} "$@" serve > "$tmp/said" 2> "$tmp/log" & pid=$!
  for _ in $(seq 300); do
    url=$(grep -o 'http://[^ ]*' "$tmp/said" | head -n 1 || true)
    [ -n "$url" ] && break; kill -0 $pid || failed "$name ended: $(cat "$tmp/log")"; sleep 0.1
  done
  curl -sSf --max-time 60 "$url/health" | grep -q "\"version\":\"v$version\"" || failed "$name: /health does not name v$version"
  curl -sSf --max-time 60 -H 'Accept: text/html' "$url/" | grep -q "data-testid=\"build\">v$version" || failed "$name: the page does not name v$version"
  kill $pid; wait $pid || failed "$name ended with $?"
  passed "$name serves"
}

(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
passed "SHA256SUMS, $(wc -l < "$dist/SHA256SUMS") files"

for archive in "$dist"/footnote_*.tar.gz "$dist"/footnote_*.zip; do
  name=$(basename "$archive"); name=${name%.tar.gz}; name=${name%.zip}; to=$tmp/$name
  mkdir "$to"
  case $archive in *.zip) python3 -m zipfile -e "$archive" "$to" ;; *) tar -xzf "$archive" -C "$to" ;; esac
  program=$to/footnote; [ -e "$program" ] || program=$program.exe
  for file in "$program" "$to"/{LICENSE,README.md,CHANGELOG.md,THIRD-PARTY-NOTICES.txt}; do [ -s "$file" ] || failed "$name has no $file"; done
  IFS=_ read -r system processor <<< "${name#footnote_"$version"_}"
  go version -m "$program" | grep -qE "GOOS=$system" && go version -m "$program" | grep -qE "GOARCH=$processor" || failed "$name holds another program"
  python3 -c 'import json,sys; b=json.load(open(sys.argv[1])); assert b["bomFormat"]=="CycloneDX" and len(b["components"])>80' "$dist/$name.cdx.json"
done
passed "six archives with their papers and bills of materials"

amd64=$tmp/footnote_${version}_linux_amd64 arm64=$tmp/footnote_${version}_linux_arm64
says "linux/amd64" "$amd64/footnote"
DATA=$tmp/data serves "linux/amd64" "$amd64/footnote"
tar -xzf "$dist/all-MiniLM-L6-v2.tar.gz" -C "$amd64"
(cd "$tmp" && "$amd64/footnote" doctor --data "$tmp/data") | grep -q 'all-MiniLM-L6-v2@.* works in this process' || failed "the model beside the program is not found"
passed "the model beside it is found"
if command -v qemu-aarch64 > /dev/null; then
  says "linux/arm64, emulated," qemu-aarch64 "$arm64/footnote"
  DATA=$tmp/data-arm64 serves "linux/arm64, emulated," qemu-aarch64 "$arm64/footnote"
else skipped "linux/arm64: no qemu-aarch64 (apt-get install qemu-user)"; fi

if command -v dpkg-deb > /dev/null; then . deploy/release/check-packages.sh; else skipped ".deb and .rpm: no dpkg-deb"; fi

mkdir "$tmp/npm" "$tmp/home"
npm_at() { env HOME="$tmp/home" npm_config_registry=http://127.0.0.1:9 npm_config_fetch_retries=0 npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false "$@"; }
(cd "$tmp/npm" && npm_at npm install --silent "$dist/npm/footnote-$version.tgz" "$dist/npm/footnote-linux-x64-$version.tgz" > /dev/null)
cd "$tmp/npm"
says "npx" npm_at npx --no-install footnote
DATA=$tmp/data-npm serves "npm's launcher" "$tmp/npm/node_modules/.bin/footnote"
cd "$root"
for package in "$dist"/npm/*.tgz; do npm_at npm pack --dry-run --silent "$package" > /dev/null || failed "npm does not read $package"; done
passed "npm reads $(ls "$dist"/npm/*.tgz | wc -l) packages"

python3 -m venv "$tmp/venv"
wheel=$(ls "$dist"/pypi/*manylinux*x86_64*.whl)
"$tmp/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
says "pip's" "$tmp/venv/bin/footnote"
if "$tmp/venv/bin/pip" install --quiet --disable-pip-version-check uv; then
  says "uvx" env HOME="$tmp/home" "$tmp/venv/bin/uvx" --offline --from "$wheel" footnote
else skipped "uvx: uv can't be fetched"; fi

ruby -c "$dist/homebrew/Formula/footnote.rb" > /dev/null 2>&1 && passed "Homebrew's formula is Ruby" || skipped "Homebrew's formula: no ruby"
python3 -m json.tool "$dist"/scoop/footnote.json > /dev/null
passed "Scoop's manifest is JSON"

# The same bytes twice: everything again, in another folder and with nothing compiled before for two of the six.
git worktree add --quiet --detach "$tmp/again" HEAD
trap 'git worktree remove --force "$tmp/again" || true; chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
ln -s "$root/node_modules" "$tmp/again/node_modules"
cp -r static/vendor "$tmp/again/static/vendor"
for target in ${AGAIN-linux/amd64 windows/arm64}; do # AGAIN= leaves this out, the longest part
  system=${target%/*} processor=${target#*/} program=footnote; [ "$system" = windows ] && program=footnote.exe
  (cd "$tmp/again" && GOCACHE=$tmp/gocache GOOS=$system GOARCH=$processor go build -trimpath -o "$tmp/twice" -ldflags "-s -w -X main.version=v$version -X main.commit=$COMMIT -X main.date=$DATE -X main.repository=$REPOSITORY" ./cmd/footnote)
  cmp "$tmp/twice" "$tmp/footnote_${version}_${system}_$processor/$program"
  passed "$target built from nothing in another folder is the same"
done
cp -r "$dist" "$tmp/first"
make --no-print-directory release > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
diff -rq -x artifacts.json -x metadata.json -x config.yaml "$dist" "$tmp/first"
passed "archives, packages, bills, manifests and checksums made twice are the same"
