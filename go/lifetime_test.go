//go:build linux && amd64 && cgo && !nocuzk && cuzk_testing

package cuzk

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// threads of this process, as the kernel counts them.
func threads(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestWaitingCostsNoThreads(t *testing.T) {
	const calls = 5000
	engine := openTest(t, Config{QueueLen: calls}, echo{})
	if _, err := engine.Prove(within(t), update(0)); err != nil {
		t.Fatal(err)
	}
	base := threads(t)
	engine.mustInject(t, echoHoldProve, 1<<20)
	ctx, cancel := context.WithCancel(within(t))
	var group sync.WaitGroup
	var wrong atomic.Int64
	for i := range calls {
		group.Add(1)
		go func() {
			defer group.Done()
			if _, err := engine.Prove(ctx, update(i)); !errors.Is(err, context.Canceled) {
				wrong.Add(1)
			}
		}()
	}
	submitted := waitFor(calls+1, func() int { return int(engine.mustStats(t).Kinds[1].Submitted) })
	waiting := threads(t)
	cancel()
	group.Wait()
	cancelled := threads(t)
	limit := base + 2*runtime.GOMAXPROCS(0) + 4
	if submitted != calls+1 || wrong.Load() != 0 || waiting > limit || cancelled > limit {
		t.Errorf("%d submitted, %d returned something else; threads: %d waiting, %d after, %d before, at most %d",
			submitted, wrong.Load(), waiting, cancelled, base, limit)
	}
	// All of it comes back: the engine is as free as before.
	atRest := func() int {
		stats := engine.mustStats(t)
		return int(stats.Kinds[1].Queued + stats.Kinds[1].Running + stats.EventsWaiting)
	}
	if left := waitFor(0, atRest); left != 0 {
		t.Error(left, "requests are left")
	}
	engine.mustInject(t, echoHoldProve, 0)
	if _, err := engine.Prove(within(t), update(0)); err != nil {
		t.Error(err)
	}
}

func TestCloseUnderLoad(t *testing.T) {
	engine := openTest(t, Config{QueueLen: 4}, echo{})
	engine.mustInject(t, echoHoldProve, 1<<20)
	var group sync.WaitGroup
	for i := range 64 {
		group.Add(1)
		go func() {
			defer group.Done()
			request := samples()[i%4]
			if _, err := engine.Prove(within(t), request); !errors.Is(err, ErrClosed) {
				t.Errorf("%v: %v", request.Kind(), err)
			}
		}()
	}
	waitFor(16, func() int {
		queued := 0
		for _, kind := range engine.mustStats(t).Kinds {
			queued += int(kind.Submitted)
		}
		return min(queued, 16)
	})
	var closers sync.WaitGroup
	for range 3 {
		closers.Add(1)
		go func() {
			defer closers.Done()
			if err := engine.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	closers.Wait()
	group.Wait()
	if _, err := engine.Prove(within(t), update(0)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := engine.TryProve(within(t), update(0)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := engine.Stats(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := engine.Verify(within(t), UpdateClaim{}, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := engine.Trim(within(t)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestAForgottenEngineIsClosed(t *testing.T) {
	before := liveEngines()
	func() {
		engine, err := openEcho(Config{}, echo{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Prove(within(t), winning); err != nil {
			t.Fatal(err)
		}
	}()
	if waitFor(before, liveEngines) != before {
		t.Error("still open")
	}
}

func TestOneReleaseEngine(t *testing.T) {
	engine, err := Open(Config{Backend: BackendCPU})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Backend: BackendCPU}); !errors.Is(err, ErrAlreadyOpen) {
		t.Error(err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(Config{Threads: 1 << 20}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "threads") {
		t.Error(err)
	}
	if _, err := Open(Config{Backend: 77}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

func TestPanicsBecomeErrors(t *testing.T) {
	engine := openTest(t, Config{}, echo{})
	circuit := Circuit{KindUpdate, 2048}
	for export, call := range map[string]func() error{
		"cuzk_engine_open":    func() error { _, err := Open(Config{Backend: BackendCPU}); return err },
		"cuzk_engine_submit":  func() error { _, err := engine.TryProve(within(t), update(0)); return err },
		"cuzk_engine_stats":   func() error { _, err := engine.Stats(); return err },
		"cuzk_engine_cost":    func() error { _, err := engine.Cost(KindPoRep, 2048); return err },
		"cuzk_engine_preload": func() error { return engine.Preload(within(t), circuit, nil) },
		"cuzk_engine_evict":   func() error { return engine.Evict(within(t), circuit) },
		"cuzk_engine_trim":    func() error { return engine.Trim(within(t)) },
		"cuzk_verify":         func() error { return engine.Verify(within(t), UpdateClaim{}, nil) },
	} {
		if !panicIn(export) {
			t.Fatal(export)
		}
		if err := call(); !errors.Is(err, ErrInternal) || !strings.Contains(err.Error(), export) {
			t.Errorf("%s: %v", export, err)
		}
	}
	if _, err := engine.Prove(within(t), update(0)); err != nil {
		t.Error("after all that:", err)
	}
}

// TestWhatIsNoRequest is refused before anything is copied or counted.
func TestWhatIsNoRequest(t *testing.T) {
	engine := openTest(t, Config{}, echo{})
	long := WindowPoSt{ProofType: 10, VanillaProofs: make([][]byte, 1<<20)}
	for _, request := range []Request{nil, (*PoRep)(nil), &PoRep{}, struct{ Request }{}, long} {
		if _, err := engine.Prove(within(t), request); !errors.Is(err, ErrInvalid) {
			t.Errorf("%T: %v", request, err)
		}
		if err := engine.ProveBatch(within(t), []Request{request})[0].Err; !errors.Is(err, ErrInvalid) {
			t.Errorf("%T in a batch: %v", request, err)
		}
	}
	for _, claim := range []Claim{nil, (*PoRepClaim)(nil), WindowPoStClaim{Sectors: make([]Sector, 1<<20)}} {
		if err := engine.Verify(within(t), claim, nil); !errors.Is(err, ErrInvalid) {
			t.Errorf("%T: %v", claim, err)
		}
	}
	if err := engine.Verify(within(t), UpdateClaim{}, make([]byte, 1<<24)); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := Open(Config{Backend: BackendCPU, CPUFallback: FallbackTo(99)}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	request := update(0).(Update)
	request.Label = strings.Repeat("é", 1<<20)
	if _, err := engine.Prove(within(t), request); err != nil {
		t.Error("a long label:", err)
	}
}

// gated is a handler that waits for a gate before it takes a record.
type gated struct {
	slog.Handler
	gate  chan struct{}
	lines *atomic.Int64
}

func (g gated) Enabled(context.Context, slog.Level) bool { return true }

func (g gated) Handle(context.Context, slog.Record) error {
	<-g.gate
	g.lines.Add(1)
	return nil
}

func TestASlowLoggerHoldsNothingUp(t *testing.T) {
	handler := gated{gate: make(chan struct{}), lines: new(atomic.Int64)}
	engine := openTest(t, Config{Logger: slog.New(handler)}, echo{})
	engine.mustInject(t, echoWrongSums, 1)
	for i := range 4 {
		if _, err := engine.Prove(within(t), update(i)); err != nil {
			t.Fatal(err)
		}
	}
	close(handler.gate)
	waitFor(1, func() int { return int(min(handler.lines.Load(), 1)) })
	if handler.lines.Load() == 0 {
		t.Error("a failed check left no line in the log")
	}
}
