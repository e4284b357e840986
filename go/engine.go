package cuzk

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// Engine is an open prover. All methods may be called from any goroutine.
type Engine struct {
	core *core
}

// Open opens the process's engine, one at a time. It opens devices but no circuit: see [Engine.Preload].
//
// Errors: ErrNotBuilt, ErrABIMismatch, ErrInvalid (names a field), ErrAlreadyOpen, ErrNoDevice, ErrInternal.
func Open(config Config) (*Engine, error) {
	return open(config, nativeOpen)
}

func open(config Config, native func(*Config) (uint64, error)) (*Engine, error) {
	id, err := native(&config)
	if err != nil {
		return nil, err
	}
	engine := &Engine{core: newCore(id, config)}
	// A backstop for callers that forget Close. Nothing that the core starts holds the engine.
	runtime.AddCleanup(engine, func(core *core) { go core.close() }, engine.core)
	return engine, nil
}

// Close ends every unfinished request with ErrClosed, stops the engine's threads, and waits for them, 5 s at most.
// A second call does nothing and gives the same result. Errors: ErrInternal names a thread that hangs and was left behind.
func (e *Engine) Close() error {
	defer runtime.KeepAlive(e)
	return e.core.close()
}

// Prove makes a proof and waits for it: first for a place in the queue if it is full, in the order of arrival, then for the
// proof. A context that ends returns at once; what runs for the request is dropped soon after. The request's bytes are
// copied when it is accepted.
//
// Errors: all of them, as [*Error]; a context's error is found by errors.Is, too.
func (e *Engine) Prove(ctx context.Context, request Request) (Proof, error) {
	defer runtime.KeepAlive(e)
	waiter, err := e.core.submit(ctx, request)
	if err != nil {
		return Proof{}, err
	}
	done, err := e.core.wait(ctx, waiter, nil)
	return done.proof, err
}

// TryProve is [Engine.Prove] that doesn't wait for a place: with a full queue it fails with ErrBusy.
func (e *Engine) TryProve(ctx context.Context, request Request) (Proof, error) {
	return e.tryBatch(ctx, []Request{request})[0].get()
}

// ProveBatch makes proofs of any kinds and waits for all of them. Requests are handed over together, so that partitions of
// one circuit are proved together; one that fails doesn't harm the others. Result i belongs to request i.
func (e *Engine) ProveBatch(ctx context.Context, requests []Request) []Result {
	results := e.tryBatch(ctx, requests)
	var busy sync.WaitGroup
	for i := range results {
		if !errors.Is(results[i].Err, ErrBusy) {
			continue
		}
		busy.Add(1)
		go func() {
			defer busy.Done()
			proof, err := e.Prove(ctx, requests[i])
			results[i] = Result{Proof: proof, Err: err}
		}()
	}
	busy.Wait()
	return results
}

func (r Result) get() (Proof, error) { return r.Proof, r.Err }

// tryBatch submits all requests in one call and waits for those that were accepted.
func (e *Engine) tryBatch(ctx context.Context, requests []Request) []Result {
	defer runtime.KeepAlive(e)
	results := make([]Result, len(requests))
	waiters := e.core.submitAll(ctx, requests)
	for i, waiter := range waiters {
		if waiter.err != nil {
			results[i].Err = waiter.err
			continue
		}
		done, err := e.core.wait(ctx, waiter, nil)
		results[i] = Result{Proof: done.proof, Err: err}
	}
	return results
}

// Verify checks a proof of all partitions by pairing, against public inputs that follow from the claim alone. It needs no
// vanilla proof and disturbs nothing. nil: the proof is valid.
// Errors: ErrInvalid if it isn't, or if the claim is malformed; ErrUnsupported; the ErrParams ones; ErrClosed; the context's.
func (e *Engine) Verify(ctx context.Context, claim Claim, proof []byte) error {
	defer runtime.KeepAlive(e)
	return e.core.verify(ctx, claim, proof)
}

// Preload opens a circuit, loads it on the devices that prove it, and waits until that is done. progress, unless it is nil,
// is called from this goroutine with percentages that never fall; 100 comes with success alone.
func (e *Engine) Preload(ctx context.Context, circuit Circuit, progress func(percent int)) error {
	defer runtime.KeepAlive(e)
	return e.core.command(ctx, progress, func(id, tag uint64) error { return nativePreload(id, circuit, tag) })
}

// Evict unloads a circuit everywhere once no request uses it, and waits until that is done.
func (e *Engine) Evict(ctx context.Context, circuit Circuit) error {
	defer runtime.KeepAlive(e)
	return e.core.command(ctx, nil, func(id, tag uint64) error { return nativeEvict(id, circuit, tag) })
}

// Trim unloads every circuit that no request uses, WinningPoSts' excepted, frees idle buffers, and waits for it.
func (e *Engine) Trim(ctx context.Context) error {
	defer runtime.KeepAlive(e)
	return e.core.command(ctx, nil, nativeTrim)
}

// Stats gives counters, gauges and health. Errors: ErrClosed.
func (e *Engine) Stats() (Stats, error) {
	defer runtime.KeepAlive(e)
	return e.core.stats()
}

// Health gives the state of health. Errors: ErrClosed.
func (e *Engine) Health() (Health, error) {
	stats, err := e.Stats()
	return stats.Health, err
}

// Cost gives what a request of this kind and sector size needs on this engine. Errors: ErrUnsupported, ErrClosed.
func (e *Engine) Cost(kind Kind, sectorSize uint64) (Cost, error) {
	defer runtime.KeepAlive(e)
	return e.core.cost(Circuit{Kind: kind, SectorSize: sectorSize})
}

// deadline of a request: its own, or the context's.
func deadline(ctx context.Context, request Request) time.Time {
	own := request.options().Deadline
	if theirs, ok := ctx.Deadline(); ok && (own.IsZero() || theirs.Before(own)) {
		return theirs
	}
	return own
}
