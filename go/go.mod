module github.com/cuzk-prover/cuzk/go

go 1.24
