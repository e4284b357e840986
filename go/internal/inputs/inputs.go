// Package inputs reads the files that `cuzk gen-vanilla` writes: a request with the public inputs that its proof is verified
// against. docs/FORMATS.md describes them.
package inputs

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

// Input is one file.
type Input struct {
	Request cuzk.Request
	Claim   cuzk.Claim
}

// file is the JSON of all kinds; base64 is Go's form of []byte.
type file struct {
	Kind          string
	Proof         string
	Miner         uint64
	Sector        uint64
	C1            []byte
	CommROld      hash `json:"comm_r_old"`
	CommRNew      hash `json:"comm_r_new"`
	CommDNew      hash `json:"comm_d_new"`
	Randomness    hash
	Partition     uint32
	Sectors       []sector
	VanillaProofs [][]byte `json:"vanilla_proofs"`
}

type sector struct {
	Sector uint64
	CommR  hash `json:"comm_r"`
}

// hash is 32 bytes in hex.
type hash [32]byte

func (h *hash) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(h) {
		return fmt.Errorf("%d characters of hex instead of 64", len(text))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Read reads a file.
func Read(path string) (Input, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Input{}, err
	}
	var from file
	if err = json.Unmarshal(text, &from); err != nil {
		return Input{}, fmt.Errorf("%s: %w", path, err)
	}
	input, err := from.input()
	if err != nil {
		return Input{}, fmt.Errorf("%s: %w", path, err)
	}
	return input, nil
}

func (f *file) input() (Input, error) {
	switch f.Kind {
	case "porep":
		claim, err := f.porepClaim()
		return Input{cuzk.PoRep{Miner: f.Miner, Sector: f.Sector, C1: f.C1}, claim}, err
	case "update":
		proof, _, err := registered(f.Proof)
		claim := cuzk.UpdateClaim{ProofType: proof, CommROld: f.CommROld, CommRNew: f.CommRNew, CommDNew: f.CommDNew}
		return Input{cuzk.Update{
			ProofType:     proof,
			CommROld:      claim.CommROld,
			CommRNew:      claim.CommRNew,
			CommDNew:      claim.CommDNew,
			VanillaProofs: f.VanillaProofs,
		}, claim}, err
	case "post":
		return f.post()
	default:
		return Input{}, fmt.Errorf("kind %q", f.Kind)
	}
}

func (f *file) post() (Input, error) {
	proof, isWindow, err := registered(f.Proof)
	sectors := make([]cuzk.Sector, len(f.Sectors))
	for i, s := range f.Sectors {
		sectors[i] = cuzk.Sector{Number: s.Sector, CommR: s.CommR}
	}
	if !isWindow {
		return Input{
			cuzk.WinningPoSt{ProofType: proof, Miner: f.Miner, Randomness: f.Randomness, VanillaProofs: f.VanillaProofs},
			cuzk.WinningPoStClaim{ProofType: proof, Randomness: f.Randomness, Sectors: sectors},
		}, err
	}
	return Input{cuzk.WindowPoSt{
		ProofType:     proof,
		Miner:         f.Miner,
		Randomness:    f.Randomness,
		Partition:     f.Partition,
		VanillaProofs: f.VanillaProofs,
	}, cuzk.WindowPoStClaim{ProofType: proof, Randomness: f.Randomness, Partition: f.Partition, Sectors: sectors}}, err
}

// porepClaim takes the claim from the C1 output, whose hashes are arrays of numbers.
func (f *file) porepClaim() (cuzk.PoRepClaim, error) {
	var c1 struct {
		RegisteredProof string    `json:"registered_proof"`
		CommR           [32]uint8 `json:"comm_r"`
		CommD           [32]uint8 `json:"comm_d"`
		Ticket          [32]uint8
		Seed            [32]uint8
	}
	if err := json.Unmarshal(f.C1, &c1); err != nil {
		return cuzk.PoRepClaim{}, fmt.Errorf("c1: %w", err)
	}
	proof, _, err := registered(c1.RegisteredProof)
	return cuzk.PoRepClaim{
		ProofType: proof,
		Miner:     f.Miner,
		Sector:    f.Sector,
		CommR:     c1.CommR,
		CommD:     c1.CommD,
		Ticket:    c1.Ticket,
		Seed:      c1.Seed,
	}, err
}

var (
	registeredName = regexp.MustCompile(`^StackedDrg(Winning|Window|)(2KiB|8MiB|512MiB|32GiB|64GiB)(V1\w*)$`)
	sizes          = []string{"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"}
	// firstNumbers are the numbers of the smallest size, by the name's other parts.
	firstNumbers = map[string]int64{
		"V1": 0, "V1_1": 5, "V1_1_Feat_SyntheticPoRep": 10, "WinningV1": 0, "WindowV1": 5, "WindowV1_2": 10,
	}
)

// registered gives the number of a registered proof in go-state-types from its name in filecoin-proofs-api, and whether it
// is a WindowPoSt.
func registered(name string) (number int64, isWindow bool, err error) {
	parts := registeredName.FindStringSubmatch(name)
	if parts == nil {
		return 0, false, fmt.Errorf("registered proof %s", strconv.Quote(name))
	}
	first, known := firstNumbers[parts[1]+parts[3]]
	if !known {
		return 0, false, fmt.Errorf("registered proof %s", strconv.Quote(name))
	}
	return first + int64(slices.Index(sizes, parts[2])), parts[1] == "Window", nil
}
