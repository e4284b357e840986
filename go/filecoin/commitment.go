package filecoin

import (
	"fmt"

	"github.com/ipfs/go-cid"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

// commitmentKind is the codec and the hash of a commitment's CID, numbered as in the multicodec table.
type commitmentKind struct {
	codec, hash uint64
}

var (
	// fil-commitment-sealed, poseidon-bls12_381-a2-fc1.
	replicaCommitment = commitmentKind{0xf102, 0xb401}
	// fil-commitment-unsealed, sha2-256-trunc254-padded.
	dataCommitment = commitmentKind{0xf101, 0x1012}
)

// bytes of the commitment that a CID names.
func (k commitmentKind) bytes(c cid.Cid) ([32]byte, error) {
	fail := func(format string, args ...any) ([32]byte, error) {
		message := fmt.Sprintf("commitment %v: ", c) + fmt.Sprintf(format, args...)
		return [32]byte{}, &cuzk.Error{Status: cuzk.ErrInvalid, Message: message}
	}
	if !c.Defined() {
		return fail("an undefined CID")
	}
	prefix := c.Prefix()
	if prefix.Codec != k.codec || prefix.MhType != k.hash || prefix.MhLength != 32 {
		return fail("codec %#x with hash %#x of %d bytes instead of %#x with %#x of 32", prefix.Codec, prefix.MhType,
			prefix.MhLength, k.codec, k.hash)
	}
	hash := c.Hash()
	return [32]byte(hash[len(hash)-32:]), nil
}
