#!/usr/bin/env bash
# How other modules use the package: one vendors it and builds; when the archive changes, the program is linked anew; a clean
# clone without an archive passes `go vet`; so do other platforms. Needs `make archive` before.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# The package as a clone has it, with the archive that was built here.
mkdir -p "$out/clone" "$out/module"
git ls-files -z --cached --others --exclude-standard go | xargs -0 cp --parents -t "$out/clone"
(cd "$out/clone/go" && go vet ./... && CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go vet ./... &&
    CGO_ENABLED=0 go test -run NotBuilt . && go test -tags nocuzk -run NotBuilt .)
echo "vet: a clean clone passes without an archive, and for darwin"

cp go/lib/linux_amd64/{lib.go,libcuzk.a} "$out/clone/go/lib/linux_amd64/"
cd "$out/module"
cat >go.mod <<GO
module example.org/vendors

go 1.24

require github.com/cuzk-prover/cuzk/go v0.0.0

replace github.com/cuzk-prover/cuzk/go => ../clone/go
GO
cat >main.go <<'GO'
package main

import (
	"fmt"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

func main() {
	engine, err := cuzk.Open(cuzk.Config{Backend: cuzk.BackendCPU})
	if err != nil {
		panic(err)
	}
	fmt.Println("opened", engine.Close())
}
GO
go mod tidy
go mod vendor
go build -mod=vendor -o first .
[[ $(./first) == "opened <nil>" ]]

# Another archive: its digest in lib.go is what tells Go.
library=vendor/github.com/cuzk-prover/cuzk/go/lib/linux_amd64
printf 'changed\n' >note && ar rc "$library/libcuzk.a" note
sed -i "s/^const Digest = .*/const Digest = \"$(sha256sum "$library/libcuzk.a" | cut -d' ' -f1)\"/" "$library/lib.go"
go build -mod=vendor -x -o second . 2>"$out/commands"
grep -E 'tool/linux_amd64/link|/link -o' "$out/commands" >/dev/null || { echo "not linked anew" >&2 && exit 1; }
[[ $(./second) == "opened <nil>" ]]
cd "$root"
echo "vendor: a second module vendors the package, builds, and links anew when the archive changes"
