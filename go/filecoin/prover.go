// Package filecoin proves in the terms of Filecoin's Go types: four functions with the names and parameters that a storage
// provider's task code calls, so that they are wired up by assignment.
package filecoin

import (
	"context"
	"fmt"

	"github.com/filecoin-project/go-state-types/abi"
	"github.com/filecoin-project/go-state-types/proof"
	"github.com/ipfs/go-cid"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

// Engine is what a [Prover] needs of [cuzk.Engine].
type Engine interface {
	Prove(ctx context.Context, request cuzk.Request) (cuzk.Proof, error)
}

// Prover proves on an engine. Its methods wait for a place in the engine's queue and for the proof, and return as soon as
// their context ends, with errors.Is(err, context.Canceled). They never return a proof that wasn't checked.
type Prover struct {
	Engine Engine
}

// SealCommitPhase2 makes the proof of replication from the output of commit phase 1: 192 bytes a partition.
func (p Prover) SealCommitPhase2(
	ctx context.Context, phase1Output []byte, sectorNum abi.SectorNumber, minerID abi.ActorID,
) ([]byte, error) {
	made, err := p.Engine.Prove(ctx, cuzk.PoRep{
		Miner:   uint64(minerID),
		Sector:  uint64(sectorNum),
		C1:      phase1Output,
		Options: cuzk.Options{Label: fmt.Sprintf("miner %d, sector %d", minerID, sectorNum)},
	})
	if err != nil {
		return nil, fmt.Errorf("seal commit phase 2, miner %d, sector %d: %w", minerID, sectorNum, err)
	}
	return made.Bytes, nil
}

// GenerateUpdateProofWithVanilla makes the proof of a SnapDeals update from the partitions' vanilla proofs. key is the
// sealed CID before the update, sealed and unsealed those after it.
func (p Prover) GenerateUpdateProofWithVanilla(
	ctx context.Context, proofType abi.RegisteredUpdateProof, key, sealed, unsealed cid.Cid, vproofs [][]byte,
) ([]byte, error) {
	request := cuzk.Update{ProofType: int64(proofType), VanillaProofs: vproofs}
	var err error
	for _, commitment := range []struct {
		name string
		cid  cid.Cid
		kind commitmentKind
		to   *[32]byte
	}{
		{"key", key, replicaCommitment, &request.CommROld},
		{"sealed", sealed, replicaCommitment, &request.CommRNew},
		{"unsealed", unsealed, dataCommitment, &request.CommDNew},
	} {
		if *commitment.to, err = commitment.kind.bytes(commitment.cid); err != nil {
			return nil, fmt.Errorf("update proof, %s: %w", commitment.name, err)
		}
	}
	request.Label = fmt.Sprintf("replica %v", sealed)
	made, err := p.Engine.Prove(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("update proof, replica %v: %w", sealed, err)
	}
	return made.Bytes, nil
}

// GenerateWinningPoStWithVanilla makes the proof that a block's producer needs, from the challenged sectors' vanilla proofs.
func (p Prover) GenerateWinningPoStWithVanilla(
	ctx context.Context, proofType abi.RegisteredPoStProof, minerID abi.ActorID, randomness abi.PoStRandomness,
	proofs [][]byte,
) ([]proof.PoStProof, error) {
	random, err := randomnessBytes(randomness)
	if err != nil {
		return nil, fmt.Errorf("winning PoSt, miner %d: %w", minerID, err)
	}
	made, err := p.Engine.Prove(ctx, cuzk.WinningPoSt{
		ProofType:     int64(proofType),
		Miner:         uint64(minerID),
		Randomness:    random,
		VanillaProofs: proofs,
		Options:       cuzk.Options{Label: fmt.Sprintf("miner %d", minerID)},
	})
	if err != nil {
		return nil, fmt.Errorf("winning PoSt, miner %d: %w", minerID, err)
	}
	return []proof.PoStProof{{PoStProof: proofType, ProofBytes: made.Bytes}}, nil
}

// GenerateSinglePartitionWindowPoStWithVanilla makes the proof of one partition of a deadline from its sectors' vanilla
// proofs.
func (p Prover) GenerateSinglePartitionWindowPoStWithVanilla(
	ctx context.Context, proofType abi.RegisteredPoStProof, minerID abi.ActorID, randomness abi.PoStRandomness,
	proofs [][]byte, partitionIndex uint,
) (*proof.PoStProof, error) {
	fail := func(err error) (*proof.PoStProof, error) {
		return nil, fmt.Errorf("window PoSt, miner %d, partition %d: %w", minerID, partitionIndex, err)
	}
	random, err := randomnessBytes(randomness)
	if err != nil {
		return fail(err)
	}
	if uint64(partitionIndex) > 1<<32-1 {
		return fail(&cuzk.Error{Status: cuzk.ErrInvalid, Message: "partition: doesn't fit 32 bits"})
	}
	made, err := p.Engine.Prove(ctx, cuzk.WindowPoSt{
		ProofType:     int64(proofType),
		Miner:         uint64(minerID),
		Randomness:    random,
		Partition:     uint32(partitionIndex),
		VanillaProofs: proofs,
		Options:       cuzk.Options{Label: fmt.Sprintf("miner %d, partition %d", minerID, partitionIndex)},
	})
	if err != nil {
		return fail(err)
	}
	return &proof.PoStProof{PoStProof: proofType, ProofBytes: made.Bytes}, nil
}

func randomnessBytes(randomness abi.PoStRandomness) ([32]byte, error) {
	if len(randomness) != 32 {
		message := fmt.Sprintf("randomness: %d bytes instead of 32", len(randomness))
		return [32]byte{}, &cuzk.Error{Status: cuzk.ErrInvalid, Message: message}
	}
	return [32]byte(randomness), nil
}
