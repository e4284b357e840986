// Package cuzk makes Groth16 proofs for Filecoin's circuits: PoRep, SnapDeals, WindowPoSt and WinningPoSt.
//
// Open an [Engine] once, keep it for as long as the process lives, and ask it from any goroutine:
//
//	engine, err := cuzk.Open(cuzk.Config{CacheDir: "/var/cache/cuzk", Logger: slog.Default()})
//	...
//	proof, err := engine.Prove(ctx, cuzk.PoRep{Miner: 1000, Sector: 7, C1: c1})
//
// Every proof was checked by pairing before it is returned. Waiting costs a goroutine, never an OS thread. A context that
// ends returns at once, with context.Canceled or context.DeadlineExceeded inside the error, and frees the engine for others.
//
// Errors carry a [Status]: errors.Is(err, cuzk.ErrBusy), or errors.As with *[Error] for the rest.
//
// The proofs are made by a native library inside this process, which is there on linux/amd64 with cgo. Elsewhere, and with
// the build tag nocuzk, the package compiles and Open returns [ErrNotBuilt].
package cuzk
