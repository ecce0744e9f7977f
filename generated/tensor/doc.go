// Package tensor copies tensors of rank 1 to 5 and multiplies matrices through tensor descriptors
// made by the host.
package tensor
