// Package histogram counts values with atomic additions.
package histogram

//go:generate go run ../../cmd/kerngen generate ../../kernels/artefacts/histogram
