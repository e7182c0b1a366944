#!/usr/bin/env bash
# fetch.sh FROM TO: the documents of the set clauses in the folder TO: those in FROM, which were written for it, and five
# of packages of Debian and PyPI, each by its SHA-256.
set -euo pipefail
from=$(realpath "$1"); mkdir -p "$2"; to=$(realpath "$2"); work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
cp "$from"/* "$to"/
apt-get update -qq; apt-get -qq -o APT::Sandbox::User=root download apcupsd-doc perl-doc >/dev/null
for package in *.deb; do dpkg-deb -x "$package" .; done
pip() { python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps "$@"; }
pip --only-binary :all: nvidia-cuda-runtime-cu12==12.9.79; python3 -m zipfile -e nvidia*.whl .
get() { # PROJECT ARCHIVE: a source archive of PyPI, without building anything of it
  curl -sSf "https://pypi.org/simple/$1/" | grep -o "https[^\"#]*/$2" | head -1 | xargs curl -sSf | tar xz; }
get django Django-4.2.16.tar.gz; get docassemble-lawvretainer docassemble_lawvretainer-2.0.3.tar.gz
cp usr/share/doc/apcupsd/manual/manual.html "$to"/apcupsd-ups-manual.html
cp nvidia_cuda_runtime_cu12-12.9.79.dist-info/licenses/License.txt "$to"/nvidia-cuda-eula.txt
cp Django-4.2.16/docs/internals/security.txt "$to"/django-security-policy.txt
cp docassemble*/docassemble/LAWVRetainer/data/static/lawv_retainer_sample.pdf "$to"/legal-aid-retainer-agreement.pdf
pod2html --infile="$(find usr -name perlgov.pod)" --outfile="$to"/perl-governance.html
cd "$to"; sha256sum --quiet -c <<'SUMS'
de10dad553d7e69eef76847487bccb5c08f49bd65bff39340bc36576f9a5fbec  apcupsd-ups-manual.html
ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd  nvidia-cuda-eula.txt
a3449773f528e854f699e26183f47e1d66d4e9c323e21a100f5b34e3744a1d3d  django-security-policy.txt
91e18c7d96e4293e59b789161f7789289490006a74eefd72f177154c25406e04  legal-aid-retainer-agreement.pdf
SUMS
