// Package dropout drops random elements of a vector, reproducibly by seed.
package dropout
