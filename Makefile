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

.PHONY: run build ahead vendor generate test check lint unit e2e clean

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

# Generated files. A test fails while one is out of date: the templates, docs/settings.md, server/openapi/source_docs.json and the
# compressed PDFium.
generate:
	$(GO) tool templ generate
	FOOTNOTE_WRITE_DOCS=1 $(GO) test ./cmd/footnote -run SettingsAreDocumented -count 1
	FOOTNOTE_WRITE_API=1 $(GO) test ./server/openapi -run SourceCommentsAreCollected -count 1
	FOOTNOTE_WRITE_PDFIUM=1 $(GO) test ./corpus/extract/pdf -run EmbeddedPDFiumMatchesLibrary -count 1

# What tests need is fetched while the code is checked, one after the other: the system's packages can't be installed side by side.
# QUICK=1 installs nothing: tests whose programs are missing are skipped.
NEEDED := postgres milvus webdav nginx caddy documents embedding tesseract soffice
test: vendor
ifdef QUICK
	$(GO) vet ./... && $(GO) test ./...
else
	@echo "make test installs what is missing of: $(NEEDED) chromium (1 GB; as root with apt-get, else into .cache). QUICK=1 installs nothing."
	@$(MAKE) --no-print-directory -j2 check needed
	@for part in unit schemathesis-sample e2e; do $(MAKE) --no-print-directory $$part || exit 1; done
endif

check:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt'd: $$unformatted"; exit 1; fi
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) vet -tags $(TAGS),eino ./cmd/footnote/...
	$(GO) tool templ generate && git diff --exit-code -- '*_templ.go'
	@# A method that is looked up by name makes the linker keep every method of every type (docs/decisions/build.md).
	@mkdir -p .cache; ! $(GO) build -ldflags=-dumpdep -o .cache/linked ./cmd/footnote 2>&1 | grep -m 3 ' <ReflectMethod>'; rm -f .cache/linked
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

clean:
	rm -rf bin static/vendor node_modules

include e2e/install.mk e2e/programs.mk e2e/eval/eval.mk deploy/release/release.mk
