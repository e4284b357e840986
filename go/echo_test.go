//go:build linux && amd64 && cgo && !nocuzk && cuzk_testing

package cuzk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// watchdog ends waits that would hang; nothing is measured against it.
const watchdog = time.Minute

// TestMain runs all tests and then looks for what they left behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if engines := waitFor(0, liveEngines); engines != 0 {
		fmt.Fprintln(os.Stderr, engines, "engines are still open")
		code = 1
	}
	if buffers := waitFor(0, liveBuffers); buffers != 0 {
		fmt.Fprintln(os.Stderr, buffers, "buffers were never freed")
		code = 1
	}
	os.Exit(code)
}

// waitFor waits until a count is what it should be, collecting garbage meanwhile, and gives the last count.
func waitFor(wanted int, count func() int) int {
	for end := time.Now().Add(watchdog); time.Now().Before(end) && count() != wanted; {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	return count()
}

func openTest(t *testing.T, config Config, options echo) *Engine {
	t.Helper()
	engine, err := openEcho(config, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	t.Cleanup(cancel)
	return ctx
}

func (e *Engine) mustInject(t *testing.T, what echoFaultKind, count int) {
	t.Helper()
	if err := e.inject(what, count); err != nil {
		t.Fatal(err)
	}
}

func (e *Engine) mustStats(t *testing.T) Stats {
	t.Helper()
	stats, err := e.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// samples are requests that pass every check of their structure.
func samples() []Request {
	return []Request{
		PoRep{Miner: 1000, Sector: 7, C1: []byte("c1"), Options: Options{Label: "sector 7"}},
		Update{ProofType: 0, CommROld: [32]byte{1}, VanillaProofs: [][]byte{[]byte("update")}},
		WindowPoSt{ProofType: 10, Miner: 1000, Partition: 3, VanillaProofs: [][]byte{[]byte("a"), []byte("b")}},
		winning,
	}
}

var winning = WinningPoSt{ProofType: 0, Miner: 1000, VanillaProofs: [][]byte{[]byte("winning")}}

func update(i int) Request {
	return Update{ProofType: 0, VanillaProofs: [][]byte{fmt.Appendf(nil, "update %d", i)}}
}

func TestProofsOfAllKinds(t *testing.T) {
	engine := openTest(t, Config{}, echo{})
	for i, result := range engine.ProveBatch(within(t), samples()) {
		proof := result.Proof
		if result.Err != nil {
			t.Fatal(Kinds[i], result.Err)
		}
		if proof.Circuit.Kind != Kinds[i] || proof.Partitions < 1 || len(proof.Bytes) != 192*proof.Partitions {
			t.Fatalf("%+v", proof)
		}
		if proof.Constraints == 0 || proof.Job == 0 || proof.Timings.Total <= 0 || proof.Timings.Prove <= 0 {
			t.Fatalf("%+v", proof)
		}
	}
	stats := engine.mustStats(t)
	for i, kind := range stats.Kinds {
		if kind.Submitted != 1 || kind.Proved != 1 || kind.Queued != 0 || kind.Running != 0 {
			t.Errorf("%v: %+v", Kinds[i], kind)
		}
	}
	if len(stats.Pools) == 0 || stats.Pools[0].Name == "" || stats.Pools[0].TotalBytes == 0 || len(stats.Devices) == 0 {
		t.Errorf("%+v", stats)
	}
	phases := stats.Devices[0].Phases
	if len(phases) == 0 || phases[0].Name == "" || phases[0].Count == 0 || phases[0].Sum <= 0 || stats.DriverCalls == 0 {
		t.Errorf("%+v", stats)
	}
	if stats.Synthesising+stats.WaitingForDevice+stats.Proving+stats.EventsWaiting != 0 {
		t.Errorf("gauges at rest: %+v", stats)
	}
}

func TestFaultsBecomeStatuses(t *testing.T) {
	for _, fault := range []struct {
		what   echoFaultKind
		status Status
	}{
		{echoWrongSums, ErrSelfCheck},
		{echoOpenFails, ErrParamsCorrupt},
		{echoInternal, ErrInternal},
		{echoBadWitness, ErrBadWitness},
		{echoBadRequest, ErrInvalid},
		{echoSynthesisPanics, ErrInternal},
	} {
		engine := openTest(t, Config{}, echo{})
		engine.mustInject(t, fault.what, 100)
		_, err := engine.Prove(within(t), update(0))
		if !errors.Is(err, fault.status) {
			t.Errorf("fault %d: %v instead of %v", fault.what, err, fault.status)
		}
		var failure *Error
		if !errors.As(err, &failure) || failure.Job == 0 || failure.Message == "" {
			t.Errorf("fault %d: %#v", fault.what, failure)
		}
	}
}

func TestADeviceThatIsLost(t *testing.T) {
	engine := openTest(t, Config{CPUFallback: FallbackTo()}, echo{})
	engine.mustInject(t, echoDeviceLost, 1)
	if _, err := engine.Prove(within(t), update(0)); !errors.Is(err, ErrDeviceLost) {
		t.Error(err)
	}
	health, err := engine.Health()
	if err != nil || health.Level != HealthFatal || health.Reasons == "" {
		t.Error(health, err)
	}
}

func TestMalformedRequests(t *testing.T) {
	engine := openTest(t, Config{}, echo{})
	for _, request := range []Request{
		nil,
		PoRep{},
		Update{ProofType: 5, VanillaProofs: [][]byte{{1}}},
		Update{ProofType: -1, VanillaProofs: [][]byte{{1}}},
		Update{},
		WindowPoSt{ProofType: 0, VanillaProofs: [][]byte{{1}}},
		WindowPoSt{ProofType: 10},
		WinningPoSt{ProofType: 10, VanillaProofs: [][]byte{{1}}},
		WinningPoSt{ProofType: 0, VanillaProofs: [][]byte{{1}, {2}}},
	} {
		_, err := engine.TryProve(within(t), request)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", request, err)
		}
		if _, err = engine.Prove(within(t), request); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", request, err)
		}
	}
	// A bad one harms no other of its batch.
	results := engine.ProveBatch(within(t), []Request{update(0), nil, PoRep{}, update(1)})
	for i, fails := range []bool{false, true, true, false} {
		if (results[i].Err != nil) != fails {
			t.Errorf("%d: %v", i, results[i].Err)
		}
	}
}

func TestAFullQueue(t *testing.T) {
	engine := openTest(t, Config{QueueLen: 1}, echo{})
	engine.mustInject(t, echoHoldProve, 1000)
	first := make(chan error, 1)
	go func() {
		_, err := engine.Prove(within(t), update(0))
		first <- err
	}()
	waitFor(1, func() int { return int(engine.mustStats(t).Kinds[1].Submitted) })
	if _, err := engine.TryProve(within(t), update(1)); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	// Reserved places: a WinningPoSt is accepted while updates are refused.
	ctx, cancel := context.WithCancel(within(t))
	accepted := make(chan error, 1)
	go func() {
		_, err := engine.TryProve(ctx, winning)
		accepted <- err
	}()
	if waitFor(1, func() int { return int(engine.mustStats(t).Kinds[3].Submitted) }) != 1 {
		t.Error("a WinningPoSt has no place")
	}
	cancel()
	if err := <-accepted; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Those that wait get their turn.
	results := make(chan []Result, 1)
	go func() { results <- engine.ProveBatch(within(t), []Request{update(1), update(2), update(3)}) }()
	engine.mustInject(t, echoHoldProve, 0)
	for _, result := range <-results {
		if result.Err != nil {
			t.Error(result.Err)
		}
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestContexts(t *testing.T) {
	engine := openTest(t, Config{}, echo{})
	ended, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the task was killed")
	cancel(why)
	if _, err := engine.Prove(ended, update(0)); !errors.Is(err, context.Canceled) || !errors.Is(err, why) ||
		!errors.Is(err, ErrCancelled) {
		t.Error(err)
	}
	if submitted := engine.mustStats(t).Kinds[1].Submitted; submitted != 0 {
		t.Error("submitted for a context that had ended")
	}
	// A held partition ends for nobody: only the context lets Prove return.
	engine.mustInject(t, echoHoldProve, 1000)
	late, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := engine.Prove(late, update(0)); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrDeadline) {
		t.Error(err)
	}
	own := Update{ProofType: 0, VanillaProofs: [][]byte{{1}}, Options: Options{Deadline: time.Now()}}
	if _, err := engine.Prove(within(t), own); !errors.Is(err, ErrDeadline) {
		t.Error(err)
	}
	if err := engine.Preload(ended, Circuit{KindPoRep, 2048}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	engine.mustInject(t, echoHoldProve, 0)
	if _, err := engine.Prove(within(t), update(1)); err != nil {
		t.Error("after all that:", err)
	}
}

func TestPreloadEvictTrim(t *testing.T) {
	engine := openTest(t, Config{}, echo{})
	circuit := Circuit{KindUpdate, 2048}
	var percents []int
	if err := engine.Preload(within(t), circuit, func(percent int) { percents = append(percents, percent) }); err != nil {
		t.Fatal(err)
	}
	for i, percent := range percents {
		if percent > 100 || i > 0 && percent < percents[i-1] {
			t.Error(percents)
		}
	}
	if len(percents) == 0 || percents[len(percents)-1] != 100 {
		t.Error(percents)
	}
	if resident := engine.mustStats(t).Resident; len(resident) != 1 || resident[0] != circuit {
		t.Error(resident)
	}
	if err := engine.Evict(within(t), circuit); err != nil {
		t.Error(err)
	}
	if err := engine.Evict(within(t), circuit); err != nil {
		t.Error("again:", err)
	}
	if resident := engine.mustStats(t).Resident; len(resident) != 0 {
		t.Error(resident)
	}
	if err := engine.Trim(within(t)); err != nil {
		t.Error(err)
	}
	if err := engine.Preload(within(t), Circuit{KindUpdate, 2049}, nil); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if err := engine.Evict(within(t), Circuit{9, 2048}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if cost, err := engine.Cost(KindPoRep, 32<<30); err != nil || cost.HostBytes == 0 || cost.DiskBytes < 40<<30 {
		t.Error(cost, err)
	}
	if _, err := engine.Cost(KindPoRep, 1); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}
