//go:build linux && amd64 && cgo && !nocuzk

package cuzk

// // Between quotes, a cuzk.h in the temporary directory would come first.
// #cgo CFLAGS: -I${SRCDIR}
// #include <cuzk.h>
import "C"

import (
	"math"
	"time"
	"unsafe"
)

func nativeOpen(config *Config) (uint64, error) {
	if err := checkBuild(); err != nil {
		return 0, err
	}
	var pins pins
	defer pins.Unpin()
	native := pins.config(config)
	var id C.uint64_t
	var failure C.cuzk_error_t
	status := C.cuzk_engine_open(&native, &id, &failure)
	return uint64(id), take(status, &failure)
}

// checkBuild finds an archive of another version before anything of it is used.
func checkBuild() error {
	if found := uint32(C.cuzk_abi_version()); found != C.CUZK_ABI_VERSION {
		return mismatch("ABI version %d, this package has %d", found, C.CUZK_ABI_VERSION)
	}
	if found := C.GoString(C.cuzk_build_id()); found != archiveBuildID() {
		return mismatch("the archive is %q, lib.go describes %q", found, archiveBuildID())
	}
	return nil
}

func nativeClose(id uint64) error {
	var failure C.cuzk_error_t
	return take(C.cuzk_engine_close(C.uint64_t(id), &failure), &failure)
}

func nativeSubmit(id uint64, jobs []job) []error {
	errs := make([]error, len(jobs))
	if len(jobs) == 0 {
		return errs
	}
	var pins pins
	defer pins.Unpin()
	requests := make([]C.cuzk_request_t, len(jobs))
	for i, job := range jobs {
		requests[i] = pins.request(job)
	}
	results := make([]C.cuzk_error_t, len(jobs))
	var failure C.cuzk_error_t
	status := C.cuzk_engine_submit(C.uint64_t(id), &requests[0], C.uint64_t(len(requests)), &results[0], &failure)
	failed := take(status, &failure)
	for i, result := range results {
		// Its own copy: of a pointer into an array cgo would look through all of that each time.
		err := take(C.uint32_t(result.status), &result)
		if errs[i] = err; failed != nil {
			errs[i] = failed
		}
	}
	return errs
}

func nativeNext(id uint64) (event, error) {
	native := C.cuzk_event_t{struct_size: C.sizeof_cuzk_event_t}
	var failure C.cuzk_error_t
	status := C.cuzk_engine_next(C.uint64_t(id), math.MaxUint64, &native, &failure)
	if err := take(status, &failure); err != nil {
		return event{}, err
	}
	return goEvent(&native), nil
}

func nativeCancel(id, tag uint64) error {
	var failure C.cuzk_error_t
	return take(C.cuzk_engine_cancel(C.uint64_t(id), C.uint64_t(tag), &failure), &failure)
}

func nativePreload(id uint64, circuit Circuit, tag uint64) error {
	var failure C.cuzk_error_t
	kind, size := C.uint32_t(circuit.Kind), C.uint64_t(circuit.SectorSize)
	return take(C.cuzk_engine_preload(C.uint64_t(id), kind, size, C.uint64_t(tag), &failure), &failure)
}

func nativeEvict(id uint64, circuit Circuit, tag uint64) error {
	var failure C.cuzk_error_t
	kind, size := C.uint32_t(circuit.Kind), C.uint64_t(circuit.SectorSize)
	return take(C.cuzk_engine_evict(C.uint64_t(id), kind, size, C.uint64_t(tag), &failure), &failure)
}

func nativeTrim(id, tag uint64) error {
	var failure C.cuzk_error_t
	return take(C.cuzk_engine_trim(C.uint64_t(id), C.uint64_t(tag), &failure), &failure)
}

func nativeCost(id uint64, circuit Circuit) (Cost, error) {
	native := C.cuzk_cost_t{struct_size: C.sizeof_cuzk_cost_t}
	var failure C.cuzk_error_t
	kind, size := C.uint32_t(circuit.Kind), C.uint64_t(circuit.SectorSize)
	status := C.cuzk_engine_cost(C.uint64_t(id), kind, size, &native, &failure)
	if err := take(status, &failure); err != nil {
		return Cost{}, err
	}
	return Cost{
		HostBytes:   uint64(native.host_bytes),
		PinnedBytes: uint64(native.pinned_bytes),
		DeviceBytes: uint64(native.device_bytes),
		DiskBytes:   uint64(native.disk_bytes),
	}, nil
}

func nativeStats(id uint64) (Stats, error) {
	native := C.cuzk_stats_t{struct_size: C.sizeof_cuzk_stats_t}
	var failure C.cuzk_error_t
	status := C.cuzk_engine_stats(C.uint64_t(id), &native, &failure)
	if err := take(status, &failure); err != nil {
		return Stats{}, err
	}
	defer C.cuzk_free(&native.owned)
	return goStats(&native), nil
}

func nativeVerify(claim Claim, proof []byte, config *Config) error {
	var pins pins
	defer pins.Unpin()
	native := pins.claim(claim)
	bytes := pins.bytes(proof)
	source := pins.vkSource(config)
	var failure C.cuzk_error_t
	return take(C.cuzk_verify(&native, &bytes, &source, &failure), &failure)
}

// take gives the error that a call has written, and frees its message.
func take(status C.uint32_t, failure *C.cuzk_error_t) error {
	message := takeText(&failure.message)
	if status == C.CUZK_OK {
		return nil
	}
	return &Error{Status: Status(status), Message: message}
}

// takeText copies a buffer and frees it.
func takeText(buffer *C.cuzk_buffer_t) string {
	return string(takeBytes(buffer))
}

func takeBytes(buffer *C.cuzk_buffer_t) []byte {
	if buffer.id == 0 {
		return nil
	}
	bytes := append([]byte(nil), unsafe.Slice((*byte)(buffer.ptr), buffer.len)...)
	C.cuzk_free(buffer)
	return bytes
}

func duration(ns C.uint64_t) time.Duration {
	return time.Duration(min(uint64(ns), math.MaxInt64))
}
