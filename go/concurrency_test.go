//go:build linux && amd64 && cgo && !nocuzk && cuzk_testing

package cuzk

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// atRest waits until nothing is under way and says whether that came.
func atRest(t *testing.T, engine *Engine) bool {
	t.Helper()
	busy := func() int {
		stats := engine.mustStats(t)
		left := stats.Synthesising + stats.WaitingForDevice + stats.Proving + stats.EventsWaiting
		for _, kind := range stats.Kinds {
			left += kind.Queued + kind.Running
		}
		return int(left)
	}
	return waitFor(0, busy) == 0
}

// Labels are the same everywhere: only tags and numbers tell requests apart.
func TestManyGoroutinesWithOneLabel(t *testing.T) {
	engine := openTest(t, Config{QueueLen: 8}, echo{devices: 2})
	var group sync.WaitGroup
	var mu sync.Mutex
	jobs := map[uint64]bool{}
	for g := range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			for round := range 20 {
				// A PoRep has ten partitions here: one a goroutine is enough.
				request := samples()[(g+round)%4]
				if round > 3 && request.Kind() == KindPoRep {
					request = winning
				}
				proof, err := engine.Prove(within(t), request)
				if err != nil || proof.Circuit.Kind != request.Kind() || len(proof.Bytes) != 192*proof.Partitions {
					t.Errorf("%v: %v %v", request.Kind(), proof.Circuit, err)
					return
				}
				mu.Lock()
				if jobs[proof.Job] {
					t.Errorf("job %d came twice", proof.Job)
				}
				jobs[proof.Job] = true
				mu.Unlock()
			}
		}()
	}
	group.Wait()
	if len(jobs) != 320 || !atRest(t, engine) {
		t.Errorf("%d jobs; %+v", len(jobs), engine.mustStats(t))
	}
}

func TestCancellingAtAnyMoment(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	engine := openTest(t, Config{}, echo{partitionTime: 2 * time.Millisecond})
	var group sync.WaitGroup
	for i := range 200 {
		delay := time.Duration(random.Int64N(int64(40 * time.Millisecond)))
		request := samples()[i%4]
		group.Add(1)
		go func() {
			defer group.Done()
			ctx, cancel := context.WithCancel(within(t))
			defer cancel()
			time.AfterFunc(delay, cancel)
			if _, err := engine.Prove(ctx, request); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}()
	}
	group.Wait()
	if !atRest(t, engine) {
		t.Errorf("%+v", engine.mustStats(t))
	}
	for _, result := range engine.ProveBatch(within(t), samples()) {
		if result.Err != nil {
			t.Error("after all that:", result.Err)
		}
	}
}

func TestOneThread(t *testing.T) {
	engine := openTest(t, Config{Threads: 1}, echo{})
	for i, result := range engine.ProveBatch(within(t), append(samples(), samples()...)) {
		if result.Err != nil {
			t.Error(i, result.Err)
		}
	}
}
