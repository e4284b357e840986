//go:build linux && amd64 && cgo && !nocuzk

package cuzk

// #include <cuzk.h>
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// pins keeps what C structs in Go's memory point to in its place until the call is over.
type pins struct {
	runtime.Pinner
}

func mismatch(format string, args ...any) error {
	return &Error{Status: ErrABIMismatch, Message: fmt.Sprintf(format, args...)}
}

func (p *pins) bytes(bytes []byte) C.cuzk_bytes_t {
	if len(bytes) == 0 {
		return C.cuzk_bytes_t{}
	}
	first := unsafe.SliceData(bytes)
	p.Pin(first)
	return C.cuzk_bytes_t{ptr: (*C.uint8_t)(first), len: C.uint64_t(len(bytes))}
}

// text copies: a string may lie where nothing can be pinned.
func (p *pins) text(text string) C.cuzk_bytes_t { return p.bytes([]byte(text)) }

// hash copies, too: the array is a field of a value.
func (p *pins) hash(hash [32]byte) C.cuzk_bytes_t { return p.bytes(hash[:]) }

func pinList[T any](p *pins, list []T) (*T, C.uint64_t) {
	if len(list) == 0 {
		return nil, 0
	}
	first := unsafe.SliceData(list)
	p.Pin(first)
	return first, C.uint64_t(len(list))
}

func pinValue[T any](p *pins, value T) *T {
	pinned := new(T)
	*pinned = value
	p.Pin(pinned)
	return pinned
}

func (p *pins) lists(list [][]byte) (*C.cuzk_bytes_t, C.uint64_t) {
	elements := make([]C.cuzk_bytes_t, len(list))
	for i, bytes := range list {
		elements[i] = p.bytes(bytes)
	}
	return pinList(p, elements)
}

func (p *pins) texts(list []string) (*C.cuzk_bytes_t, C.uint64_t) {
	elements := make([]C.cuzk_bytes_t, len(list))
	for i, text := range list {
		elements[i] = p.text(text)
	}
	return pinList(p, elements)
}

func flag(set bool) C.uint32_t {
	if set {
		return 1
	}
	return 0
}

func (p *pins) config(config *Config) C.cuzk_config_t {
	native := C.cuzk_config_t{
		struct_size:          C.sizeof_cuzk_config_t,
		abi_version:          C.CUZK_ABI_VERSION,
		backend:              C.uint32_t(config.Backend),
		cache_dir:            p.text(config.CacheDir),
		host_memory_bytes:    C.uint64_t(config.HostMemoryBytes),
		pinned_memory_bytes:  C.uint64_t(config.PinnedMemoryBytes),
		device_memory_bytes:  C.uint64_t(config.DeviceMemoryBytes),
		device_reserve_bytes: C.uint64_t(config.DeviceReserveBytes),
		threads:              C.uint32_t(config.Threads),
		queue_len:            C.uint32_t(config.QueueLen),
		srs_check:            C.uint32_t(config.SRSCheck),
		log_level:            C.uint32_t(logLevel(config.Logger)),
		cpu_fallback:         C.uint32_t(config.CPUFallback.kinds),
		allow_unknown_params: flag(config.AllowUnknownParams),
	}
	native.param_dirs, native.param_dir_count = p.texts(config.ParamDirs)
	native.devices, native.device_count = p.texts(config.Devices)
	native.reserved_devices, native.reserved_device_count = p.texts(config.ReservedDevices)
	return native
}

func (p *pins) vkSource(config *Config) C.cuzk_vk_source_t {
	native := C.cuzk_vk_source_t{
		struct_size:          C.sizeof_cuzk_vk_source_t,
		allow_unknown_params: C.uint64_t(flag(config.AllowUnknownParams)),
	}
	native.param_dirs, native.param_dir_count = p.texts(config.ParamDirs)
	return native
}

