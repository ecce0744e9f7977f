// Package vec adds vectors.
package vec
