// Package generated holds no code of its own: the folders below it are the packages
// made of the kernels in ../kernels.
package generated

//go:generate go run ../cmd/kerngen generate --compile=never --config ../kernels/kerngen.yaml
