// Package testinglib links the native archive that scripts/archive.sh puts beside this file, together with lib.go, which holds
// the linker's flags. Without them, packages that import it compile, but don't link: run `make archive-testing`.
package testinglib

// BuildID names the build of the archive, as cuzk_build_id gives it. Set by lib.go.
var BuildID string
