// Program has two Rust libraries in it, cuzk's and one that isn't isolated, with another blst and another rayon. It lets both
// panic, and lets each verify a proof that the other made. Its argument is the demo's directory.
package main

/*
#cgo LDFLAGS: ${SRCDIR}/../../../target/beside/release/libbeside.a -lm -ldl -lpthread
#include <stddef.h>
#include <stdint.h>

uint32_t beside_panic(uint32_t how);
uint32_t beside_verify(uint8_t const *key, size_t key_bytes, uint8_t const *inputs, size_t inputs_bytes,
	uint8_t const *proof, uint8_t *other);
*/
import "C"

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "link:", err)
		os.Exit(1)
	}
	fmt.Println("both libraries caught their panics and verified each other's proof")
}

// sample is a WinningPoSt as `cuzk gen-vanilla` writes it.
type sample struct {
	Miner      uint64
	Randomness string
	Sectors    []struct {
		Sector uint64
		CommR  string `json:"comm_r"`
	}
	VanillaProofs [][]byte `json:"vanilla_proofs"`
}

func run(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "winning.json"))
	if err != nil {
		return err
	}
	var from sample
	if err = json.Unmarshal(text, &from); err != nil {
		return err
	}
	randomness, commR := hash(from.Randomness), hash(from.Sectors[0].CommR)
	engine, err := cuzk.Open(cuzk.Config{
		ParamDirs:          []string{filepath.Join(dir, "params")},
		CacheDir:           filepath.Join(dir, "cache"),
		Backend:            cuzk.BackendCPU,
		AllowUnknownParams: true,
	})
	if err != nil {
		return err
	}
	defer engine.Close()
	if err = panics(engine); err != nil {
		return err
	}
	ctx := context.Background()
	request := cuzk.WinningPoSt{Miner: from.Miner, Randomness: randomness, VanillaProofs: from.VanillaProofs}
	proof, err := engine.Prove(ctx, request)
	if err != nil {
		return err
	}
	other, err := verifyBeside(dir, inputs(randomness, from.Sectors[0].Sector, commR), proof.Bytes)
	if err != nil {
		return err
	}
	claim := cuzk.WinningPoStClaim{Randomness: randomness, Sectors: []cuzk.Sector{{Number: from.Sectors[0].Sector, CommR: commR}}}
	if err = engine.Verify(ctx, claim, other); err != nil {
		return fmt.Errorf("the other's proof: %w", err)
	}
	claim.Randomness[0] ^= 1
	if err = engine.Verify(ctx, claim, other); !errors.Is(err, cuzk.ErrInvalid) {
		return fmt.Errorf("the other's proof for another claim: %v", err)
	}
	return nil
}

func panics(engine *cuzk.Engine) error {
	for how := range 3 {
		for range 2 {
			if C.beside_panic(C.uint32_t(how)) != 1 {
				return fmt.Errorf("the other library didn't catch its panic %d", how)
			}
			if err := panicOurs(engine, how); err != nil {
				return err
			}
		}
	}
	return nil
}

func hash(text string) (out [32]byte) {
	if _, err := hex.Decode(out[:], []byte(text)); err != nil {
		panic(err)
	}
	return out
}

// inputs of a WinningPoSt at 2 KiB: the commitment and a challenged node, 66 times, 32 little-endian bytes each.
func inputs(randomness [32]byte, sector uint64, commR [32]byte) []byte {
	var all []byte
	for n := range uint64(66) {
		text := append(randomness[:31:31], randomness[31]&0x3f)
		text = binary.LittleEndian.AppendUint64(text, sector)
		text = binary.LittleEndian.AppendUint64(text, n)
		digest := sha256.Sum256(text)
		node := binary.LittleEndian.Uint64(digest[:]) % 64
		all = append(all, commR[:]...)
		all = append(binary.LittleEndian.AppendUint64(all, node), make([]byte, 24)...)
	}
	return all
}

// verifyBeside has the other library verify a proof and make another one of the same statement.
func verifyBeside(dir string, inputs, proof []byte) ([]byte, error) {
	keys, err := filepath.Glob(filepath.Join(dir, "params", "*fallback*8-0-0-3ea05428*.vk"))
	if err != nil || len(keys) != 1 {
		return nil, fmt.Errorf("WinningPoSt's verifying key: %v %w", keys, err)
	}
	key, err := os.ReadFile(keys[0])
	if err != nil {
		return nil, err
	}
	first := func(bytes []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(bytes)) }
	other := make([]byte, 192)
	verify := func(inputs []byte) bool {
		key, bytes := first(key), C.size_t(len(key))
		return C.beside_verify(key, bytes, first(inputs), C.size_t(len(inputs)), first(proof), first(other)) == 1
	}
	if !verify(inputs) {
		return nil, errors.New("the other library refuses our proof")
	}
	inputs[len(inputs)-32] ^= 1
	if verify(inputs) {
		return nil, errors.New("the other library takes our proof for other inputs")
	}
	return other, nil
}
