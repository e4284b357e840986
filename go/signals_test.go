//go:build linux && amd64 && cgo && !nocuzk && cuzk_testing

package cuzk

import (
	"io"
	"os"
	ossignal "os/signal"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// signalMasks are the kernel's lines about signals of this process: pending ones aside, blocked, ignored and caught.
func signalMasks(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	var masks []string
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "SigBlk") || strings.HasPrefix(line, "SigIgn") || strings.HasPrefix(line, "SigCgt") {
			masks = append(masks, strings.TrimSpace(line))
		}
	}
	return strings.Join(masks, ", ")
}

// TestSignals proves while signals rain, and finds the process's handlers as they were.
func TestSignals(t *testing.T) {
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	interrupted := make(chan os.Signal, 1)
	ossignal.Notify(interrupted, os.Interrupt)
	defer ossignal.Stop(interrupted)
	before := signalMasks(t)
	for again := signalMasks(t); again != before; again = signalMasks(t) {
		before = again // a handler ran: while it does, it blocks all signals
	}

	engine := openTest(t, Config{}, echo{})
	stop := make(chan struct{})
	var storm sync.WaitGroup
	for _, kind := range []syscall.Signal{syscall.SIGURG, syscall.SIGPROF} {
		storm.Add(1)
		go func() {
			defer storm.Done()
			for {
				select {
				case <-stop:
					return
				default:
					if err := syscall.Kill(syscall.Getpid(), kind); err != nil {
						t.Error(err)
						return
					}
				}
			}
		}()
	}
	for range 5 {
		for i, result := range engine.ProveBatch(within(t), samples()) {
			if result.Err != nil {
				t.Errorf("%v: %v", samples()[i].Kind(), result.Err)
			}
		}
	}
	close(stop)
	storm.Wait()
	// The last ones may still be in a handler.
	after := signalMasks(t)
	for until := within(t); after != before && until.Err() == nil; after = signalMasks(t) {
		time.Sleep(time.Millisecond)
	}
	if after != before {
		t.Errorf("signals before: %s; after: %s", before, after)
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-interrupted:
	case <-within(t).Done():
		t.Error("an interrupt doesn't reach Go any more")
	}
}
