//go:build linux && amd64 && cgo && !nocuzk && !cuzk_testing

package cuzk

import lib "github.com/cuzk-prover/cuzk/go/lib/linux_amd64"

// archiveBuildID names the archive that lib.go was written for.
func archiveBuildID() string { return lib.BuildID }
