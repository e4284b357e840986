package cuzk

import "log/slog"

// Backend is where proofs are made.
type Backend uint32

const (
	// BackendAuto is CUDA if it is built in, else the CPU.
	BackendAuto Backend = 0
	// BackendCPU is the host's cores.
	BackendCPU Backend = 1
	// BackendCUDA is CUDA; Open fails with ErrNoDevice if it isn't built in or finds no device.
	BackendCUDA Backend = 2
)

// SRSCheck is how far an SRS is checked before it is used.
type SRSCheck uint32

const (
	// SRSCheckOnCurve checks sizes, curve and identity.
	SRSCheckOnCurve SRSCheck = 0
	// SRSCheckSubgroup also checks that every point of every section is in the prime-order subgroup.
	SRSCheckSubgroup SRSCheck = 1
	// SRSCheckDigest also compares the file's digest with the one that the network published.
	SRSCheckDigest SRSCheck = 2
)

// Fallback says which kinds are proved on the CPU when no device can. The zero value is WinningPoSt alone.
type Fallback struct {
	kinds uint32
}

// FallbackTo is the fallback for these kinds and no others; without any, there is none.
func FallbackTo(kinds ...Kind) Fallback {
	if len(kinds) == 0 {
		return Fallback{kinds: 1 << 31}
	}
	var set uint32
	for _, kind := range kinds {
		if kind < KindPoRep || kind > KindWinningPoSt {
			set |= 1 << 30 // a bit of no kind, which Open refuses
			continue
		}
		set |= 1 << kind
	}
	return Fallback{kinds: set}
}

// Config is what an engine is opened with. Every field's zero value is its default.
type Config struct {
	// ParamDirs are directories of .params files, searched in order. Default: the one that FIL_PROOFS_PARAMETER_CACHE
	// names, or /var/tmp/filecoin-proof-parameters.
	ParamDirs []string
	// CacheDir holds recorded circuits and finished checks; nothing is written elsewhere. It is made when it is first
	// written to. Default: none; each process then records each circuit anew.
	CacheDir string
	// Backend is where proofs are made. Default: BackendAuto.
	Backend Backend
	// CPUFallback are the kinds that are proved on the CPU when no device can. Default: WinningPoSt alone.
	CPUFallback Fallback
	// AllowUnknownParams accepts an SRS that isn't the network's. Default: no.
	AllowUnknownParams bool
	// Devices are the UUIDs of the devices to use; naming some is an error where the back end is the CPU. Default: all.
	Devices []string
	// ReservedDevices are UUIDs of devices that prove WinningPoSts alone; the same holds for them. Default: none.
	ReservedDevices []string
	// HostMemoryBytes is the budget of host memory. Default: 80 % of what machine and cgroup allow.
	HostMemoryBytes uint64
	// PinnedMemoryBytes is the budget of pinned memory, for all devices together. Default: 1 GiB.
	PinnedMemoryBytes uint64
	// DeviceMemoryBytes caps what is used of each device. Default: what is free when it is opened, less 1 GiB.
	DeviceMemoryBytes uint64
	// DeviceReserveBytes of each device's memory are for WinningPoSts alone. Default: 1 GiB.
	DeviceReserveBytes uint64
	// Threads synthesise and, on the CPU back end, prove. Default: the CPUs that machine and cgroup allow.
	Threads uint32
	// QueueLen is the number of unfinished PoReps and updates, each; WindowPoSts and WinningPoSts have as many places each,
	// 64 at least. Default: 256.
	QueueLen uint32
	// SRSCheck is how far an SRS is checked. Default: SRSCheckOnCurve.
	SRSCheck SRSCheck
	// Logger gets the engine's log. Which levels are produced is asked when the engine is opened. Default: none.
	Logger *slog.Logger
}
