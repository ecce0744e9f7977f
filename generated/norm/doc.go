// Package norm normalises the rows of a matrix: layer norm.
package norm
