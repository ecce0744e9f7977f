// Package ptx reads PTX text into a list of instructions per function, with the line of each in the text and in the source it was compiled from.
//
// It resolves registers and their scopes and keeps everything else as written: what an instruction means, and whether it exists, is the executor's.
package ptx
