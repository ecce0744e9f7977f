package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choice is an option that takes one of a few words.
type choice struct {
	value string // the default, before the option is read
	of    []string
}

func (o *choice) String() string { return o.value }
func (o *choice) Type() string   { return strings.Join(o.of, "|") }

func (o *choice) Set(value string) error {
	if !slices.Contains(o.of, value) {
		return fmt.Errorf("want %s", strings.Join(o.of, " or "))
	}
	o.value = value
	return nil
}

// noneEmpty refuses an empty argument and an empty option, which are most often
// a variable of the shell's that is not set.
func noneEmpty(c *cobra.Command, args []string) error {
	var faults []error
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			faults = append(faults, fmt.Errorf("--%s is empty; give it a value or leave it out", f.Name))
		}
	})
	if slices.Contains(args, "") {
		faults = append(faults, errors.New("a PATH is empty; name a folder, or a file of a kernel"))
	}
	if faults == nil {
		return nil
	}
	return usageError{c.CommandPath(), errors.Join(faults...)}
}
