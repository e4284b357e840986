package cuzk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"
)

// core is what an [Engine] and its goroutines share. The goroutines hold no Engine, so that one that nobody holds any more
// can be cleaned up.
//
// OS threads are bounded: the pump waits inside C in one, cancellations run one after another in a second, and every other
// call passes one of two gates as wide as GOMAXPROCS, of which verification, which may take a second, has its own. Waiting
// callers wait on channels.
type core struct {
	id        uint64
	config    Config
	gate      chan struct{}
	verifying chan struct{}
	// turns has a place per kind, taken while a request of that kind waits for room in the engine's queue: first come, first
	// served.
	turns [len(Kinds)]chan struct{}
	// freed gets a value, if there is room for one, when a request of the kind has ended.
	freed [len(Kinds)]chan struct{}

	mu      sync.Mutex
	waiters map[uint64]*waiter
	lastTag uint64
	// cancels are tags that nobody waits for any more; wake tells the canceller.
	cancels []uint64
	wake    chan struct{}

	closing  sync.Once
	closed   chan struct{}
	closeErr error
	pumped   chan struct{}
	logs     *logQueue
}

// waiter waits for the completion of one tag.
type waiter struct {
	tag      uint64
	kind     Kind
	done     chan completion
	progress chan int
	// err says why it was never accepted.
	err error
}

// completion is how a request ended.
type completion struct {
	proof Proof
	err   error
}

// retryAfter is how long a request waits for room before it tries again on its own: the engine is busy, too, when memory
// for waiting requests is short, and that comes back without a completion of the same kind.
const retryAfter = 100 * time.Millisecond

func newCore(id uint64, config Config) *core {
	c := &core{
		id:        id,
		config:    config,
		gate:      make(chan struct{}, runtime.GOMAXPROCS(0)),
		verifying: make(chan struct{}, runtime.GOMAXPROCS(0)),
		waiters:   make(map[uint64]*waiter),
		wake:      make(chan struct{}, 1),
		closed:    make(chan struct{}),
		pumped:    make(chan struct{}),
		logs:      newLogQueue(config.Logger),
	}
	for i := range c.turns {
		c.turns[i] = make(chan struct{}, 1)
		c.freed[i] = make(chan struct{}, 1)
	}
	go c.pump()
	go c.cancelAbandoned()
	return c
}

// enter passes the gate, leave gives the place back.
func (c *core) enter() { c.gate <- struct{}{} }
func (c *core) leave() { <-c.gate }

// close closes the engine once and waits for the pump.
func (c *core) close() error {
	c.closing.Do(func() {
		c.closeErr = nativeClose(c.id)
		<-c.pumped
		close(c.closed)
		c.logs.close()
	})
	<-c.closed
	return c.closeErr
}

