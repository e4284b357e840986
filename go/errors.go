package cuzk

import (
	"context"
	"errors"
	"fmt"
)

// Status is the reason of a failure. Each is an error of its own, for errors.Is.
type Status uint32

// One sentinel per status, numbered as in the C header.
const (
	// ErrInvalid: a field of the request is wrong; the message names it. A retry can't help.
	ErrInvalid Status = 1
	// ErrUnsupported: well-formed, but not offered.
	ErrUnsupported Status = 2
	// ErrBusy: a queue is full; retry later.
	ErrBusy Status = 3
	// ErrCancelled: cancelled by the caller.
	ErrCancelled Status = 4
	// ErrDeadline: the deadline passed first.
	ErrDeadline Status = 5
	// ErrClosed: the engine or circuit is closed.
	ErrClosed Status = 6
	// ErrAlreadyOpen: an engine is open in this process already.
	ErrAlreadyOpen Status = 7
	// ErrABIMismatch: this package and the archive are of different versions.
	ErrABIMismatch Status = 8
	// ErrParamsMissing: a .params file was not found; the message lists what was searched.
	ErrParamsMissing Status = 9
	// ErrParamsCorrupt: a .params or cache file is damaged; the message names file, section and index.
	ErrParamsCorrupt Status = 10
	// ErrParamsUnknown: the verifying key isn't one of the network's.
	ErrParamsUnknown Status = 11
	// ErrNoDevice: no usable device.
	ErrNoDevice Status = 12
	// ErrDeviceLost: a device failed for good; only a restart of the process clears it.
	ErrDeviceLost Status = 13
	// ErrOutOfMemory: a byte budget is exhausted; the message names it.
	ErrOutOfMemory Status = 14
	// ErrBadWitness: the assignment doesn't satisfy the circuit.
	ErrBadWitness Status = 15
	// ErrSelfCheck: a proof of a satisfied assignment failed its pairing check.
	ErrSelfCheck Status = 16
	// ErrInternal: a bug or an unexpected fault of the system; the process lives on.
	ErrInternal Status = 17
)

// ErrNotBuilt says that this binary holds no native library: another platform than linux/amd64, no cgo, or the tag nocuzk.
var ErrNotBuilt = errors.New("cuzk: built without the native library")

var statusNames = [...]string{
	"OK", "INVALID", "UNSUPPORTED", "BUSY", "CANCELLED", "DEADLINE", "CLOSED", "ALREADY_OPEN", "ABI_MISMATCH",
	"PARAMS_MISSING", "PARAMS_CORRUPT", "PARAMS_UNKNOWN", "NO_DEVICE", "DEVICE_LOST", "OUT_OF_MEMORY", "BAD_WITNESS",
	"SELF_CHECK", "INTERNAL",
}

// String is the status's name.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", uint32(s))
}

// Error makes a status an error, for errors.Is.
func (s Status) Error() string { return "cuzk: " + s.String() }

// Error is a failure with its circumstances. Fields that don't apply are zero.
type Error struct {
	// Status is the reason, also found by errors.Is.
	Status Status
	// Message says what is wrong and where: field, file, partition, device, phase.
	Message string
	// Job is the engine's number of the request; the one that logs name.
	Job uint64
	// Circuit is what was to be proved, as far as it was known.
	Circuit Circuit
	// cause is the context's error if that ended the wait.
	cause error
}

// Error says all of it.
func (e *Error) Error() string {
	text := e.Status.Error()
	if e.Circuit.Kind != 0 {
		text += fmt.Sprintf(": %v", e.Circuit)
	}
	if e.Job != 0 {
		text += fmt.Sprintf(": job %d", e.Job)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap gives the status, and the context's error for what was cancelled or came too late.
func (e *Error) Unwrap() []error {
	reasons := []error{e.Status}
	switch {
	case e.cause != nil:
		reasons = append(reasons, e.cause)
	case e.Status == ErrCancelled:
		reasons = append(reasons, context.Canceled)
	case e.Status == ErrDeadline:
		reasons = append(reasons, context.DeadlineExceeded)
	}
	return reasons
}

// ended is the error of a wait that a context ended. ctx has ended.
func ended(ctx context.Context) error {
	status := ErrCancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		status = ErrDeadline
	}
	cause := ctx.Err()
	if why := context.Cause(ctx); !errors.Is(why, cause) {
		cause = fmt.Errorf("%w: %w", cause, why)
	}
	return &Error{Status: status, Message: cause.Error(), cause: cause}
}

func invalid(field, reason string) error {
	return &Error{Status: ErrInvalid, Message: field + ": " + reason}
}
