// Package vec adds vectors.
package vec

//go:generate go run ../../cmd/kerngen generate ../../kernels/artefacts/vec
