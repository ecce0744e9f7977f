// Package scalars takes an argument of every scalar type and stores each: it exists for tests.
package scalars
