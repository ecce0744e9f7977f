//go:build cgo

// Command copies measures asynchronous copies of pinned memory: a C loop and the
// runtime make the same copies between the same memory on the same streams, in
// turns. It prints tables in Markdown; compare figures of one run only.
//
// It runs on the device that the driver shows first, or on another driver that
// KERNGEN_LIBCUDA names.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func main() {
	var cfg config
	flag.IntVar(&cfg.pairs, "pairs", 30, "pairs of measurements")
	flag.IntVar(&cfg.volume, "volume", 512<<20, "bytes a measurement copies, at least")
	flag.Parse()
	if err := cfg.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type config struct{ pairs, volume int }

var sizes = []int{16 << 10, 256 << 10, 4 << 20, 64 << 20}

const threadSize = 1 << 20 // bytes of each copy on one of several streams

func (cfg config) run() error {
	dev, err := kernrt.Open(0)
	if err != nil {
		return err
	}
	defer dev.Close()
	c, err := newCCopies(0)
	if err != nil {
		return err
	}
	fmt.Printf("%v, CUDA %d, %d pairs, medians\n\n", dev, dev.Info().DriverVersion, cfg.pairs)
	fmt.Println("| pinned copy | bytes | C, GB/s | Go, GB/s | Go / C |\n| --- | --- | --- | --- | --- |")
	for _, d := range []struct {
		name    string
		in, out bool
	}{{"to the device", true, false}, {"from the device", false, true}} {
		for _, size := range sizes {
			lanes, err := newLanes(dev, 1, size, d.in, d.out)
			if err != nil {
				return err
			}
			inC, inGo, err := cfg.compare(c, lanes, max(4, cfg.volume/size))
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %d | %.2f | %.2f | %.4f |\n", d.name, size, inC, inGo, inGo/inC)
		}
	}
	fmt.Printf("\n| threads or goroutines, a stream each, copies of %d bytes there and back | C, GB/s | Go, GB/s | time Go / C |\n| --- | --- | --- | --- |\n", threadSize)
	for _, n := range []int{2, 4, 8} {
		lanes, err := newLanes(dev, n, threadSize, true, true)
		if err != nil {
			return err
		}
		inC, inGo, err := cfg.compare(c, lanes, max(4, cfg.volume/threadSize/n))
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %.2f | %.2f | %.4f |\n", n, inC, inGo, inC/inGo)
	}
	return nil
}

func newLanes(dev *kernrt.Device, n, size int, in, out bool) ([]lane, error) {
	lanes := make([]lane, n)
	for i := range lanes {
		l := &lanes[i]
		l.in, l.out = in, out
		var errs [3]error
		l.stream, errs[0] = dev.NewStream()
		l.device, errs[1] = kernrt.Alloc[uint8](dev, size)
		l.host, errs[2] = kernrt.AllocHost[uint8](dev, size)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, err
		}
	}
	return lanes, nil
}

// compare returns the bandwidth of both in GB/s.
func (cfg config) compare(c cCopies, lanes []lane, count int) (inC, inGo float64, _ error) {
	var both [2][]float64
	for pair := range cfg.pairs + 1 {
		for i, run := range []func([]lane, int) (time.Duration, error){c.run, runGo} {
			took, err := run(lanes, count)
			if err != nil {
				return 0, 0, err
			}
			if pair > 0 { // the first is for warmth
				both[i] = append(both[i], float64(volume(lanes, count))/float64(took.Nanoseconds()))
			}
		}
	}
	return median(both[0]), median(both[1]), nil
}

func volume(lanes []lane, count int) int {
	bytes := 0
	for _, l := range lanes {
		for _, on := range []bool{l.in, l.out} {
			if on {
				bytes += count * l.device.Len()
			}
		}
	}
	return bytes
}

func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// runGo makes count rounds on each lane, a goroutine each where there are several.
func runGo(lanes []lane, count int) (time.Duration, error) {
	if len(lanes) == 1 {
		begin := time.Now()
		err := lanes[0].rounds(count)
		return time.Since(begin), err
	}
	errs := make([]error, len(lanes))
	start := make(chan struct{})
	var done sync.WaitGroup
	for i := range lanes {
		done.Go(func() {
			<-start
			errs[i] = lanes[i].rounds(count)
		})
	}
	begin := time.Now()
	close(start)
	done.Wait()
	return time.Since(begin), errors.Join(errs...)
}

func (l *lane) rounds(count int) error {
	for range count {
		if l.in {
			if err := l.device.CopyFromAsync(l.stream, l.host); err != nil {
				return err
			}
		}
		if l.out {
			if err := l.device.CopyToAsync(l.stream, l.host); err != nil {
				return err
			}
		}
	}
	return l.stream.Synchronize()
}
