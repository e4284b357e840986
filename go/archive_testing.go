//go:build linux && amd64 && cgo && !nocuzk && cuzk_testing

package cuzk

import testinglib "github.com/cuzk-prover/cuzk/go/lib/testing"

// archiveBuildID names the archive that lib.go was written for.
func archiveBuildID() string { return testinglib.BuildID }
