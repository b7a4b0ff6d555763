.PHONY: baseline bench eval fuzz test dist

# eval builds mem and runs every experiment: scripted models, no network, no environment.
eval:
	go run ./cmd/mem eval experiments/*.yaml$(if $(EVALFLAGS), $(EVALFLAGS))

# baseline makes today's counts the ones that CI compares with. Read the diff it leaves.
baseline:
	go run ./cmd/mem eval experiments/*.yaml --baseline reports/baseline --update-baseline

# test runs the tests of all packages.
test:
	go test ./...

# fuzz runs each fuzz target for FUZZTIME, as in: make fuzz FUZZTIME=10m. FUZZ is a pattern of names.
# What fails is written to testdata/fuzz of its package, and is a test from then on: commit it. Without
# a bound, making interesting inputs smaller takes most of the time.
FUZZTIME ?= 1m
FUZZ     ?= .
fuzz:
	@set -e; for package in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$package/*_test.go | grep '$(FUZZ)'); do \
			echo "$$package $$target"; \
			tags=; case $$target in *Reference*) tags=-tags=reference; esac; \
			go test $$tags -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$package; \
		done; \
	done

# dist builds static binaries for every target, with checksums. The same sources, VERSION
# and Go version make the same bytes, wherever they are built.
TARGETS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
VERSION = $(or $(shell git describe --tags --always --dirty 2>/dev/null),devel)
DIST    = dist

dist:
	@mkdir -p $(DIST) && rm -f $(DIST)/mem_* $(DIST)/SHA256SUMS
	@set -e; for target in $(TARGETS); do \
		os=$${target%/*}; arch=$${target#*/}; ext=; \
		[ $$os != windows ] || ext=.exe; \
		file=mem_$(VERSION)_$${os}_$$arch$$ext; \
		echo $(DIST)/$$file; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch GOAMD64=v1 GOARM64=v8.0 GOFLAGS= \
			go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.release=$(VERSION)" \
			-o $(DIST)/$$file ./cmd/mem; \
	done
	@cd $(DIST) && if command -v sha256sum >/dev/null; then sha256sum mem_*; else shasum -a 256 mem_*; fi >SHA256SUMS

# bench measures what runs spend their time on, COUNT times, into reports/bench.txt, with the
# machine's load above. Compare: benchstat reports/bench/baseline.txt reports/bench.txt. What
# is per cpu-s or cpu-ms, and the ratios, can be trusted on a busy machine; wall time cannot.
COUNT ?= 6
BENCHED = ./prompt ./prompt/token ./loop ./loop/openai ./harness/corpus ./harness/synth ./harness ./cmd/mem
bench:
	@mkdir -p reports && uptime | sed 's/.*load/# load/' >reports/bench.txt
	go test -run '^$$' -skip 'Chunking/200MB|Cutting' -bench . -benchmem -benchtime 0.1s -count $(COUNT) \
		$(BENCHED) >>reports/bench.txt || (cat reports/bench.txt; exit 1)
	@cat reports/bench.txt