// register makes a waiter under a new tag. A result can arrive before submit returns, so it exists before that.
func (c *core) register(kind Kind) *waiter {
	w := &waiter{kind: kind, done: make(chan completion, 1), progress: make(chan int, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastTag++
	w.tag = c.lastTag
	c.waiters[w.tag] = w
	return w
}

// name says in an error what was to be proved, if the engine hadn't found out yet. Waiters may share the error: a copy.
func (w *waiter) name(err error) error {
	failure, ok := err.(*Error)
	if !ok || failure.Circuit.Kind != 0 {
		return err
	}
	named := *failure
	named.Circuit.Kind = w.kind
	return &named
}

func (c *core) forget(w *waiter) {
	c.mu.Lock()
	delete(c.waiters, w.tag)
	c.mu.Unlock()
}

// submit waits for room if need be.
func (c *core) submit(ctx context.Context, request Request) (*waiter, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	if err := checkRequest(request); err != nil {
		return nil, err
	}
	i := kindIndex(request.Kind())
	select {
	case c.turns[i] <- struct{}{}:
		defer func() { <-c.turns[i] }()
	case <-ctx.Done():
		return nil, ended(ctx)
	case <-c.closed:
		return nil, ErrClosed
	}
	for {
		w := c.submitAll(ctx, []Request{request})[0]
		if !errors.Is(w.err, ErrBusy) {
			return w, w.err
		}
		timer := time.NewTimer(retryAfter)
		select {
		case <-c.freed[i]:
		case <-timer.C:
		case <-ctx.Done():
			return nil, ended(ctx)
		case <-c.closed:
			return nil, ErrClosed
		}
		timer.Stop()
	}
}

// submitAll submits in one call. Each waiter says in err if it wasn't accepted.
func (c *core) submitAll(ctx context.Context, requests []Request) []*waiter {
	waiters := make([]*waiter, len(requests))
	jobs := make([]job, 0, len(requests))
	for i, request := range requests {
		if err := checkRequest(request); err != nil {
			waiters[i] = &waiter{err: err}
			continue
		}
		waiters[i] = c.register(request.Kind())
		jobs = append(jobs, job{tag: waiters[i].tag, request: request, deadline: deadline(ctx, request)})
	}
	c.enter()
	errs := nativeSubmit(c.id, jobs)
	c.leave()
	for _, w := range waiters {
		if w.err == nil {
			w.err, errs = w.name(errs[0]), errs[1:]
			if w.err != nil {
				c.forget(w)
			}
		}
	}
	return waiters
}

// wait waits for a completion, for the context, or for the end of the engine.
func (c *core) wait(ctx context.Context, w *waiter, progress func(int)) (completion, error) {
	for {
		select {
		case done := <-w.done:
			if progress != nil && done.err == nil {
				progress(100)
			}
			return done, w.name(done.err)
		case percent := <-w.progress:
			if progress != nil && percent < 100 {
				progress(percent)
			}
		case <-ctx.Done():
			c.abandon(w)
			return completion{}, ended(ctx)
		}
	}
}

// abandon leaves a tag to the canceller.
func (c *core) abandon(w *waiter) {
	c.mu.Lock()
	_, waiting := c.waiters[w.tag]
	delete(c.waiters, w.tag)
	if waiting {
		c.cancels = append(c.cancels, w.tag)
	}
	c.mu.Unlock()
	if waiting {
		signal(c.wake)
	}
}

func (c *core) cancelAbandoned() {
	for {
		select {
		case <-c.wake:
		case <-c.pumped:
			return
		}
		c.mu.Lock()
		tags := c.cancels
		c.cancels = nil
		c.mu.Unlock()
		for _, tag := range tags {
			// A tag that has ended meanwhile is no error, and a closed engine has ended them all.
			_ = nativeCancel(c.id, tag)
		}
	}
}

// command runs a preload, evict or trim.
func (c *core) command(ctx context.Context, progress func(int), start func(id, tag uint64) error) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	w := c.register(0)
	c.enter()
	err := start(c.id, w.tag)
	c.leave()
	if err != nil {
		c.forget(w)
		return err
	}
	_, err = c.wait(ctx, w, progress)
	return err
}

func (c *core) verify(ctx context.Context, claim Claim, proof []byte) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if err := checkClaim(claim); err != nil {
		return err
	}
	if len(proof) > maxProofBytes {
		return invalid("proof", fmt.Sprintf("%d bytes, at most %d are read", len(proof), maxProofBytes))
	}
	select {
	case <-c.closed:
		return ErrClosed
	default:
	}
	select {
	case c.verifying <- struct{}{}:
	case <-ctx.Done():
		return ended(ctx)
	case <-c.closed:
		return ErrClosed
	}
	// The goroutine may outlast a context that ends; the caller's bytes must not change under it.
	proof = append([]byte(nil), proof...)
	done := make(chan error, 1)
	go func() {
		defer func() { <-c.verifying }()
		done <- nativeVerify(claim, proof, &c.config)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ended(ctx)
	}
}

func (c *core) stats() (Stats, error) {
	c.enter()
	defer c.leave()
	stats, err := nativeStats(c.id)
	stats.Counters.LogsDropped += c.logs.dropped.Load()
	return stats, err
}

func (c *core) cost(circuit Circuit) (Cost, error) {
	c.enter()
	defer c.leave()
	return nativeCost(c.id, circuit)
}

// kindIndex is the kind's place in [Kinds].
func kindIndex(kind Kind) int {
	return int(kind) - 1
}

// signal puts a value into a channel with room for one, if there is none.
func signal(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

// discard is where logs go without a logger.
var discard = slog.New(slog.DiscardHandler)
