// Package cooperative normalises a vector in one cooperative launch, whose CTAs wait for one
// another.
package cooperative
