// Demo proves one batch of all four kinds and has every proof verified by filecoin-proofs in a process of its own:
//
//	go run ./examples/demo --dir ../target/demo --tool ../target/release/cuzk
//
// The directory holds what `cuzk gen-vanilla` and `cuzk setup` made; `make demo` does all of it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	cuzk "github.com/cuzk-prover/cuzk/go"
	"github.com/cuzk-prover/cuzk/go/internal/inputs"
)

func main() {
	dir := flag.String("dir", "target/demo", "directory of inputs, params/ and cache/")
	tool := flag.String("tool", "target/release/cuzk", "the tool that verifies")
	name := flag.String("backend", "cpu", "cpu or cuda")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	backend, ok := map[string]cuzk.Backend{"cpu": cuzk.BackendCPU, "cuda": cuzk.BackendCUDA}[*name]
	if !ok {
		fmt.Fprintln(os.Stderr, "demo: --backend is cpu or cuda")
		os.Exit(2)
	}
	if err := run(ctx, *dir, *tool, backend); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

var names = []string{"porep", "update", "window", "winning"}

func run(ctx context.Context, dir, tool string, backend cuzk.Backend) error {
	engine, err := cuzk.Open(cuzk.Config{
		ParamDirs:          []string{filepath.Join(dir, "params")},
		CacheDir:           filepath.Join(dir, "cache"),
		Backend:            backend,
		AllowUnknownParams: true, // the demo's own, insecure SRS
		Logger:             slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer engine.Close()

	requests := make([]cuzk.Request, len(names))
	for i, name := range names {
		input, err := inputs.Read(filepath.Join(dir, name+".json"))
		if err != nil {
			return err
		}
		requests[i] = input.Request
	}
	fmt.Printf("one batch of all kinds at 2 KiB, on %s\n", devices(engine))
	start := time.Now()
	results := engine.ProveBatch(ctx, requests)
	fmt.Printf("%.1f s for the batch\n\n", time.Since(start).Seconds())

	fmt.Printf("%-12s%11s%13s%7s%8s%8s%8s%11s%8s%8s%8s  %s\n", "kind", "partitions", "constraints", "bytes", "queue", "open",
		"check", "synthesis", "wait", "prove", "finish", "filecoin-proofs says")
	for i, name := range names {
		if err := show(ctx, dir, tool, name, results[i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// show writes the proof, has it verified, and prints a line.
func show(ctx context.Context, dir, tool, name string, result cuzk.Result) error {
	proof, err := result.Proof, result.Err
	if err != nil {
		return err
	}
	file := filepath.Join(dir, name+".proof")
	if err := os.WriteFile(file, proof.Bytes, 0o644); err != nil {
		return err
	}
	input, params := filepath.Join(dir, name+".json"), filepath.Join(dir, "params")
	verify := exec.CommandContext(ctx, tool, "verify", "--input", input, "--proof", file, "--params", params)
	if output, err := verify.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	t := proof.Timings
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
	fmt.Printf("%-12v%11d%13d%7d%8s%8s%8s%11s%8s%8s%8s  verified\n", proof.Circuit.Kind, proof.Partitions, proof.Constraints,
		len(proof.Bytes), seconds(t.Queue), seconds(t.Open), seconds(t.Check), seconds(t.Synthesis), seconds(t.Wait),
		seconds(t.Prove), seconds(t.Finish))
	return nil
}

// devices names what proves.
func devices(engine *cuzk.Engine) string {
	stats, err := engine.Stats()
	if err != nil {
		return err.Error()
	}
	names := make([]string, len(stats.Devices))
	for i, device := range stats.Devices {
		names[i] = device.Name
	}
	return strings.Join(names, ", ")
}
