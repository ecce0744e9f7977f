// Package dropout drops random elements of a vector, reproducibly by seed.
package dropout

//go:generate go run ../../cmd/kerngen generate ../../kernels/artefacts/dropout
