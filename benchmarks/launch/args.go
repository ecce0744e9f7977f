//go:build cgo

package main

import (
	"fmt"
	"time"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// args compares a generated function with Args, all of whose values are set
// before each launch.
func (cfg config) args(stream *kernrt.Stream, k contender) error {
	var add *kernrt.Kernel
	for _, listed := range vec.Kernels() {
		if listed.Name == k.name {
			add = listed
		}
	}
	args, err := kernrt.NewArgs(add)
	if err != nil {
		return err
	}
	var grid kernrt.Grid // as the kernel declares
	timed := func(launch func() error) func(int) (float64, error) {
		return drained(stream, func(count int) (float64, error) {
			start := time.Now()
			for range count {
				if err := launch(); err != nil {
					return 0, err
				}
			}
			return float64(time.Since(start).Nanoseconds()) / float64(count), nil
		})
	}
	fmt.Fprintln(cfg.out, "\n| launch | generated function, ns | Args, ns | difference (95 % interval) | ratio |\n| --- | --- | --- | --- | --- |")
	return cfg.compare(pair{k.name,
		timed(func() error { return k.goes(stream) }),
		timed(func() error {
			if err := args.SetAll(k.args.XPtr, k.args.YPtr, k.args.OutPtr, k.args.N); err != nil {
				return err
			}
			return args.Launch(stream, grid)
		}),
	})
}
