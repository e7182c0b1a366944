# Releases: make release, make release-check.
.PHONY: rename release release-check vet-others

# Releases, in dist/: programs, archives, packages, checksums and bills of materials for six platforms. Nothing is published.
# A commit with a tag is built as that version. All times are the commit's, and so are the bytes: make release-check.
RELEASE_VERSION = $(patsubst v%,%,$(or $(shell git describe --tags --exact-match 2>/dev/null),v0.0.0-dev.g$(shell git rev-parse --short=8 HEAD)))
IMAGE ?= $(subst github.com,ghcr.io,$(REPOSITORY))
GORELEASER := .cache/bin/goreleaser-2.12.0
BILLS := .cache/bin/cyclonedx-gomod-1.10.0
NO_DOCKER = $(shell docker info >/dev/null 2>&1 || echo $(comma)docker)
RELEASE_ENV = PATH="$(CURDIR)/.cache/bin:$(CURDIR)/deploy/release:$$PATH" MODEL=$(CURDIR)/$(EMBEDDING) REPOSITORY=$(REPOSITORY) IMAGE=$(IMAGE) \
  HOST=$(firstword $(subst /, ,$(REPOSITORY))) OWNER=$(word 2,$(subst /, ,$(REPOSITORY))) PLAIN_VERSION=$(RELEASE_VERSION) DATE=$(DATE) COMMIT=$(COMMIT) SOURCE_DATE_EPOCH=$(shell git log -1 --format=%ct) GOGC=400
release: vendor embedding $(GORELEASER) $(BILLS)
	@if [ -n "$(NO_DOCKER)" ]; then echo "no Docker answers here: the container image is left out"; fi
	$(RELEASE_ENV) $(GORELEASER) release --snapshot --clean --parallelism=1 --skip=publish$(NO_DOCKER)
	$(RELEASE_ENV) pack.py packages dist $(RELEASE_VERSION) $(REPOSITORY)
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

$(GORELEASER): PROGRAM = github.com/goreleaser/goreleaser/v2
$(BILLS): PROGRAM = github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
$(GORELEASER) $(BILLS):
	@echo "building $(PROGRAM)"; mkdir -p .cache/bin && GOBIN=$(CURDIR)/.cache/bin GOFLAGS= GOGC=400 $(GO) install $(PROGRAM)@v$(lastword $(subst -, ,$@)) && \
	  mv $$(echo $@ | sed 's/-[0-9.]*$$//') $@

# Gives the module the path that it is published at, which releases take from go.mod: make rename TO=github.com/you/footnote
rename:
	@[ -n "$(TO)" ] || { echo "say TO=github.com/you/footnote"; exit 1; }
	git grep -lF '$(MODULE)' -- '*.go' '*.templ' '*go.mod' | xargs sed -i 's|$(MODULE)|$(TO)|g'
	gofmt -w $$(git ls-files '*.go')