// request is given what checkRequest has passed.
func (p *pins) request(job job) C.cuzk_request_t {
	native := C.cuzk_request_t{
		struct_size: C.sizeof_cuzk_request_t,
		tag:         C.uint64_t(job.tag),
		deadline_ms: C.uint64_t(milliseconds(job.deadline)),
		label:       p.text(label(job.request)),
	}
	switch request := job.request.(type) {
	case PoRep:
		native.porep = pinValue(p, C.cuzk_porep_t{
			struct_size: C.sizeof_cuzk_porep_t,
			miner:       C.uint64_t(request.Miner),
			sector:      C.uint64_t(request.Sector),
			c1:          p.bytes(request.C1),
		})
	case Update:
		native.update = pinValue(p, p.update(&request))
	case WindowPoSt:
		native.window_post = pinValue(p, p.post(request.ProofType, request.Miner, request.Randomness,
			request.Partition, request.VanillaProofs))
	case WinningPoSt:
		native.winning_post = pinValue(p, p.post(request.ProofType, request.Miner, request.Randomness, 0,
			request.VanillaProofs))
	}
	return native
}

// label is cut to what can be kept of it.
func label(request Request) string {
	label := request.options().Label
	if len(label) > maxListed {
		label = strings.ToValidUTF8(label[:maxListed], "")
	}
	return label
}

func (p *pins) update(request *Update) C.cuzk_update_t {
	native := C.cuzk_update_t{
		struct_size: C.sizeof_cuzk_update_t,
		proof_type:  C.int64_t(request.ProofType),
		comm_r_old:  p.hash(request.CommROld),
		comm_r_new:  p.hash(request.CommRNew),
		comm_d_new:  p.hash(request.CommDNew),
	}
	native.vanilla_proofs, native.vanilla_proof_count = p.lists(request.VanillaProofs)
	return native
}

func (p *pins) post(proof int64, miner uint64, randomness [32]byte, partition uint32, list [][]byte) C.cuzk_post_t {
	native := C.cuzk_post_t{
		struct_size: C.sizeof_cuzk_post_t,
		proof_type:  C.int64_t(proof),
		miner:       C.uint64_t(miner),
		randomness:  p.hash(randomness),
		partition:   C.uint64_t(partition),
	}
	native.vanilla_proofs, native.vanilla_proof_count = p.lists(list)
	return native
}

// claim is given what checkClaim has passed.
func (p *pins) claim(claim Claim) C.cuzk_claim_t {
	native := C.cuzk_claim_t{struct_size: C.sizeof_cuzk_claim_t}
	switch claim := claim.(type) {
	case PoRepClaim:
		native.porep = pinValue(p, C.cuzk_porep_claim_t{
			struct_size: C.sizeof_cuzk_porep_claim_t,
			proof_type:  C.int64_t(claim.ProofType),
			miner:       C.uint64_t(claim.Miner),
			sector:      C.uint64_t(claim.Sector),
			comm_r:      p.hash(claim.CommR),
			comm_d:      p.hash(claim.CommD),
			ticket:      p.hash(claim.Ticket),
			seed:        p.hash(claim.Seed),
		})
	case UpdateClaim:
		native.update = pinValue(p, C.cuzk_update_claim_t{
			struct_size: C.sizeof_cuzk_update_claim_t,
			proof_type:  C.int64_t(claim.ProofType),
			comm_r_old:  p.hash(claim.CommROld),
			comm_r_new:  p.hash(claim.CommRNew),
			comm_d_new:  p.hash(claim.CommDNew),
		})
	case WindowPoStClaim:
		native.window_post = pinValue(p, p.postClaim(claim.ProofType, claim.Randomness, claim.Partition, claim.Sectors))
	case WinningPoStClaim:
		native.winning_post = pinValue(p, p.postClaim(claim.ProofType, claim.Randomness, 0, claim.Sectors))
	}
	return native
}

func (p *pins) postClaim(proof int64, randomness [32]byte, partition uint32, sectors []Sector) C.cuzk_post_claim_t {
	elements := make([]C.cuzk_sector_t, len(sectors))
	for i, sector := range sectors {
		elements[i] = C.cuzk_sector_t{sector: C.uint64_t(sector.Number), comm_r: p.hash(sector.CommR)}
	}
	native := C.cuzk_post_claim_t{
		struct_size: C.sizeof_cuzk_post_claim_t,
		proof_type:  C.int64_t(proof),
		randomness:  p.hash(randomness),
		partition:   C.uint64_t(partition),
	}
	native.sectors, native.sector_count = pinList(p, elements)
	return native
}
