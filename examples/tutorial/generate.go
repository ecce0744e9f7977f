// generate.go
package main

//go:generate go tool kerngen generate --config kernels/kerngen.yaml
