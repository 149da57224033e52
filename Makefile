# build: both programs into bin/.   test: all tests.   check: what CI runs.
# bench: the benchmarks whose figures the documentation quotes.
GO ?= go
PACKAGES = ./...

.PHONY: build test check lint bench busy matrix causes tools

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

# The score runs millions of requests in coroutines, of which the race detector
# keeps so much that the memory runs out; the server that it asks is tested under it.
SCORE = ./cmd/hammer/score
check: lint
	@$(MAKE) --no-print-directory test TESTFLAGS="-race -timeout 20m" PACKAGES="$$($(GO) list ./... | grep -v /cmd/hammer/score$$ | tr '\n' ' ')"
	@$(MAKE) --no-print-directory test TESTFLAGS="-timeout 20m" PACKAGES=$(SCORE)

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

# Each fault of a bucket, each contract under its neighbour's, and each right
# algorithm under its own, on so many seeds.
SEEDS ?= 100
matrix:
	HAMMER_SEEDS=$(SEEDS) $(GO) test -count=1 -timeout 300m -v -run 'TestMutantsAreCaught|TestNeighboursAreBroken|TestRightAlgorithmsAreNeverAccused' ./assertions

bench:
	$(GO) test -run '^$$' -bench . -benchtime 5x $(PACKAGES)
