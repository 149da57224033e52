# build: both programs into bin/.   test: all tests.   check: what CI runs.
# bench: the benchmarks whose figures the documentation quotes.
GO ?= go
PACKAGES = ./...

.PHONY: build test check lint bench bench-peers faults busy matrix brute speed score causes large cost tools

build:
	$(GO) build -o bin/ ./cmd/hammer ./cmd/target

# On Debian as root what the tests need is installed; elsewhere the tests that
# had to be left out are listed at the end, and with CI=true one that is left
# out is a failure.
test: tools
	@left=$$(mktemp); \
	HAMMER_LEFT_OUT=$$left $(GO) test $(TESTFLAGS) $(PACKAGES); status=$$?; \
	if [ -s $$left ]; then echo; echo "Left out:"; sort -u $$left | sed 's/^/  /'; fi; \
	rm -f $$left; exit $$status

tools:
	@if [ -f /etc/debian_version ] && [ "$$(id -u)" = 0 ]; then \
	  missing=; \
	  [ -x /usr/sbin/nginx ] || missing="$$missing nginx-light"; \
	  command -v node >/dev/null || missing="$$missing nodejs"; \
	  command -v redis-server >/dev/null || missing="$$missing redis-server"; \
	  [ -n "$$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null)" ] || missing="$$missing faketime"; \
	  command -v python3 >/dev/null || missing="$$missing python3-minimal"; \
	  command -v curl >/dev/null || missing="$$missing curl"; \
	  command -v chromium-headless-shell >/dev/null || missing="$$missing chromium-headless-shell"; \
	  command -v xmllint >/dev/null || missing="$$missing libxml2-utils"; \
	  if [ -n "$$missing" ]; then \
	    echo "installing$$missing"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	  fi; \
	fi

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not gofmt'ed:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet $(PACKAGES)
	$(GO) tool staticcheck $(PACKAGES)
	GOOS=windows $(GO) vet $(PACKAGES)
	GOOS=darwin $(GO) vet $(PACKAGES)

# Two packages are tested without the race detector. The judge starts no goroutine,
# neither do its tests, and it takes five times as long under it. The score runs
# millions of requests in coroutines, of which the detector keeps so much that the
# memory runs out; the server that it asks is tested under it.
UNRACED = ./assertions ./cmd/hammer/score
check: lint
	@$(MAKE) --no-print-directory tools
	@$(MAKE) --no-print-directory test TESTFLAGS="-timeout 40m" PACKAGES="$(UNRACED)" & unraced=$$!; \
	$(MAKE) --no-print-directory test TESTFLAGS="-race -timeout 40m" PACKAGES="$$($(GO) list ./... | grep -v -e /assertions$$ -e /cmd/hammer/score$$ | tr '\n' ' ')"; raced=$$?; \
	wait $$unraced && exit $$raced

# The clean reference server is checked 50 times while all cores are kept busy:
# how many runs were kept, inconclusive and (never) broken.
busy:
	HAMMER_BUSY_RUNS=50 $(GO) test -count=1 -timeout 30m -v -run TestCleanUnderLoad ./cmd/hammer

# The cause of a breach is looked for, with what is fired after it, on 100 limiters of each kind, at two
# distances: how often the right one is named; then CAUSES of each kind under each promise.
CAUSES ?= 10
causes:
	HAMMER_CAUSES=100 $(GO) test -count=1 -timeout 60m -v -run TestCausesAreNamed ./assertions
	HAMMER_CAUSES=$(CAUSES) $(GO) test -count=1 -timeout 300m -v -run TestCausesByPromise ./assertions

# A record of 5,000,000 requests is written and judged, and 20 runs are killed at random
# moments: the memory that each takes, and what is left.
large:
	HAMMER_LARGE=5000000 HAMMER_KILLS=20 $(GO) test -count=1 -timeout 30m -v -run 'TestLargeRun|TestKilledRuns' ./cmd/hammer

# What the recorder, the live view and --prometheus cost beside firing alone, in turns: medians.
COST ?= 5
cost:
	HAMMER_COST=$(COST) $(GO) test -count=1 -timeout 30m -v -run TestWhatWatchingCosts ./cmd/hammer

# Each fault of a bucket, each contract under its neighbour's, and each right
# algorithm under its own, on so many seeds.
SEEDS ?= 100
matrix:
	HAMMER_SEEDS=$(SEEDS) $(GO) test -count=1 -timeout 300m -v -run 'TestMutantsAreCaught|TestNeighboursAreBroken|TestRightAlgorithmsAreNeverAccused' ./assertions

# Each model against brute force, and the exact stage against all orders and
# against porcupine, on so many histories.
HISTORIES ?= 100000
brute:
	HAMMER_HISTORIES=$(HISTORIES) $(GO) test -count=1 -timeout 120m -v -run 'BruteForce|Porcupine|AccuseWrongly|AccusesWrongly|EveryPossiblePhase|APossibleHistory|EveryDrift|WhateverOverlaps' ./assertions

# What judging costs beside sorting; it takes a machine with nothing else to do.
speed:
	HAMMER_SPEED=1 $(GO) test -count=1 -v -run TestJudgingCosts ./assertions

# The table of docs/score.md on as many seeds: hours on two cores.
RIGHT ?= 1000
score:
	$(GO) run ./cmd/hammer score --seeds $(SEEDS) --right $(RIGHT)

bench:
	$(GO) test -run '^$$' -bench . -benchtime 5x $(PACKAGES)

# hammer's generator beside wrk and vegeta, in turns, on one machine: what a request
# costs, how even a rate is, how close together a volley. On Debian as root wrk is
# installed; vegeta goes into a folder of its own and not into go.mod.
ROUNDS ?= 5
bench-peers:
	@if ! command -v wrk >/dev/null && [ -f /etc/debian_version ] && [ "$$(id -u)" = 0 ]; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends wrk >/dev/null; \
	fi; \
	dir=$$(mktemp -d) && trap 'rm -rf $$dir' EXIT && \
	GOBIN=$$dir $(GO) install github.com/tsenart/vegeta/v12@v12.13.0 && \
	$(GO) build -o $$dir/bench ./bench && \
	PATH=$$PATH:$$dir $$dir/bench -rounds $(ROUNDS)

# 1,000 runs at servers that reset, hang, cut off and half close: each planned shot is
# accounted for; and a million requests of which each decision lies between its stamps.
RUNS ?= 1000
TRUTH ?= 1000000
faults:
	HAMMER_RUNS=$(RUNS) $(GO) test -count=1 -timeout 120m -run TestEveryShotIsAccountedFor ./probes
	HAMMER_TRUTH=$(TRUTH) $(GO) test -count=1 -timeout 120m -v -run TestStampsEncloseTheTruth ./probes
