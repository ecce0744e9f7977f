// Package matmul multiplies matrices of half precision, accumulating in single.
package matmul

//go:generate go run ../../cmd/kerngen generate ../../kernels/artefacts/matmul
