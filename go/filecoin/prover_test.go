package filecoin

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/filecoin-project/go-state-types/abi"
	"github.com/filecoin-project/go-state-types/proof"
	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

// taskFunctions is what task code assigns to: the compiler compares names and types.
type taskFunctions struct {
	SealCommitPhase2 func(
		ctx context.Context, phase1Output []byte, sectorNum abi.SectorNumber, minerID abi.ActorID,
	) ([]byte, error)
	GenerateUpdateProofWithVanilla func(
		ctx context.Context, proofType abi.RegisteredUpdateProof, key, sealed, unsealed cid.Cid, vproofs [][]byte,
	) ([]byte, error)
	GenerateWinningPoStWithVanilla func(
		ctx context.Context, proofType abi.RegisteredPoStProof, minerID abi.ActorID, randomness abi.PoStRandomness,
		proofs [][]byte,
	) ([]proof.PoStProof, error)
	GenerateSinglePartitionWindowPoStWithVanilla func(
		ctx context.Context, proofType abi.RegisteredPoStProof, minerID abi.ActorID, randomness abi.PoStRandomness,
		proofs [][]byte, partitionIndex uint,
	) (*proof.PoStProof, error)
}

// recorder keeps what it is asked for.
type recorder struct {
	request cuzk.Request
	err     error
}

func (r *recorder) Prove(_ context.Context, request cuzk.Request) (cuzk.Proof, error) {
	r.request = request
	return cuzk.Proof{Bytes: []byte("proof")}, r.err
}

func functions(engine Engine) taskFunctions {
	p := Prover{Engine: engine}
	return taskFunctions{
		SealCommitPhase2:                             p.SealCommitPhase2,
		GenerateUpdateProofWithVanilla:               p.GenerateUpdateProofWithVanilla,
		GenerateWinningPoStWithVanilla:               p.GenerateWinningPoStWithVanilla,
		GenerateSinglePartitionWindowPoStWithVanilla: p.GenerateSinglePartitionWindowPoStWithVanilla,
	}
}

func commitment(t *testing.T, kind commitmentKind, fill byte) cid.Cid {
	t.Helper()
	hash, err := multihash.Encode(bytes.Repeat([]byte{fill}, 32), kind.hash)
	if err != nil {
		t.Fatal(err)
	}
	return cid.NewCidV1(kind.codec, hash)
}

func TestPoRep(t *testing.T) {
	var engine recorder
	made, err := functions(&engine).SealCommitPhase2(t.Context(), []byte("c1"), 7, 1000)
	if err != nil || string(made) != "proof" {
		t.Fatal(made, err)
	}
	request := engine.request.(cuzk.PoRep)
	if request.Miner != 1000 || request.Sector != 7 || string(request.C1) != "c1" {
		t.Fatalf("%+v", request)
	}
}

func TestUpdate(t *testing.T) {
	var engine recorder
	prove := functions(&engine).GenerateUpdateProofWithVanilla
	old, sealed := commitment(t, replicaCommitment, 1), commitment(t, replicaCommitment, 2)
	data := commitment(t, dataCommitment, 3)
	if _, err := prove(t.Context(), 3, old, sealed, data, [][]byte{{1}, {2}}); err != nil {
		t.Fatal(err)
	}
	request := engine.request.(cuzk.Update)
	if request.ProofType != 3 || request.CommROld[0] != 1 || request.CommRNew[31] != 2 || request.CommDNew[5] != 3 ||
		len(request.VanillaProofs) != 2 {
		t.Fatalf("%+v", request)
	}
	for _, cids := range [][3]cid.Cid{{data, sealed, data}, {old, data, data}, {old, sealed, old}, {cid.Undef, sealed, data}} {
		if _, err := prove(t.Context(), 3, cids[0], cids[1], cids[2], nil); !errors.Is(err, cuzk.ErrInvalid) {
			t.Fatal(err)
		}
	}
}

func TestPoSt(t *testing.T) {
	var engine recorder
	randomness := abi.PoStRandomness(bytes.Repeat([]byte{9}, 32))
	winning, err := functions(&engine).GenerateWinningPoStWithVanilla(t.Context(), 3, 1000, randomness, [][]byte{{1}})
	if err != nil || len(winning) != 1 || winning[0].PoStProof != 3 || string(winning[0].ProofBytes) != "proof" {
		t.Fatal(winning, err)
	}
	if request := engine.request.(cuzk.WinningPoSt); request.Randomness[31] != 9 || request.ProofType != 3 {
		t.Fatalf("%+v", request)
	}
	prove := functions(&engine).GenerateSinglePartitionWindowPoStWithVanilla
	window, err := prove(t.Context(), 13, 1000, randomness, [][]byte{{1}, {2}}, 4)
	if err != nil || window.PoStProof != 13 || string(window.ProofBytes) != "proof" {
		t.Fatal(window, err)
	}
	if request := engine.request.(cuzk.WindowPoSt); request.Partition != 4 || len(request.VanillaProofs) != 2 {
		t.Fatalf("%+v", request)
	}
	if _, err = prove(t.Context(), 13, 1000, randomness[1:], nil, 4); !errors.Is(err, cuzk.ErrInvalid) {
		t.Fatal(err)
	}
	engine.err = &cuzk.Error{Status: cuzk.ErrCancelled}
	if _, err = prove(t.Context(), 13, 1000, randomness, nil, 4); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
