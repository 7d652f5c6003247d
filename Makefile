# The few commands a person needs. Everything is set up on the way: `make test` works in a fresh clone.
.DEFAULT_GOAL := build
.PHONY: setup configure build build-all web studio demo test test-asan test-fuzz test-peers test-install \
        test-hostile test-web test-slow lint format bench bench-web install build-times clean help
SHELL := bash
PRESET ?= cpu
BUILD := build/$(PRESET)
UBIQUE := $(BUILD)/bin/ubique
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
TIMED := tools/timed

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup:  ## install what is missing (system packages, LibTorch into .deps)
	@$(TIMED) set-up tools/setup

configure: setup
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET)

build: configure  ## the program, the library and the plug-ins
	@$(TIMED) build cmake --build $(BUILD) -j $(JOBS) --target program

build-all: configure  ## tests and benchmarks too
	@$(TIMED) build-all cmake --build $(BUILD) -j $(JOBS)

build-times:  ## seconds of compiler time per room, from the last build
	@tools/build_times $(BUILD)

web:  ## the pages that run models in a browser (fetches Node's packages)
	@$(TIMED) set-up-web tools/setup --web
	@$(TIMED) build-web tools/npm run --silent build

studio: configure  ## the program with the studio's pages in it; ./studio starts it
	@$(TIMED) set-up-pages tools/setup --pages
	@$(TIMED) build-pages tools/npm run --silent build:studio
	@$(TIMED) build cmake --build $(BUILD) -j $(JOBS) --target program

demo: build  ## what this machine can do; then heads, a network trained on them, one segmented
	$(UBIQUE) info
	$(UBIQUE) plan meshnet --on m3-max-36g,rtx4090,h200
	$(UBIQUE) demo meshnet -o build/demo/meshnet

lint: setup  ## format, layers, scripts, lengths, clang-tidy on changed files
	@$(TIMED) lint tools/lint

test: lint build-all test-asan test-fuzz test-install test-web  ## everything that needs no GPU
	@$(TIMED) tests ctest --test-dir $(BUILD) -j 2 --output-on-failure

test-asan: setup  ## base, io and data under AddressSanitizer and UBSan
	@$(TIMED) build-sanitize tools/sanitize
	@$(TIMED) tests-asan ctest --test-dir build/sanitize --output-on-failure

test-fuzz: setup  ## every reader fuzzed: the same inputs, or FUZZ_SECONDS of new ones
	@$(TIMED) build-sanitize tools/sanitize
	@$(TIMED) fuzz tools/fuzz $(FUZZ_SECONDS)

test-hostile: build-all  ## whole commands on HOSTILE_INPUTS (20,000) damaged and lying files
	@$(TIMED) hostile python3 tests/hostile/hostile.py $(BUILD)/bin/hostile_worker $(UBIQUE) $(BUILD)/hostile \
	  --inputs $(or $(HOSTILE_INPUTS),20000) --seed $(or $(HOSTILE_SEED),2)

test-install: build  ## the installed tree, moved away, used by a consumer project
	@$(TIMED) install-test tools/test_install $(BUILD)

test-web: build web  ## the pages in Chromium, against the program
	@$(TIMED) pack-pages cmake --build $(BUILD) -j $(JOBS) --target program
	@$(TIMED) tests-web tools/test_web $(BUILD)
	@$(TIMED) launcher python3 tests/tools/whole_launcher.py

test-peers: build-all  ## against PyTorch itself (fetches it)
	@$(TIMED) set-up-peers tools/setup --peers
	@$(TIMED) tests-peers tools/test_peers $(BUILD)

test-slow: build  ## whole learning tests, longer fuzzing
	@$(TIMED) learning python3 tests/cli/transcript.py $(UBIQUE) . tests/cli/slow/msinet_learns.txt
	@$(TIMED) learning-sudoku python3 tests/cli/transcript.py $(UBIQUE) . tests/cli/slow/trm_learns.txt
	@UBIQUE_TEST_KILLS=50 $(TIMED) killed-ranks python3 tests/cli/ranks/kills_test.py $(UBIQUE)
	@$(TIMED) ranks-crowd python3 tests/cli/ranks/crowd_test.py $(UBIQUE) 64 5
	@$(TIMED) build-sanitize tools/sanitize
	@$(TIMED) fuzz tools/fuzz $(or $(FUZZ_SECONDS),600)

bench: build-all  ## timings beside their peers, as ratios
	@tools/setup --peers
	@bench/run $(BUILD)

bench-web: build web  ## the browser's engines beside BrainChop's way
	@tools/test_web $(BUILD) --bench

format: setup  ## rewrite sources in the house format
	@tools/lint --fix

install: build  ## install into PREFIX (default /usr/local)
	cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:  ## remove builds; .deps stays
	rm -rf build
