# `make help` lists the targets. CUDA=0 builds without kernels, CUDA=1 insists on them and fetches the toolkit when there
# is none; unset, kernels are built if nvcc is found.

CARGO ?= cargo
# One profile and one feature set for all dependencies: the storage-proofs stack is built once for tests, demo and tool.
CARGO_FLAGS := --release --locked
CUDA_TOOLKIT := $(CURDIR)/.cuda
CUZK_TEST_DIR ?=

ifeq ($(CUDA),1)
ifeq ($(or $(NVCC),$(CUDA_HOME),$(shell command -v nvcc 2>/dev/null)),)
export CUDA_HOME := $(CUDA_TOOLKIT)/toolkit
TOOLKIT := $(CUDA_HOME)/bin/nvcc
endif
endif
export CUDA

.PHONY: all demo test test-go test-link check header archive archive-testing bench gpu-bundle golden fuzz clean help toolchain

all: toolchain $(TOOLKIT) ## build the library and the tools (default)
	$(CARGO) build $(CARGO_FLAGS)

demo: all archive ## prove all kinds at 2 KiB from Go, and have them verified by filecoin-proofs
	scripts/demo.sh

test: toolchain ## all tests that need no GPU
	$(CARGO) test $(CARGO_FLAGS) --workspace --features testing
	$(MAKE) test-go

test-go: archive-testing ## Go's tests, on echo engines; with the demo's files also real proofs
	cd go && CUZK_TEST_DIR=$(CUZK_TEST_DIR) go test -tags cuzk_testing ./...

test-link: archive archive-testing ## how the archive is linked and what it does to its host; needs `make demo` before
	scripts/link-matrix.sh
	scripts/vendor-check.sh
	scripts/strace-check.sh
	scripts/old-cpu-check.sh
	cd go && go vet ./... && go vet -tags cuzk_testing ./...
	cd go && go test -race -tags cuzk_testing .
	cd go && GOEXPERIMENT=cgocheck2 GOGC=1 go test -tags cuzk_testing .
	cd go && CUZK_TEST_DIR=$(CURDIR)/target/demo go test -short -run 'Real|Files|Copied' .

check: toolchain ## formatting, clippy, documentation, size and style rules
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(CARGO_FLAGS) --workspace --all-targets --features testing -- -D warnings
	$(CARGO) clippy $(CARGO_FLAGS) --lib --bins -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(CARGO_FLAGS) --no-deps --quiet
	$(CARGO) test $(CARGO_FLAGS) --features testing --test style

header: toolchain ## write headers/cuzk.h and Go's copy from src/ffi
	$(CARGO) run $(CARGO_FLAGS) --quiet --features testing --bin cuzk-header -- headers/cuzk.h
	cp headers/cuzk.h go/cuzk.h

archive: toolchain $(TOOLKIT) ## go/lib/linux_amd64/libcuzk.a, the static library for Go and C
	scripts/archive.sh release

archive-testing: toolchain $(TOOLKIT) ## the same with echo engines and fault points, for Go's tests
	scripts/archive.sh testing

bench: toolchain ## all benches that need no GPU; tables on stdout (many minutes)
	$(CARGO) bench --locked --features testing

gpu-bundle: toolchain ## one folder with everything that tests and benches a GPU: target/gpu-bundle
	scripts/gpu-bundle.sh

.PHONY: cuda-binary
cuda-binary: $(TOOLKIT)
	$(CARGO) build $(CARGO_FLAGS) --features testing --bin cuzk-gpu

golden: toolchain ## bellperson's proofs in testdata/golden, made again (ten minutes)
	$(CARGO) run $(CARGO_FLAGS) --features testing --example golden

fuzz: ## five minutes of every fuzz target
	scripts/fuzz.sh

clean: ## remove everything that was built
	$(CARGO) clean

toolchain:
	@scripts/toolchain.sh

$(CUDA_TOOLKIT)/toolkit/bin/nvcc:
	scripts/cuda-toolkit.sh

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14
