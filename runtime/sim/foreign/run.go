package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

// result is what a device made of a case.
type result struct {
	Error   string         `json:",omitempty"`
	Fault   string         `json:",omitempty"` // the kernel's own, which was expected
	Checked string         `json:",omitempty"` // what a checking device found
	Varies  bool           `json:",omitempty"` // a second launch left other bytes
	Digests map[int]string `json:",omitempty"` // SHA-256 of the buffers that the launch changed, by index
	Seconds float64

	changed map[int][]byte
}

// run launches all cases and writes their results.
func run(dir, path, only string) error {
	cases, err := readCases(dir, only)
	if err != nil {
		return err
	}
	simulated := os.Getenv("KERNGEN_DEVICE") != ""
	var dev *kernrt.Device
	if !simulated {
		if dev, err = kernrt.Open(0); err != nil {
			return err
		}
		defer dev.Close()
	}
	about := results{Device: "simulated sm_80", Cases: map[string]*result{}}
	if dev != nil {
		info := dev.Info()
		about.Device = fmt.Sprintf("%s, driver for CUDA %d", info.String(), info.DriverVersion)
	}
	failed := 0
	for _, c := range cases {
		r := runCase(dev, c)
		about.Cases[c.name] = r
		switch {
		case r.Error != "":
			failed++
			fmt.Printf("FAIL %s: %s\n", c.name, r.Error)
		case r.Checked != "":
			failed++
			fmt.Printf("FAULT %s: %s\n", c.name, r.Checked)
		case r.Fault != "":
			fmt.Printf("ok   %-70s has a fault of its own: %s\n", c.name, r.Fault)
		default:
			fmt.Printf("ok   %-70s %7.3f s, %d buffers changed\n", c.name, r.Seconds, len(r.changed))
		}
	}
	fmt.Printf("%d cases on %s, %d failed\n", len(cases), about.Device, failed)
	if err := about.write(path); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed", failed, len(cases))
	}
	return nil
}

// runCase launches a case twice, on dev or where that is nil on a simulated device
// of its own, which checks it too.
func runCase(dev *kernrt.Device, c *launchCase) *result {
	r := &result{}
	if c.Fault != "" {
		r.expect(dev, c)
		return r
	}
	if dev == nil {
		// Memory that is poisoned counts as written, so the check leaves it alone.
		if _, err := onSimulated(sim.Options{}, c, false); err != nil {
			r.Checked = err.Error()
		}
	}
	launch := func() ([][]byte, error) { return launchOn(dev, c, true) }
	if dev == nil {
		launch = func() ([][]byte, error) {
			return onSimulated(sim.Options{Unchecked: true, Deterministic: true}, c, true)
		}
	}
	start := time.Now()
	after, err := launch()
	r.Seconds = time.Since(start).Seconds()
	if err != nil {
		r.Error = err.Error()
		return r
	}
	again, err := launch()
	if err != nil {
		r.Error = "second launch: " + err.Error()
		return r
	}
	before, err := c.contents()
	if err != nil {
		r.Error = err.Error()
		return r
	}
	r.Digests, r.changed = map[int]string{}, map[int][]byte{}
	for i := range after {
		r.Varies = r.Varies || !bytes.Equal(after[i], again[i])
		if !bytes.Equal(after[i], before[i]) {
			sum := sha256.Sum256(after[i])
			r.Digests[i], r.changed[i] = hex.EncodeToString(sum[:]), after[i]
		}
	}
	return r
}

// expect launches a case whose kernel has a fault, which only the simulated device
// survives.
func (r *result) expect(dev *kernrt.Device, c *launchCase) {
	if dev != nil {
		r.Fault = "not launched"
		return
	}
	_, err := onSimulated(sim.Options{}, c, false)
	if err == nil || !strings.Contains(err.Error(), c.Fault) {
		r.Error = fmt.Sprintf("%v, but the kernel has a fault: %q", err, c.Fault)
		return
	}
	r.Fault = err.Error()
}

func onSimulated(o sim.Options, c *launchCase, poisoned bool) ([][]byte, error) {
	dev, err := sim.Open(o)
	if err != nil {
		return nil, err
	}
	after, err := launchOn(dev, c, poisoned)
	if fault := dev.Close(); err == nil {
		err = fault
	}
	return after, err
}

// launchOn launches a case once and gives what the buffers hold then.
func launchOn(dev *kernrt.Device, c *launchCase, poisoned bool) ([][]byte, error) {
	k, err := c.kernel()
	if err != nil {
		return nil, err
	}
	s, err := dev.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	contents, err := c.contents()
	if err != nil {
		return nil, err
	}
	buffers := make([]*kernrt.Buffer[uint8], len(contents))
	for i, bytes := range contents {
		if buffers[i], err = kernrt.Alloc[uint8](dev, len(bytes)); err != nil {
			return nil, err
		}
		defer buffers[i].Free()
		if poisoned || c.Buffers[i].Contents != "undefined" {
			if err := buffers[i].CopyFrom(s, bytes); err != nil {
				return nil, err
			}
		}
	}
	args, err := kernrt.NewArgs(k)
	if err != nil {
		return nil, err
	}
	for i := range c.Params {
		value, err := c.Params[i].argument(buffers)
		if err != nil {
			return nil, err
		}
		if err := args.Set(i, value); err != nil {
			return nil, err
		}
	}
	if err := args.Launch(s, kernrt.Grid3D(c.Grid[0], c.Grid[1], c.Grid[2])); err != nil {
		return nil, err
	}
	if err := s.Synchronize(); err != nil {
		return nil, err
	}
	for i, b := range buffers {
		if contents[i], err = b.Download(s); err != nil {
			return nil, err
		}
	}
	return contents, nil
}
