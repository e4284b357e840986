//go:build linux && amd64 && cgo && !nocuzk

package cuzk_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

// An engine is opened once and closed at the end. What a proof costs is known before anything is loaded.
func ExampleOpen() {
	engine, err := cuzk.Open(cuzk.Config{Backend: cuzk.BackendCPU})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	cost, err := engine.Cost(cuzk.KindWinningPoSt, 32<<30)
	fmt.Println(cost.DiskBytes>>20 > 100, cost.DeviceBytes, err)
	_, err = cuzk.Open(cuzk.Config{})
	fmt.Println(errors.Is(err, cuzk.ErrAlreadyOpen))
	// Output:
	// true 0 <nil>
	// true
}

// Errors say what is wrong; a retry helps only with ErrBusy.
func ExampleEngine_Prove() {
	engine, err := cuzk.Open(cuzk.Config{Backend: cuzk.BackendCPU, ParamDirs: []string{"testdata/none"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = engine.Prove(ctx, cuzk.PoRep{Miner: 1000, Sector: 7, C1: []byte("{}")})
	var failure *cuzk.Error
	switch {
	case errors.Is(err, cuzk.ErrBusy):
		fmt.Println("later")
	case errors.Is(err, cuzk.ErrInvalid) && errors.As(err, &failure):
		fmt.Println("never:", failure.Circuit.Kind)
	}
	// Output:
	// never: porep
}
