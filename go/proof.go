package cuzk

import "time"

// Proof is a proof of all partitions, checked by pairing, and what it took.
type Proof struct {
	// Bytes has 192 bytes a partition, compressed, in order: what the network's verifier takes.
	Bytes []byte
	// Circuit that was proved.
	Circuit Circuit
	// Job is the engine's number of the request; the one that logs name.
	Job uint64
	// Partitions of the proof.
	Partitions int
	// Constraints of one partition.
	Constraints uint64
	// Redos are partitions that were proved again after a failed check.
	Redos int
	// Timings of the request.
	Timings Timings
}

// Result is a request's outcome in a batch.
type Result struct {
	Proof Proof
	Err   error
}

// Timings are what a request took. Phases are sums over the partitions, which overlap: together they may exceed Total.
type Timings struct {
	// Total is the time from submission to completion.
	Total time.Duration
	// Queue is waiting for its turn.
	Queue time.Duration
	// Open is waiting for SRS and R1CS.
	Open time.Duration
	// Check is decoding and checking vanilla proofs.
	Check time.Duration
	// Synthesis is the way from vanilla proofs to assignments.
	Synthesis time.Duration
	// Wait is waiting for a device.
	Wait time.Duration
	// Prove is the time on a device.
	Prove time.Duration
	// Finish is blinding, assembly and the pairing check.
	Finish time.Duration
}
