package cuzk

import (
	"fmt"
	"time"
)

// Request is one proof to be made: a [PoRep], an [Update], a [WindowPoSt] or a [WinningPoSt], by value.
type Request interface {
	// Kind is what the request asks to be proved.
	Kind() Kind
	options() Options
}

// Options are what all requests have beside their content.
type Options struct {
	// Label is for logs only.
	Label string
	// Deadline is when the proof is of no more use; it also decides the order within a class. Default: the context's.
	Deadline time.Time
}

// PoRep asks for the C2 of a sector.
type PoRep struct {
	// Miner's actor id.
	Miner uint64
	// Sector number.
	Sector uint64
	// C1 is the C1 output as JSON, plain or in the envelope {"SectorNum", "Phase1Out", "SectorSize"}.
	C1 []byte
	Options
}

// Update asks for the proof of a SnapDeals update.
type Update struct {
	// ProofType is the registered update proof, numbered as in go-state-types: 0 to 4 for 2 KiB, 8 MiB, 512 MiB, 32 GiB
	// and 64 GiB.
	ProofType int64
	// CommROld is the replica commitment before the update.
	CommROld [32]byte
	// CommRNew is the replica commitment after it.
	CommRNew [32]byte
	// CommDNew is the data commitment after it.
	CommDNew [32]byte
	// VanillaProofs are the partition proofs in bincode, in order.
	VanillaProofs [][]byte
	Options
}

// WindowPoSt asks for the proof of one partition of a deadline.
type WindowPoSt struct {
	// ProofType is the registered PoSt proof, numbered as in go-state-types: 10 to 14 for version 1.1 at 2 KiB, 8 MiB,
	// 512 MiB, 32 GiB and 64 GiB.
	ProofType int64
	// Miner's actor id.
	Miner uint64
	// Randomness; the two top bits of the last byte are ignored.
	Randomness [32]byte
	// Partition of the deadline, for version 1 alone.
	Partition uint32
	// VanillaProofs are the sectors' proofs in bincode.
	VanillaProofs [][]byte
	Options
}

// WinningPoSt asks for the proof that a block's producer needs.
type WinningPoSt struct {
	// ProofType is the registered PoSt proof, numbered as in go-state-types: 0 to 4 for 2 KiB, 8 MiB, 512 MiB, 32 GiB and
	// 64 GiB.
	ProofType int64
	// Miner's actor id.
	Miner uint64
	// Randomness; the two top bits of the last byte are ignored.
	Randomness [32]byte
	// VanillaProofs are the sectors' proofs in bincode: one.
	VanillaProofs [][]byte
	Options
}

const (
	// maxListed is more than any request has vanilla proofs, or any claim sectors: a WindowPoSt has 2,349 at most.
	maxListed = 4096
	// maxProofBytes is more than the proofs of any number of partitions have.
	maxProofBytes = 1 << 20
)

// checkRequest refuses what is no request of this package's, nil pointers to one among them, and lists that would take long
// to hand over.
func checkRequest(request Request) error {
	switch request := request.(type) {
	case nil:
		return invalid("request", "nil")
	case PoRep:
		return nil
	case Update:
		return checkCount("VanillaProofs", len(request.VanillaProofs))
	case WindowPoSt:
		return checkCount("VanillaProofs", len(request.VanillaProofs))
	case WinningPoSt:
		return checkCount("VanillaProofs", len(request.VanillaProofs))
	default:
		return invalid("request", fmt.Sprintf("%T is none of this package's requests, which go by value", request))
	}
}

// checkClaim is the same for claims.
func checkClaim(claim Claim) error {
	switch claim := claim.(type) {
	case nil:
		return invalid("claim", "nil")
	case PoRepClaim, UpdateClaim:
		return nil
	case WindowPoStClaim:
		return checkCount("Sectors", len(claim.Sectors))
	case WinningPoStClaim:
		return checkCount("Sectors", len(claim.Sectors))
	default:
		return invalid("claim", fmt.Sprintf("%T is none of this package's claims, which go by value", claim))
	}
}

func checkCount(field string, count int) error {
	if count > maxListed {
		return invalid(field, fmt.Sprintf("%d given, at most %d", count, maxListed))
	}
	return nil
}

// Kind is KindPoRep.
func (PoRep) Kind() Kind { return KindPoRep }

// Kind is KindUpdate.
func (Update) Kind() Kind { return KindUpdate }

// Kind is KindWindowPoSt.
func (WindowPoSt) Kind() Kind { return KindWindowPoSt }

// Kind is KindWinningPoSt.
func (WinningPoSt) Kind() Kind { return KindWinningPoSt }

func (r PoRep) options() Options       { return r.Options }
func (r Update) options() Options      { return r.Options }
func (r WindowPoSt) options() Options  { return r.Options }
func (r WinningPoSt) options() Options { return r.Options }

// Claim is what a proof is verified against: a [PoRepClaim], an [UpdateClaim], a [WindowPoStClaim] or a
// [WinningPoStClaim].
type Claim interface {
	// Kind is what is claimed.
	Kind() Kind
	claim()
}

// PoRepClaim says that a miner's sector is sealed.
type PoRepClaim struct {
	// ProofType is the registered seal proof, numbered as in go-state-types.
	ProofType int64
	// Miner's actor id.
	Miner uint64
	// Sector number.
	Sector uint64
	// CommR and CommD are the commitments to replica and data.
	CommR, CommD [32]byte
	// Ticket and Seed are the randomness of sealing and of the challenges.
	Ticket, Seed [32]byte
}

// UpdateClaim says that a replica holds new data.
type UpdateClaim struct {
	// ProofType is the registered update proof, numbered as in go-state-types.
	ProofType int64
	// CommROld, CommRNew and CommDNew are the commitments, as in [Update].
	CommROld, CommRNew, CommDNew [32]byte
}

// Sector is a sector as a PoSt's verifier knows it.
type Sector struct {
	// Number of the sector.
	Number uint64
	// CommR is its replica commitment.
	CommR [32]byte
}

// WindowPoStClaim says that the sectors of a partition are still stored.
type WindowPoStClaim struct {
	// ProofType is the registered PoSt proof, numbered as in go-state-types.
	ProofType int64
	// Randomness; the two top bits of the last byte are ignored.
	Randomness [32]byte
	// Partition of the deadline, for version 1 alone.
	Partition uint32
	// Sectors in the order of the vanilla proofs.
	Sectors []Sector
}

// WinningPoStClaim says that the challenged sector is still stored.
type WinningPoStClaim struct {
	// ProofType is the registered PoSt proof, numbered as in go-state-types.
	ProofType int64
	// Randomness; the two top bits of the last byte are ignored.
	Randomness [32]byte
	// Sectors that are challenged: one.
	Sectors []Sector
}

// Kind is KindPoRep.
func (PoRepClaim) Kind() Kind { return KindPoRep }

// Kind is KindUpdate.
func (UpdateClaim) Kind() Kind { return KindUpdate }

// Kind is KindWindowPoSt.
func (WindowPoStClaim) Kind() Kind { return KindWindowPoSt }

// Kind is KindWinningPoSt.
func (WinningPoStClaim) Kind() Kind { return KindWinningPoSt }

func (PoRepClaim) claim()       {}
func (UpdateClaim) claim()      {}
func (WindowPoStClaim) claim()  {}
func (WinningPoStClaim) claim() {}
