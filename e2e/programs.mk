# Long tests, benchmarks and attacks. make test does a sample of most.
.PHONY: test-watch trial-places test-clients test-arm64 bench-embed bench-milvus test-caddy upgrade-test check-deploy bench bench-profile bench-scale recall bench-replicas quotes faults hostile fuzz film schemathesis schemathesis-sample audit

# A watched folder of 10,000 files, 1,000 changes, and kills in between.
test-watch:
	FOOTNOTE_WATCH_FILES=10000 $(GO) test ./cmd/footnote -run KilledWatchLosesNothing -count 1 -timeout 60m -v

# A place of 10,000 files on a real WebDAV server, 1,000 changes, kills in between, and a server that lies and fails in all ways. Prints how
# long each step takes and what it asks for; TRIAL is another number of files.
TRIAL ?= 10000
trial-places: webdav
	ulimit -v 16000000; FOOTNOTE_TRIAL_FILES=$(TRIAL) $(GO) test ./cmd/footnote -run SourceSurvivesCrashesAndFaults -count 1 -timeout 60m -v

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
	    -skip TruncatedWeights -count 1 -timeout 30m ./corpus/embed/bert/...; done

# How much longer a question takes while a server makes vectors on all processors: docs/performance.md.
bench-embed: build embedding
	FOOTNOTE_EMBEDDING_DIR=$(CURDIR)/$(EMBEDDING) $(GO) run ./e2e/bench -only embedding

bench-milvus: milvus
	$(GO) test ./corpus/milvus -run '^$$' -bench . -benchtime 1x -timeout 10m

# The tests behind Caddy again, with the newest one built from its source (some minutes).
test-caddy:
	GOBIN=$(CURDIR)/.cache/caddy $(GO) install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9
	FOOTNOTE_TEST_CADDY=$(CURDIR)/.cache/caddy/caddy $(GO) test ./cmd/footnote -run StreamPassesProxy/Caddy -count 1 -v

# Builds the last version that knows a step of the schema less, from this repository's history, and runs it beside this one.
upgrade-test: postgres
	$(GO) test ./cmd/footnote -tags upgrade,$(TAGS) -run OlderVersion -count 1 -v -timeout 15m

# Holds compose.yaml and deploy/kubernetes to the types that Compose and Kubernetes read them with. They are in a module of their own.
check-deploy:
	cd deploy/check && $(GO) vet . && $(GO) test .

bench: build
	$(GO) run ./e2e/bench

# Statements and allocations of a run, and profiles of the server: go tool pprof bin/footnote-profile .cache/cpu.prof
bench-profile: vendor
	$(GO) build -tags "$(TAGS),profile" -o bin/footnote-profile ./cmd/footnote
	TMPDIR=/dev/shm $(GO) run ./e2e/bench -only profile -binary bin/footnote-profile -cpuprofile .cache/cpu.prof -memprofile .cache/mem.prof

# What docs/scale.md shows: one library in the embedded mode, then on a real PostgreSQL and a real Milvus, in two sizes. At most 30 minutes.
# One process alone, to a million: make bench-scale PASSAGES=10000,100000,1000000  SHAPES=embedded
PASSAGES ?= 10000,100000
bench-scale: build postgres milvus
	timeout -s INT 30m $(GO) run ./e2e/bench -only scale -passages $(PASSAGES) $(if $(SHAPES),-shapes $(SHAPES))

# What docs/scale.md says of a search by meaning: how much of what is nearest it finds, with the real model. Seven minutes.
recall: embedding
	FOOTNOTE_EMBEDDING_DIR=$(CURDIR)/$(EMBEDDING) $(GO) run ./e2e/bench -only recall

# Three replicas beside one, on a PostgreSQL that it starts, and the search of words beside the embedded mode's.
bench-replicas: build postgres
	TMPDIR=/dev/shm $(GO) run ./e2e/bench -only replicas,words

# What the offline mode quotes is never said to have no source: all requests over all documents here, instead of the part that "make test"
# asks. The documents of eval-real are among them once it has fetched them.
quotes: documents
	FOOTNOTE_TEST_QUOTES=all $(GO) test ./cmd/footnote -run QuotesAlwaysHaveSource -count 1 -timeout 60m -v

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
	@node e2e/audit.mjs $(GOVULNCHECK) $(TAGS),eino

$(GOVULNCHECK):
	@echo "building govulncheck"; mkdir -p .cache/bin && GOBIN=$(CURDIR)/.cache/bin GOFLAGS= $(GO) install golang.org/x/vuln/cmd/govulncheck@v$(lastword $(subst -, ,$@)) && mv .cache/bin/govulncheck $@
