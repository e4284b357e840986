//go:build linux && amd64 && cgo && !nocuzk && cuzk_testing

package cuzk

/*
#include <cuzk.h>

// The functions of src/ffi/testing.rs, which the header doesn't have.
typedef struct {
	uint32_t devices, max_batch;
	uint64_t partition_ms, load_ms;
} cuzk_testing_echo_t;

typedef struct {
	uint32_t what, device, kind, skip, count, reserved;
} cuzk_testing_echo_fault_t;

uint32_t cuzk_testing_open_echo(
	cuzk_config_t const *config, cuzk_testing_echo_t const *echo, uint64_t *engine, cuzk_error_t *error);
uint32_t cuzk_testing_inject(uint64_t engine, cuzk_testing_echo_fault_t const *fault, cuzk_error_t *error);
uint32_t cuzk_testing_fault(cuzk_bytes_t const *name, uint32_t how);
uint64_t cuzk_testing_live_buffers(void);
uint64_t cuzk_testing_live_engines(void);
*/
import "C"

import "time"

// echo is an engine for tests: tiny circuits, everything else real; its devices are stand-ins that fail on demand.
type echo struct {
	devices, maxBatch       uint32
	partitionTime, loadTime time.Duration
}

// echoFaultKind is what goes wrong, numbered as in src/ffi/testing.rs.
type echoFaultKind uint32

const (
	echoWrongSums echoFaultKind = iota
	echoDeviceLost
	echoPanic
	echoHang
	echoOutOfMemory
	echoInternal
	echoLoadFails
	echoBadWitness
	echoSynthesisPanics
	echoBadRequest
	echoHoldProve
	echoHoldLoad
	echoHoldOpen
	echoHoldSynthesis
	echoOpenFails
)

// openEcho opens an echo engine, of which any number may be open.
func openEcho(config Config, options echo) (*Engine, error) {
	return open(config, func(config *Config) (uint64, error) {
		if err := checkBuild(); err != nil {
			return 0, err
		}
		var pins pins
		defer pins.Unpin()
		native := pins.config(config)
		nativeEcho := C.cuzk_testing_echo_t{
			devices:      C.uint32_t(options.devices),
			max_batch:    C.uint32_t(options.maxBatch),
			partition_ms: C.uint64_t(options.partitionTime.Milliseconds()),
			load_ms:      C.uint64_t(options.loadTime.Milliseconds()),
		}
		var id C.uint64_t
		var failure C.cuzk_error_t
		status := C.cuzk_testing_open_echo(&native, &nativeEcho, &id, &failure)
		return uint64(id), take(status, &failure)
	})
}

// inject adds a fault that hits the next `count` occasions; 0 releases all that hang or are held by it.
func (e *Engine) inject(what echoFaultKind, count int) error {
	fault := C.cuzk_testing_echo_fault_t{what: C.uint32_t(what), count: C.uint32_t(count)}
	var failure C.cuzk_error_t
	return take(C.cuzk_testing_inject(C.uint64_t(e.core.id), &fault, &failure), &failure)
}

// panicIn makes the next call of an exported function panic.
func panicIn(export string) bool {
	var pins pins
	defer pins.Unpin()
	name := pins.text(export)
	return C.cuzk_testing_fault(&name, 0) == C.CUZK_OK
}

func liveBuffers() int { return int(C.cuzk_testing_live_buffers()) }
func liveEngines() int { return int(C.cuzk_testing_live_engines()) }
