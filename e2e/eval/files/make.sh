#!/bin/sh
# Makes one file of each kind from manuals and examples that were fetched by package name and hash: make.sh REAL FILES TARGET.
# REAL and FILES are the folders of e2e/eval/real/documents.tsv and e2e/eval/files/office.tsv. Needs pandoc, soffice and pdftoppm.
set -eu
real=$1 files=$2 target=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$target"

# office FORMAT FILE: what LibreOffice makes of the file, with a profile of its own.
office() {
  timeout 120 soffice "-env:UserInstallation=file://$scratch/profile" --headless --convert-to "$1" --outdir "$target" "$2" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; exit 1; }
}

pandoc -f html -t docx -o "$target/git-faq.docx" "$real/git-faq.html"
pandoc -t pptx -o "$target/lubridate-vignette.pptx" "$real/lubridate-vignette.md"
pandoc -f html-native_divs -t pptx -o "$scratch/datatype-numeric.pptx" "$real/postgresql-datatype-numeric.html"
office odp "$scratch/datatype-numeric.pptx"
pandoc -f html -t odt -o "$scratch/badblock-howto.odt" "$real/badblock-howto.html"
office rtf "$scratch/badblock-howto.odt"

# A scan: the first four pages as pictures, without a word of text.
pdftoppm -r 200 -gray -l 4 -png "$real/zoo-faq.pdf" "$scratch/page"
for page in "$scratch"/page-*.png; do printf '![](%s){width=16cm}\n\n' "$page"; done | pandoc -f markdown -t odt -o "$scratch/zoo-faq.odt"
office pdf "$scratch/zoo-faq.odt"

cp "$files/api-for-odfpy.odt" "$files/countrystatistics.ods" "$files/deaths.xlsx" "$files/eng.epub" "$target"
cp "$files/sample-nonspam.txt" "$target/tbtf.eml"
cp "$real/postgresql-routine-vacuuming.html" "$target/routine-vacuuming.html"

# A photograph's like: one page of a manual as a picture.
pdftoppm -jpeg -r 150 -f 13 -l 13 -singlefile "$files/backup-guide.pdf" "$target/backup-guide"
for name in spam.mbox reading_netCDF.ipynb iso_3166-1.json schema.yaml time.py issue_53_parsing_failure.ics example.vcf murders.csv; do
  cp "$files/$name" "$target"
done
