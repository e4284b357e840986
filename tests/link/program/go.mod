module github.com/cuzk-prover/cuzk/tests/link/program

go 1.24

require github.com/cuzk-prover/cuzk/go v0.0.0

replace github.com/cuzk-prover/cuzk/go => ../../../go
