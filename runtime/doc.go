// Package kernrt launches compiled Triton kernels. Generated packages call it.
package kernrt
