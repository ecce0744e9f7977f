// Package cooperative normalises a vector in one cooperative launch, whose CTAs wait for one
// another.
package cooperative

//go:generate go run ../../cmd/kerngen generate ../../kernels/artefacts/cooperative
