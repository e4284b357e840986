package cuzk

import "time"

// HealthLevel says how bad it is.
type HealthLevel uint32

const (
	// HealthOK: all is well.
	HealthOK HealthLevel = 0
	// HealthDegraded: proofs are made, but something went wrong or is missing; an operator should look.
	HealthDegraded HealthLevel = 1
	// HealthFatal: no device is left; only a restart of the process helps.
	HealthFatal HealthLevel = 2
)

// String is the level's name.
func (l HealthLevel) String() string {
	switch l {
	case HealthOK:
		return "ok"
	case HealthDegraded:
		return "degraded"
	default:
		return "fatal"
	}
}

// Health is the engine's state of health.
type Health struct {
	Level HealthLevel
	// Reasons why it isn't OK.
	Reasons string
}

// DeviceState is what can be expected of a device.
type DeviceState uint32

const (
	// DeviceHealthy proves.
	DeviceHealthy DeviceState = 0
	// DeviceQuarantined hung and gets nothing more to do.
	DeviceQuarantined DeviceState = 1
	// DeviceLost failed for good; only a restart of the process clears it.
	DeviceLost DeviceState = 2
	// DeviceRetired panicked again and again and gets nothing more to do.
	DeviceRetired DeviceState = 3
)

// Stats is the engine's state at one moment. Counters count from Open on and never fall; gauges are 0 when nothing is under
// way.
type Stats struct {
	Health Health
	// Kinds has an element for each of [Kinds], in order.
	Kinds [len(Kinds)]KindStats
	// Phases has an element for each of [PhaseNames], in order.
	Phases   [len(PhaseNames)]PhaseStats
	Counters Counters
	// Gauges: partitions being synthesised, waiting for a device, on a device; completions that nobody has taken.
	Synthesising, WaitingForDevice, Proving, EventsWaiting uint64
	// Pools of memory: host, pinned, then one per device.
	Pools []PoolStats
	// Devices, the CPU included.
	Devices []DeviceStats
	// Resident circuits, on a device or open on the host.
	Resident []Circuit
	// DriverCalls counts, for the whole process, the calls that took device memory, pinned memory, a stream or an event
	// from the driver. It stands still once all circuits in use were proved twice.
	DriverCalls uint64
}

// KindStats counts requests of one kind.
type KindStats struct {
	// Counters: accepted, refused as busy, ended with a proof, with an error, cancelled, too late.
	Submitted, Refused, Proved, Failed, Cancelled, Late uint64
	// Gauges: accepted and not begun; begun and not ended.
	Queued, Running uint64
}

// PhaseNames are the phases of a request, in order.
var PhaseNames = [...]string{"queue", "open", "check", "synthesis", "wait", "prove", "finish"}

// PhaseStats counts time in one phase: per request up to check, per partition from synthesis on.
type PhaseStats struct {
	Count    uint64
	Sum, Max time.Duration
}

// Counters is what happened.
type Counters struct {
	PartitionsProved  uint64 // whose proof passed its check
	Batches           uint64 // handed to a back end
	Redos             uint64 // partitions proved again
	SelfCheckFailures uint64 // pairing checks that failed
	Unsatisfied       uint64 // of these, with an assignment that didn't satisfy the circuit
	InternalErrors    uint64 // requests that ended with ErrInternal
	Panics            uint64 // caught
	DeviceFaults      uint64 // devices lost or hung
	OutOfMemory       uint64 // batches and loads refused for want of memory
	CPUFallbacks      uint64 // requests proved on the CPU because no device could
	Interruptions     uint64 // times a batch stood back for a more urgent proof
	Abandoned         uint64 // partitions taken back for a more urgent proof
	Opens             uint64 // circuits opened on the host
	Loads             uint64 // circuits loaded by a back end
	Unloads           uint64 // circuits unloaded by a back end
	LogsDropped       uint64 // records that nobody took in time
}

// PoolStats is one pool of memory.
type PoolStats struct {
	Name                             string
	TotalBytes, UsedBytes, PeakBytes uint64
}

// DeviceStats is one device.
type DeviceStats struct {
	Name, UUID string
	State      DeviceState
	// Reserved: proves WinningPoSts alone.
	Reserved bool
	// Busy: inside the back end now.
	Busy bool
	// BusyTime is the time inside the back end so far.
	BusyTime time.Duration
	// Partitions proved, whether or not they passed their check.
	Partitions uint64
	// Circuits resident.
	Circuits uint64
	// Phases of its proofs in order, by the device's own clock; none for the CPU.
	Phases []DevicePhase
}

// DevicePhase is the time in one phase of a device's proofs.
type DevicePhase struct {
	// Name is upload, rows, quotient, h, ones, a or b.
	Name string
	PhaseStats
}

// Cost is what a proof needs, in bytes.
type Cost struct {
	// HostBytes of memory while one request is under way and nothing else.
	HostBytes uint64
	// PinnedBytes are part of them.
	PinnedBytes uint64
	// DeviceBytes make it fast.
	DeviceBytes uint64
	// DiskBytes of the .params file, and of the recorded circuit in the cache.
	DiskBytes uint64
}
