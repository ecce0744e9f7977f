package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
	"github.com/kerngen/kerngen/runtime/sim/internal/exec"
)

// The driver's results beyond those that package cuda names.
const (
	notFound       = 500
	illegalAddress = 700
	launchTimeout  = 702
	assertFailed   = 710
	misaligned     = 716
	launchFailed   = 719

	tooManyCooperative = 720
)

var resultNames = map[int]string{
	cuda.InvalidValue:          "CUDA_ERROR_INVALID_VALUE",
	cuda.OutOfMemory:           "CUDA_ERROR_OUT_OF_MEMORY",
	cuda.NoBinary:              "CUDA_ERROR_NO_BINARY_FOR_GPU",
	cuda.InvalidPTX:            "CUDA_ERROR_INVALID_PTX",
	cuda.InvalidHandle:         "CUDA_ERROR_INVALID_HANDLE",
	cuda.IllegalState:          "CUDA_ERROR_ILLEGAL_STATE",
	cuda.NotReady:              "CUDA_ERROR_NOT_READY",
	cuda.NotSupported:          "CUDA_ERROR_NOT_SUPPORTED",
	cuda.CaptureUnsupported:    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	cuda.CaptureWasInvalidated: "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	cuda.CaptureMerge:          "CUDA_ERROR_STREAM_CAPTURE_MERGE",
	cuda.CaptureUnmatched:      "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
	cuda.CaptureUnjoined:       "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
	cuda.CaptureIsolation:      "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
	cuda.CapturedEvent:         "CUDA_ERROR_CAPTURED_EVENT",
	notFound:                   "CUDA_ERROR_NOT_FOUND",
	illegalAddress:             "CUDA_ERROR_ILLEGAL_ADDRESS",
	launchTimeout:              "CUDA_ERROR_LAUNCH_TIMEOUT",
	assertFailed:               "CUDA_ERROR_ASSERT",
	misaligned:                 "CUDA_ERROR_MISALIGNED_ADDRESS",
	tooManyCooperative:         "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
	launchFailed:               "CUDA_ERROR_LAUNCH_FAILED",
}

func fault(result int, err error) cuda.Status {
	return cuda.Fault(result, resultNames[result], err)
}

func faultf(result int, format string, args ...any) cuda.Status {
	return fault(result, fmt.Errorf(format, args...))
}

// memoryFault is the status of an allocation or a copy that exec refuses.
func memoryFault(err error) cuda.Status {
	switch {
	case err == nil:
		return cuda.OK
	case errors.Is(err, exec.ErrOutOfMemory):
		return fault(cuda.OutOfMemory, err)
	}
	return fault(cuda.InvalidValue, err)
}

// workFault is the status of a device on which queued work has failed.
func workFault(err error) cuda.Status {
	var at *exec.Fault
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault(launchTimeout, err)
	case !errors.As(err, &at):
		return fault(launchFailed, err)
	}
	return fault(resultOf[at.Kind], err)
}

// resultOf is what a driver gives for each kind of fault.
var resultOf = map[exec.Kind]int{
	exec.Other:      launchFailed,
	exec.Address:    illegalAddress,
	exec.Misaligned: misaligned,
	exec.Assertion:  assertFailed,
}
