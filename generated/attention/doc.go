// Package attention computes attention over keys and values.
package attention
