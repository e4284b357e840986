//go:build linux && amd64 && cgo && !nocuzk

package cuzk

// #include <cuzk.h>
import "C"

import (
	"time"
	"unsafe"
)

// goEvent copies an event and frees its buffers.
func goEvent(native *C.cuzk_event_t) event {
	message := takeText(&native.message)
	target := takeText(&native.target)
	proof := takeBytes(&native.proof)
	out := event{kind: eventKind(native.kind), tag: uint64(native.tag)}
	switch out.kind {
	case eventCompletion:
		out.done = goCompletion(native, proof, message)
	case eventProgress:
		out.percent = int(native.done * 100 / max(native.total, 1))
	case eventHealth:
		out.health = Health{Level: HealthLevel(native.health), Reasons: message}
	case eventLog:
		at := time.Unix(0, int64(native.time_ns))
		out.record = record{time: at, level: slogLevel(uint32(native.level)), target: target, message: message}
	}
	return out
}

func goCompletion(native *C.cuzk_event_t, proof []byte, message string) completion {
	circuit := Circuit{Kind: Kind(native.circuit_kind), SectorSize: uint64(native.sector_size)}
	if native.status != C.CUZK_OK {
		status := Status(native.status)
		return completion{err: &Error{Status: status, Message: message, Job: uint64(native.job), Circuit: circuit}}
	}
	return completion{proof: Proof{
		Bytes:       proof,
		Circuit:     circuit,
		Job:         uint64(native.job),
		Partitions:  int(native.partition_count),
		Constraints: uint64(native.constraint_count),
		Redos:       int(native.redo_count),
		Timings: Timings{
			Total:     duration(native.total_ns),
			Queue:     duration(native.queue_ns),
			Open:      duration(native.open_ns),
			Check:     duration(native.check_ns),
			Synthesis: duration(native.synthesis_ns),
			Wait:      duration(native.wait_ns),
			Prove:     duration(native.prove_ns),
			Finish:    duration(native.finish_ns),
		},
	}}
}

func goText(bytes C.cuzk_bytes_t) string {
	return string(unsafe.Slice((*byte)(bytes.ptr), bytes.len))
}

func goStats(native *C.cuzk_stats_t) Stats {
	stats := Stats{
		Health: Health{Level: HealthLevel(native.health), Reasons: goText(native.health_reasons)},
		Kinds: [...]KindStats{
			goKindStats(&native.porep), goKindStats(&native.update),
			goKindStats(&native.window_post), goKindStats(&native.winning_post),
		},
		Phases: [...]PhaseStats{
			goPhaseStats(&native.queue), goPhaseStats(&native.open), goPhaseStats(&native.check),
			goPhaseStats(&native.synthesis), goPhaseStats(&native.wait), goPhaseStats(&native.prove),
			goPhaseStats(&native.finish),
		},
		Counters:         goCounters(native),
		Synthesising:     uint64(native.synthesising),
		WaitingForDevice: uint64(native.waiting_for_device),
		Proving:          uint64(native.proving),
		EventsWaiting:    uint64(native.events_waiting),
		DriverCalls:      uint64(native.driver_calls),
	}
	for _, pool := range unsafe.Slice(native.pools, native.pool_count) {
		stats.Pools = append(stats.Pools, PoolStats{
			Name:       goText(pool.name),
			TotalBytes: uint64(pool.total_bytes),
			UsedBytes:  uint64(pool.used_bytes),
			PeakBytes:  uint64(pool.peak_bytes),
		})
	}
	for _, device := range unsafe.Slice(native.devices, native.device_count) {
		stats.Devices = append(stats.Devices, DeviceStats{
			Name:       goText(device.name),
			UUID:       goText(device.uuid),
			State:      DeviceState(device.state),
			Reserved:   device.reserved_for_winning != 0,
			Busy:       device.busy != 0,
			BusyTime:   duration(device.busy_ns),
			Partitions: uint64(device.partition_count),
			Circuits:   uint64(device.circuit_count),
		})
	}
	for _, circuit := range unsafe.Slice(native.resident, native.resident_count) {
		stats.Resident = append(stats.Resident, Circuit{Kind(circuit.kind), uint64(circuit.sector_size)})
	}
	for _, phase := range unsafe.Slice(native.device_phases, native.device_phase_count) {
		device := &stats.Devices[phase.device]
		device.Phases = append(device.Phases, DevicePhase{goText(phase.name), goPhaseStats(&phase.time)})
	}
	return stats
}

func goKindStats(native *C.cuzk_kind_stats_t) KindStats {
	return KindStats{
		Submitted: uint64(native.submitted),
		Refused:   uint64(native.refused),
		Proved:    uint64(native.proved),
		Failed:    uint64(native.failed),
		Cancelled: uint64(native.cancelled),
		Late:      uint64(native.late),
		Queued:    uint64(native.queued),
		Running:   uint64(native.running),
	}
}

func goPhaseStats(native *C.cuzk_phase_stats_t) PhaseStats {
	return PhaseStats{Count: uint64(native.count), Sum: duration(native.sum_ns), Max: duration(native.max_ns)}
}

func goCounters(native *C.cuzk_stats_t) Counters {
	return Counters{
		PartitionsProved:  uint64(native.partitions_proved),
		Batches:           uint64(native.batches),
		Redos:             uint64(native.redos),
		SelfCheckFailures: uint64(native.self_check_failures),
		Unsatisfied:       uint64(native.unsatisfied),
		InternalErrors:    uint64(native.internal_errors),
		Panics:            uint64(native.panics),
		DeviceFaults:      uint64(native.device_faults),
		OutOfMemory:       uint64(native.out_of_memory),
		CPUFallbacks:      uint64(native.cpu_fallbacks),
		Interruptions:     uint64(native.interruptions),
		Abandoned:         uint64(native.abandoned),
		Opens:             uint64(native.opens),
		Loads:             uint64(native.loads),
		Unloads:           uint64(native.unloads),
		LogsDropped:       uint64(native.logs_dropped),
	}
}
