//go:build cuzk_testing

package main

/*
#include <stdint.h>

typedef struct { uint8_t const *ptr; uint64_t len; } link_bytes_t;
uint32_t cuzk_testing_fault(link_bytes_t const *name, uint32_t how);

static uint32_t fault_in_stats(uint32_t how) {
	link_bytes_t name = {(uint8_t const *)"cuzk_engine_stats", 17};
	return cuzk_testing_fault(&name, how);
}
*/
import "C"

import (
	"errors"
	"fmt"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

// panicOurs lets a call of our library panic, which it must report as an error.
func panicOurs(engine *cuzk.Engine, how int) error {
	if C.fault_in_stats(C.uint32_t(how)) != 0 {
		return errors.New("no fault point")
	}
	if _, err := engine.Stats(); !errors.Is(err, cuzk.ErrInternal) {
		return fmt.Errorf("our panic became %v", err)
	}
	_, err := engine.Stats()
	return err
}
