package cuzk

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// eventKind tells events apart; numbered as in the C header.
type eventKind uint32

const (
	eventNone       eventKind = 0
	eventCompletion eventKind = 1
	eventLog        eventKind = 2
	eventProgress   eventKind = 3
	eventHealth     eventKind = 4
)

// event is what the engine tells, in Go's memory.
type event struct {
	kind    eventKind
	tag     uint64
	done    completion
	percent int
	health  Health
	record  record
}

// record is one line of the log.
type record struct {
	time    time.Time
	level   slog.Level
	target  string
	message string
}

// pump takes every event from the engine until it is closed. It is the only goroutine that waits inside C.
func (c *core) pump() {
	defer close(c.pumped)
	for {
		next, err := nativeNext(c.id)
		if err != nil {
			c.failAll(err)
			return
		}
		switch next.kind {
		case eventCompletion:
			c.complete(next.tag, next.done)
		case eventProgress:
			c.progress(next.tag, next.percent)
		case eventLog:
			c.logs.add(next.record)
		case eventHealth:
			c.logs.add(healthRecord(next.health))
		}
	}
}

// complete hands a completion to whoever waits for it. Nobody does if it was abandoned.
func (c *core) complete(tag uint64, done completion) {
	c.mu.Lock()
	w := c.waiters[tag]
	delete(c.waiters, tag)
	c.mu.Unlock()
	if w != nil {
		w.done <- done
	}
	for _, freed := range c.freed {
		signal(freed)
	}
}

// progress replaces a percentage that nobody has looked at.
func (c *core) progress(tag uint64, percent int) {
	c.mu.Lock()
	w := c.waiters[tag]
	c.mu.Unlock()
	if w == nil {
		return
	}
	select {
	case <-w.progress:
	default:
	}
	w.progress <- percent
}

func (c *core) failAll(err error) {
	c.mu.Lock()
	waiters := c.waiters
	c.waiters = make(map[uint64]*waiter)
	c.mu.Unlock()
	for _, w := range waiters {
		w.done <- completion{err: err}
	}
}

func healthRecord(health Health) record {
	level := slog.LevelInfo
	switch health.Level {
	case HealthDegraded:
		level = slog.LevelWarn
	case HealthFatal:
		level = slog.LevelError
	}
	return record{time.Now(), level, "cuzk::health", "health is " + health.Level.String() + ": " + health.Reasons}
}

// logQueue keeps the pump from waiting for a slow handler: records that don't fit are dropped and counted.
type logQueue struct {
	logger  *slog.Logger
	records chan record
	dropped atomic.Uint64
}

const logQueueLen = 1024

func newLogQueue(logger *slog.Logger) *logQueue {
	if logger == nil {
		logger = discard
	}
	q := &logQueue{logger: logger, records: make(chan record, logQueueLen)}
	go q.drain()
	return q
}

func (q *logQueue) add(r record) {
	select {
	case q.records <- r:
	default:
		q.dropped.Add(1)
	}
}

// close lets drain end when it has written what waits. The pump has ended: nothing is added any more.
func (q *logQueue) close() { close(q.records) }

func (q *logQueue) drain() {
	ctx := context.Background()
	for r := range q.records {
		if !q.logger.Enabled(ctx, r.level) {
			continue
		}
		line := slog.NewRecord(r.time, r.level, r.message, 0)
		line.AddAttrs(slog.String("target", r.target))
		// A handler's error is its own: there is no log left to write it to.
		_ = q.logger.Handler().Handle(ctx, line)
	}
}
