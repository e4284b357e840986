//go:build !linux || !amd64 || !cgo || nocuzk

package cuzk

import (
	"errors"
	"testing"
)

func TestNotBuilt(t *testing.T) {
	if engine, err := Open(Config{}); engine != nil || !errors.Is(err, ErrNotBuilt) {
		t.Error(engine, err)
	}
}
