// Package norm normalises the rows of a matrix: layer norm.
package norm

//go:generate go run ../../cmd/kerngen generate ../../kernels/artefacts/norm
