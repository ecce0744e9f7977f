//go:build cgo

package main

// #include "graphloop.h"
import "C"

import (
	"errors"
	"fmt"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// graphLoop is a graph of a cLoop's launch, over and over.
type graphLoop struct{ c *C.graphloop }

func (l *cLoop) graph(stream *kernrt.Stream, launches int) (graphLoop, error) {
	var failed *C.char
	g := C.graphloop_new(l.c, C.uintptr_t(stream.Handle()), l.threads, l.shared, l.params, C.int(launches), &failed)
	if g == nil {
		return graphLoop{}, fmt.Errorf("the C graph: %s", C.GoString(failed))
	}
	return graphLoop{g}, nil
}

var errGraphLoop = errors.New("the C graph: a call failed")

// launches launches the graph and returns the time on the host.
func (g graphLoop) launches(stream *kernrt.Stream, count int) (time.Duration, error) {
	return took(C.graphloop_launches(g.c, C.uintptr_t(stream.Handle()), C.int64_t(count)))
}

// updates changes the last launch and returns the time on the host.
func (g graphLoop) updates(count int) (time.Duration, error) {
	return took(C.graphloop_updates(g.c, C.int64_t(count)))
}

func took(ns C.int64_t) (time.Duration, error) {
	if ns < 0 {
		return 0, errGraphLoop
	}
	return time.Duration(ns), nil
}
