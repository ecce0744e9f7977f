// Package histogram counts values with atomic additions.
package histogram
