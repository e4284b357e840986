// Guest shows that the library is a guest in its process: it makes ten proofs and looks whether the process is as before.
// Arguments: the demo's directory and a directory for caches. scripts/strace-check.sh watches it from outside.
// A third argument, exit or return, ends the process so in the middle of a proof, without closing the engine; one makes one
// small proof (scripts/old-cpu-check.sh).
package main

/*
#include <stddef.h>

extern char **environ;

static char const *variable(size_t i) { return environ[i]; }
*/
import "C"

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	cuzk "github.com/cuzk-prover/cuzk/go"
	"github.com/cuzk-prover/cuzk/go/internal/inputs"
)

func main() {
	if err := run(os.Args[1], os.Args[2], strings.Join(os.Args[3:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}

func run(dir, cache, way string) error {
	before, err := process()
	if err != nil {
		return err
	}
	name, count := "winning.json", 10
	if way == "one" {
		name, count = "window.json", 1
	}
	input, err := inputs.Read(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	engine, err := cuzk.Open(cuzk.Config{
		ParamDirs:          []string{filepath.Join(dir, "params")},
		CacheDir:           cache,
		Backend:            cuzk.BackendCPU,
		AllowUnknownParams: true,
	})
	if err != nil {
		return err
	}
	if way == "exit" || way == "return" {
		leave(engine, input.Request, way)
		return nil
	}
	requests := make([]cuzk.Request, count)
	for i := range requests {
		requests[i] = input.Request
	}
	for _, result := range engine.ProveBatch(context.Background(), requests) {
		if result.Err != nil {
			return result.Err
		}
		if err := engine.Verify(context.Background(), input.Claim, result.Proof.Bytes); err != nil {
			return err
		}
	}
	if err := engine.Close(); err != nil {
		return err
	}
	after, err := process()
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		return fmt.Errorf("the process has changed from %q to %q", before, after)
	}
	return nil
}

// leave begins a proof and doesn't wait for it.
func leave(engine *cuzk.Engine, request cuzk.Request, way string) {
	go engine.Prove(context.Background(), request)
	for {
		if stats, err := engine.Stats(); err != nil || stats.Kinds[3].Running > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if way == "exit" {
		os.Exit(7)
	}
}

var signals = regexp.MustCompile(`(?m)^(Sig(Ign|Cgt)|ShdPnd):.*$`)

// process is the environment as C has it, the working directory, and which signals are caught and ignored.
func process() ([]byte, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	parts := append(signals.FindAll(status, -1), []byte(dir))
	for i := C.size_t(0); C.variable(i) != nil; i++ {
		parts = append(parts, []byte(C.GoString(C.variable(i))))
	}
	return bytes.Join(parts, []byte("\n")), nil
}
