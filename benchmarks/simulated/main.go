//go:build unix

// Command simulated compares the simulated device, unchecked and checking, with
// Triton's own interpreter (TRITON_INTERPRET=1): the same kernels on the same
// inputs, in turns, so that all see the same machine. It prints a table in
// Markdown; compare figures of one run only.
//
// It runs in the repository's root and needs a Python with Triton and numpy, for
// Triton 3.6 below 2.4; PyTorch is not needed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

func main() {
	python := flag.String("python", "python3", "the interpreter that has Triton and numpy")
	kernels := flag.String("kernels", "kernels", "folder with the kernels' sources")
	rounds := flag.Int("rounds", 9, "launches of each kernel by each contender")
	flag.Parse()
	if err := run(*python, *kernels, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "simulated:", err)
		os.Exit(1)
	}
}

func run(python, kernels string, rounds int) error {
	folder, err := os.MkdirTemp("", "simulated")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, c := range cases {
		if err := c.writeInputs(folder); err != nil {
			return err
		}
	}
	interpreter, err := startInterpreter(python, kernels, folder)
	if err != nil {
		return err
	}
	defer interpreter.close()
	unchecked, err := newSimulation(sim.Options{Unchecked: true})
	if err != nil {
		return err
	}
	checked, err := newSimulation(sim.Options{})
	if err != nil {
		return err
	}
	contenders := []contender{unchecked, checked, interpreter}

	fmt.Printf("Go %s, %d processors, load %s\n\n", runtime.Version(), runtime.NumCPU(), load())
	fmt.Println("Each figure is the best time and, in brackets, the median of processor time.")
	fmt.Println()
	fmt.Println("| kernel | unchecked | checked | interpreter | unchecked, times as fast | checked, times as fast | largest difference |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
	for _, c := range cases {
		row, err := compare(c, contenders, folder, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Println(row)
	}
	fmt.Printf("\nLoad at the end: %s\n", load())
	return nil
}

// contender launches cases and says what that took.
type contender interface {
	launch(c *kernelCase) (cost, error)
	output(c *kernelCase) ([]byte, error)
}

// cost is what a launch took: time on the clock, and processor time.
type cost struct{ wall, cpu time.Duration }

// compare has the contenders launch a case in turns. The first round, in which
// they compile, does not count.
func compare(c *kernelCase, contenders []contender, folder string, rounds int) (row string, err error) {
	costs := make([][]cost, len(contenders))
	for round := range rounds + 1 {
		for i, contender := range contenders {
			took, err := contender.launch(c)
			if err != nil {
				return "", err
			}
			if round > 0 {
				costs[i] = append(costs[i], took)
			}
		}
	}
	cells := []string{c.title}
	var best, processor []float64 // seconds
	for i := range contenders {
		wall := sorted(costs[i], func(c cost) time.Duration { return c.wall })
		cpu := sorted(costs[i], func(c cost) time.Duration { return c.cpu })
		best, processor = append(best, wall[0].Seconds()), append(processor, cpu[len(cpu)/2].Seconds())
		cells = append(cells, fmt.Sprintf("%.1f ms (%.1f)", best[i]*1000, processor[i]*1000))
	}
	for i := range 2 {
		cells = append(cells, fmt.Sprintf("%.1f (%.1f)", best[2]/best[i], processor[2]/processor[i]))
	}
	difference, err := c.difference(contenders)
	if err != nil {
		return "", err
	}
	cells = append(cells, fmt.Sprintf("%.1e", difference))
	return "| " + strings.Join(cells, " | ") + " |", nil
}

func sorted(costs []cost, of func(cost) time.Duration) []time.Duration {
	var all []time.Duration
	for _, c := range costs {
		all = append(all, of(c))
	}
	slices.Sort(all)
	return all
}

// load is the machine's load averages.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

// simulation is a simulated device with the cases' buffers.
type simulation struct {
	stream  *kernrt.Stream
	started map[*kernelCase]*started
}

func newSimulation(o sim.Options) (*simulation, error) {
	device, err := sim.Open(o)
	if err != nil {
		return nil, err
	}
	stream, err := device.NewStream()
	return &simulation{stream, map[*kernelCase]*started{}}, err
}

func (s *simulation) launch(c *kernelCase) (cost, error) {
	ready := s.started[c]
	if ready == nil {
		var err error
		if ready, err = c.start(s.stream); err != nil {
			return cost{}, err
		}
		s.started[c] = ready
	}
	before, began := processorTime(), time.Now()
	if err := ready.launch(); err != nil {
		return cost{}, err
	}
	if err := s.stream.Synchronize(); err != nil {
		return cost{}, err
	}
	return cost{time.Since(began), processorTime() - before}, nil
}

func (s *simulation) output(c *kernelCase) ([]byte, error) { return s.started[c].output() }

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// input is the file of a case's argument.
func input(folder, name string, argument int) string {
	return filepath.Join(folder, fmt.Sprintf("%s.%d", name, argument))
}
