// Package softmax normalises the rows of a matrix by softmax.
package softmax

//go:generate go run ../../cmd/kerngen generate ../../kernels/artefacts/softmax
