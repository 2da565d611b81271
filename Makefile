# Every command does its own set-up: see .ci/setup for what it installs, and when.
.PHONY: help setup build test check lint house demo install feeds check-feeds consumer interop bench race prove-export prove-feeds fuzz tsan asan docs clean

LIBRARIES := libcurl4-openssl-dev libxml2-dev zlib1g-dev libssl-dev libsqlite3-dev libpq-dev
STRICT    := --explicit-target-dependency-import-check error
# All tests at once starve each other of threads on a small machine, and time runs out for some.
GENTLY    := --disable-xctest --experimental-maximum-parallelization-width 4
TSAN      := --scratch-path .build-tsan --sanitize=thread
ASAN      := --scratch-path .build-asan --sanitize=address

help: ## show this list
	@echo "Quire: async pagination for Swift. Targets:"
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## install the system libraries that are missing (apt)
	@.ci/setup $(LIBRARIES)

build: setup ## build everything, debug
	swift build $(STRICT)

test: setup ## build and run all tests, the examples among them
	swift build --build-tests $(STRICT)
	swift test --skip-build $(GENTLY)

check: lint house test docs ## all that a change must pass: lint, house, strict build, tests, examples, README commands, docs

lint: ## check the format and style of all Swift and shell sources
	swift format lint --strict --recursive Sources Tests Examples Package.swift
	@for script in .ci/*; do bash -n "$$script"; done

house: ## count the house: sizes, names, promises
	@.ci/setup python3 && Tests/house

demo: setup ## the main job: drain the demo API in every pagination style
	@"$$(.ci/release quire)" demo --tour && echo "The tool is .build/release/quire."

install: setup ## install the tool, its manual page and completions; PREFIX=/usr/local
	@.ci/install "$(PREFIX)"

feeds: setup ## serve fifty feeds of a loopback origin as a page to read
	swift run --package-path Examples/FeedServer FeedServer

check-feeds: setup ## read the page of the fifty feeds as a program, and as a person in headless Chromium
	Examples/FeedServer/test

consumer: setup ## build a package that depends on this one, from nothing
	Tests/Consumer/run

interop: setup ## drain real servers (Datasette, Django, AWS, OAI-PMH, SCIM, …) and compare with their data; feeds with feedparser
	Tests/Interop/run

bench: setup ## measure speed and memory against the bars; ROWS="idle reports" only these
	Tests/Benchmarks/run $(ROWS)

race: setup ## race C, Rust, Go, AsyncHTTPClient, Python and jq; ROWS="typed start" only these, ROUNDS=5 times
	Tests/Race/run $(ROWS)

prove-export: setup ## kill exports at every call and at KILLS (10,000) moments, and lose power; ROWS="calls" only these
	Tests/Exporting/prove $(ROWS)

prove-feeds: setup ## poll 10,000 feeds, kill the aggregator, compare with feedparser; ROWS as for bench
	Tests/Feeding/prove $(ROWS)

fuzz: setup ## try RUNS (100,000) pages on each decoder, with libFuzzer and AddressSanitizer
	Tests/Fuzzing/run

tsan: setup ## run the tests under ThreadSanitizer
	swift build --build-tests $(TSAN)
	TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/thread-sanitizer.txt" swift test --skip-build $(GENTLY) $(TSAN)

asan: setup ## run the tests under AddressSanitizer
	swift build --build-tests $(ASAN)
	ASAN_OPTIONS="suppressions=$(CURDIR)/Tests/address-sanitizer.txt:detect_leaks=0:quarantine_size_mb=16" \
		swift test --skip-build $(GENTLY) $(ASAN)

docs: setup ## write the documentation to .build/docs
	.ci/docs

clean: ## remove everything that was built
	rm -rf .build .build-* Examples/*/.build Tests/*/.build Tests/Interop/.venv-interop
