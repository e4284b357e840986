package cuzk

import "fmt"

// Kind is what a circuit proves.
type Kind uint32

// The kinds, numbered as in the C header.
const (
	KindPoRep       Kind = 1
	KindUpdate      Kind = 2
	KindWindowPoSt  Kind = 3
	KindWinningPoSt Kind = 4
)

// Kinds are all kinds.
var Kinds = [...]Kind{KindPoRep, KindUpdate, KindWindowPoSt, KindWinningPoSt}

var kindNames = [...]string{"none", "porep", "update", "windowpost", "winningpost"}

// String is the name for logs and metrics.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// Circuit is one constraint system: a kind at a sector size.
type Circuit struct {
	Kind Kind
	// SectorSize in bytes: 2 KiB, 8 MiB, 512 MiB, 32 GiB or 64 GiB.
	SectorSize uint64
}

// String is the name for logs and metrics.
func (c Circuit) String() string {
	if c.SectorSize == 0 {
		return c.Kind.String()
	}
	size, unit := c.SectorSize, "B"
	for _, next := range []string{"KiB", "MiB", "GiB"} {
		if size < 1024 || size%1024 != 0 {
			break
		}
		size, unit = size/1024, next
	}
	return fmt.Sprintf("%v %d %s", c.Kind, size, unit)
}
