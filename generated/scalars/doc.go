// Package scalars takes an argument of every scalar type and stores each: it exists for tests.
package scalars

//go:generate go run ../../cmd/kerngen generate ../../kernels/artefacts/scalars
