//go:build linux && amd64 && cgo && !nocuzk

package cuzk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	cuzk "github.com/cuzk-prover/cuzk/go"
	"github.com/cuzk-prover/cuzk/go/internal/inputs"
)

// demoFiles is the directory that CUZK_TEST_DIR names, with the demo's inputs, params/ and cache/.
func demoFiles(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("CUZK_TEST_DIR")
	if dir == "" {
		// Their SRS takes a minute of all cores and 2 GB: `make demo` makes it, and `make test-link`, which CI runs behind
		// it, names the directory, as a GPU bundle's run.sh does. `go test` alone has no such files.
		t.Skip("needs the SRS that `make demo` makes: CUZK_TEST_DIR=target/demo, as `make test-link` sets it")
	}
	return dir
}

// openReal opens an engine on the demo's files. CUZK_TEST_BACKEND chooses cpu (default) or cuda.
func openReal(t *testing.T) (*cuzk.Engine, string) {
	t.Helper()
	dir := demoFiles(t)
	backend := cuzk.BackendCPU
	if os.Getenv("CUZK_TEST_BACKEND") == "cuda" {
		backend = cuzk.BackendCUDA
	}
	engine, err := cuzk.Open(cuzk.Config{
		ParamDirs:          []string{filepath.Join(dir, "params")},
		CacheDir:           filepath.Join(dir, "cache"),
		Backend:            backend,
		AllowUnknownParams: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine, dir
}

// realRequests are the demo's inputs with what they claim; of PoSts alone with -short.
func realRequests(t *testing.T, dir string) (names []string, requests []cuzk.Request, claims []cuzk.Claim) {
	t.Helper()
	for _, name := range []string{"winning", "window", "update", "porep"} {
		input, err := inputs.Read(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() && input.Request.Kind() != cuzk.KindWinningPoSt && input.Request.Kind() != cuzk.KindWindowPoSt {
			continue
		}
		names, requests, claims = append(names, name), append(requests, input.Request), append(claims, input.Claim)
	}
	return names, requests, claims
}

// TestRealProofs proves the demo's inputs and verifies every proof against every claim.
func TestRealProofs(t *testing.T) {
	engine, dir := openReal(t)
	names, requests, claims := realRequests(t, dir)
	for i, result := range engine.ProveBatch(t.Context(), requests) {
		if result.Err != nil {
			t.Fatal(names[i], result.Err)
		}
		proof := result.Proof
		t.Logf("%s: %d bytes, %+v", names[i], len(proof.Bytes), proof.Timings)
		for k, claim := range claims {
			err := engine.Verify(t.Context(), claim, proof.Bytes)
			if i == k && err != nil || i != k && !errors.Is(err, cuzk.ErrInvalid) {
				t.Errorf("proof of %s, claim of %s: %v", names[i], names[k], err)
			}
		}
		for _, bytes := range [][]byte{nil, proof.Bytes[1:], make([]byte, 192), append(proof.Bytes, 0)} {
			if err := engine.Verify(t.Context(), claims[i], bytes); !errors.Is(err, cuzk.ErrInvalid) {
				t.Errorf("%d bytes of %s: %v", len(bytes), names[i], err)
			}
		}
	}
}

// residentBytes is what this process holds, once Go has given back what it doesn't need.
func residentBytes(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func statsOf(t *testing.T, engine *cuzk.Engine) cuzk.Stats {
	t.Helper()
	stats, err := engine.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestRealProofsStaySteady proves the demo's inputs in batches, on a GPU 25 times: no check fails, and after the second
// batch nothing more is asked of the driver and memory stays as it is.
func TestRealProofsStaySteady(t *testing.T) {
	engine, dir := openReal(t)
	names, requests, _ := realRequests(t, dir)
	rounds := 4
	if os.Getenv("CUZK_TEST_BACKEND") == "cuda" {
		rounds = 25
	}
	var warm cuzk.Stats
	var before int64
	for round := range rounds {
		for i, result := range engine.ProveBatch(t.Context(), requests) {
			if result.Err != nil {
				t.Fatalf("round %d: %s: %v", round, names[i], result.Err)
			}
		}
		if round == 1 {
			warm, before = statsOf(t, engine), residentBytes(t)
		}
	}
	stats, after := statsOf(t, engine), residentBytes(t)
	if c := stats.Counters; c.Redos+c.SelfCheckFailures+c.DeviceFaults+c.OutOfMemory+c.InternalErrors != 0 {
		t.Errorf("%+v", c)
	}
	if c := stats.Counters; c.PartitionsProved < uint64(rounds*len(requests)) || c.Loads != warm.Counters.Loads {
		t.Errorf("%+v, warm: %+v", c, warm.Counters)
	}
	if stats.DriverCalls != warm.DriverCalls {
		t.Errorf("%d calls to the driver, %d after the second batch", stats.DriverCalls, warm.DriverCalls)
	}
	if after > before+128<<20 {
		t.Errorf("%d bytes resident, %d after the second batch", after, before)
	}
	for _, device := range stats.Devices {
		t.Logf("%s: %d partitions, %+v", device.Name, device.Partitions, device.Phases)
	}
}

// TestFilesThatAreNotThere has a status of its own for each thing that is wrong with parameters.
func TestFilesThatAreNotThere(t *testing.T) {
	dir := demoFiles(t)
	input, err := inputs.Read(filepath.Join(dir, "winning.json"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := t.TempDir()
	params, err := filepath.Glob(filepath.Join(dir, "params", "v28-proof-of-spacetime-fallback-*-3ea05428*.params"))
	if err != nil || len(params) != 1 {
		t.Fatal(params, err)
	}
	if err := os.WriteFile(filepath.Join(damaged, filepath.Base(params[0])), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir     string
		unknown bool
		status  cuzk.Status
	}{
		{t.TempDir(), true, cuzk.ErrParamsMissing},
		{damaged, true, cuzk.ErrParamsCorrupt},
		{filepath.Join(dir, "params"), false, cuzk.ErrParamsUnknown},
	} {
		engine, err := cuzk.Open(cuzk.Config{
			ParamDirs:          []string{test.dir},
			Backend:            cuzk.BackendCPU,
			AllowUnknownParams: test.unknown,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Prove(t.Context(), input.Request); !errors.Is(err, test.status) {
			t.Errorf("Prove: %v instead of %v", err, test.status)
		}
		if err := engine.Verify(t.Context(), input.Claim, make([]byte, 192)); !errors.Is(err, test.status) {
			t.Errorf("Verify: %v instead of %v", err, test.status)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTheCallersBytesAreCopied overwrites a request as soon as the engine has accepted it.
func TestTheCallersBytesAreCopied(t *testing.T) {
	engine, dir := openReal(t)
	input, err := inputs.Read(filepath.Join(dir, "winning.json"))
	if err != nil {
		t.Fatal(err)
	}
	request := input.Request.(cuzk.WinningPoSt)
	done := make(chan error, 1)
	go func() {
		proof, err := engine.Prove(t.Context(), request)
		if err == nil {
			err = engine.Verify(t.Context(), input.Claim, proof.Bytes)
		}
		done <- err
	}()
	for submitted := uint64(0); submitted == 0; {
		stats, err := engine.Stats()
		if err != nil {
			t.Fatal(err)
		}
		submitted = stats.Kinds[3].Submitted
	}
	clear(request.VanillaProofs[0])
	runtime.GC()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
