// Command pipeline sends a vector through the GPU in pieces: pinned memory, memory
// of a pool and a stream for each piece in flight, so that one piece is copied
// while another is added up. Events tell when a piece's memory may be used again
// and how long it all took; a context bounds the wait.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

const (
	n      = 1 << 22
	piece  = 1 << 18
	flight = 3 // pieces at a time
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pipeline:", err)
		os.Exit(1)
	}
}

// lane is what one piece in flight needs.
type lane struct {
	stream      *kernrt.Stream
	in, out     *kernrt.HostBuffer[float32]
	done        *kernrt.Event // of the piece before
	destination []float32     // where that piece goes
}

func run() error {
	device, err := kernrt.Open(0)
	if errors.Is(err, kernrt.ErrNoGPU) {
		fmt.Printf("There is no GPU here: %v.\n", err)
		fmt.Println("A simulated device runs the kernels' PTX, and checks it.")
		device, err = sim.Open(sim.Options{})
	}
	if err != nil {
		return err
	}
	defer device.Close() // with all that is made from it

	pool, err := device.NewPool(math.MaxUint64) // keeps what is freed for the next piece
	if err != nil {
		return err
	}
	lanes := make([]lane, flight)
	for i := range lanes {
		if lanes[i], err = newLane(device); err != nil {
			return err
		}
	}
	values, doubled := make([]float32, n), make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}

	begin, end, err := events(device)
	if err != nil {
		return err
	}
	if err := begin.Record(lanes[0].stream); err != nil {
		return err
	}
	for i := range n / piece {
		low, high := i*piece, (i+1)*piece
		l := &lanes[i%flight]
		if err := l.collect(); err != nil {
			return err
		}
		if err := l.send(pool, values[low:high], doubled[low:high]); err != nil {
			return err
		}
	}
	// The last stream waits for the others on the device; the host waits for it.
	last := lanes[0].stream
	for _, l := range lanes[1:] {
		if err := last.Wait(l.done); err != nil {
			return err
		}
	}
	if err := end.Record(last); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := last.SynchronizeContext(ctx); err != nil {
		return err
	}
	for i := range lanes {
		if err := lanes[i].collect(); err != nil {
			return err
		}
	}
	took, err := end.Since(begin)
	if err != nil {
		return err
	}

	for i, got := range doubled {
		if want := 2 * values[i]; got != want {
			return fmt.Errorf("element %d is %v, want %v", i, got, want)
		}
	}
	fmt.Printf("%v doubled %d numbers in %d pieces and %v: all are right. Device memory at most: %d KiB.\n",
		device, n, n/piece, took, device.MemoryStats().Peak>>10)
	return nil
}

func newLane(device *kernrt.Device) (lane, error) {
	var l lane
	var errs [4]error
	l.stream, errs[0] = device.NewStream()
	l.in, errs[1] = kernrt.AllocHost[float32](device, piece)
	l.out, errs[2] = kernrt.AllocHost[float32](device, piece)
	l.done, errs[3] = device.NewEvent()
	return l, errors.Join(errs[:]...)
}

func events(device *kernrt.Device) (begin, end *kernrt.Event, err error) {
	begin, err = device.NewEvent()
	if err == nil {
		end, err = device.NewEvent()
	}
	return begin, end, err
}

// send queues all that a piece needs and waits for nothing.
func (l *lane) send(pool *kernrt.Pool, values, destination []float32) error {
	copy(l.in.Values(), values)
	l.destination = destination
	x, err := kernrt.AllocAsync[float32](pool, l.stream, piece)
	if err != nil {
		return err
	}
	if err := x.CopyFromAsync(l.stream, l.in); err != nil {
		return err
	}
	if err := vec.LaunchAdd(l.stream, x.Ptr(), x.Ptr(), x.Ptr(), piece); err != nil {
		return err
	}
	if err := x.CopyToAsync(l.stream, l.out); err != nil {
		return err
	}
	if err := x.FreeAsync(l.stream); err != nil { // once all of that is done
		return err
	}
	return l.done.Record(l.stream)
}

// collect waits for the lane's piece, if there is one, and takes its result.
func (l *lane) collect() error {
	if err := l.done.Synchronize(); err != nil {
		return err
	}
	copy(l.destination, l.out.Values())
	l.destination = nil
	return nil
}
