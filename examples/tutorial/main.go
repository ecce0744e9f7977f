// main.go
package main

import (
	"fmt"
	"log"

	kernrt "github.com/kerngen/kerngen/runtime"

	"example.com/app/internal/vec"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	device, err := kernrt.Open(0)
	if err != nil {
		return err
	}
	defer device.Close() // with all that was made from it
	stream, err := device.NewStream()
	if err != nil {
		return err
	}
	x, err := kernrt.Upload(stream, []float32{1, 2, 3, 4})
	if err != nil {
		return err
	}
	y, err := kernrt.Upload(stream, []float32{10, 20, 30, 40})
	if err != nil {
		return err
	}
	factors, err := kernrt.Upload(stream, []float32{1, 100})
	if err != nil {
		return err
	}
	sum, err := kernrt.Upload(stream, []float32{0})
	if err != nil {
		return err
	}
	// Each launch is queued and returns at once; the downloads wait.
	if err := vec.LaunchAxpy(stream, 0.5, x.Ptr(), y.Ptr(), 4); err != nil {
		return err
	}
	var noBias kernrt.Ptr[float32]
	if err := vec.LaunchScaleRows(stream, y.Ptr(), factors.Ptr(), noBias, 2, 2); err != nil {
		return err
	}
	if err := vec.LaunchTotal(stream, y.Ptr(), sum.Ptr(), 4); err != nil {
		return err
	}
	rows, err := y.Download(stream)
	if err != nil {
		return err
	}
	total, err := sum.Download(stream)
	if err != nil {
		return err
	}
	fmt.Println(rows, total) // [10.5 21 3150 4200] [7381.5]
	return nil
}
