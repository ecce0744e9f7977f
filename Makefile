# Nothing here is needed to use kerngen; `go` alone builds, generates and tests.

STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
BUNDLE = dist/gpu

.PHONY: all generate test fuzz check bench bench-simulated gpu-bundle clean

all: generate test

generate:
	go generate ./...

test:
	go test -race ./...

# Every fuzz target for a minute each; scripts/fuzz takes other times.
fuzz:
	./scripts/fuzz

# What CI runs beside the tests: see .ci/run.
check:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt these files"; exit 1; }
	go vet ./...
	CGO_ENABLED=0 go vet ./...
	$(STATICCHECK) ./...

# Launches and copies on this machine's driver, or on the one KERNGEN_LIBCUDA names.
bench:
	go run ./benchmarks/launch
	go run ./benchmarks/copies

# The simulated device against Triton's interpreter; PYTHON has Triton and numpy.
PYTHON = python3
bench-simulated:
	go run ./benchmarks/simulated -python $(PYTHON)

# Test binaries, benchmark and data for a machine with a GPU and no Go: copy the
# folder there and run its run.sh.
gpu-bundle:
	./scripts/gpu-bundle $(BUNDLE)

clean:
	rm -rf dist
