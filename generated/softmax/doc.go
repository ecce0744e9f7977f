// Package softmax normalises the rows of a matrix by softmax.
package softmax
