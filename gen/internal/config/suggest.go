package config

import (
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Suggest adds the known word that got is closest to as a remedy, or all known
// words where none is close. It returns fault.
func Suggest(fault *diag.Error, got string, known []string) *diag.Error {
	if near := closest(got, known); near != "" {
		return fault.Fix("did you mean %q?", near)
	}
	switch len(known) {
	case 0:
		return fault
	case 1:
		return fault.Fix("known: %s", known[0])
	}
	return fault.Fix("known: %s and %s", strings.Join(known[:len(known)-1], ", "), known[len(known)-1])
}

// closest returns the known word that got is probably meant to be, or "".
func closest(got string, known []string) string {
	best, least := "", max(1, len(got)/3)+1
	for _, k := range known {
		if distance := edits(strings.ToLower(got), strings.ToLower(k)); distance < least {
			best, least = k, distance
		}
	}
	return best
}

// edits counts the insertions, deletions, replacements and swaps of neighbours
// that turn a into b.
func edits(a, b string) int {
	from, to := []rune(a), []rune(b)
	var before []int
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		next := make([]int, len(to)+1)
		next[0] = i + 1
		for j, s := range to {
			replaced := row[j]
			if r != s {
				replaced++
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, replaced)
			if i > 0 && j > 0 && r == to[j-1] && from[i-1] == s {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(to)]
}
