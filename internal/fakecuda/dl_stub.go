//go:build !cgo || !linux

package fakecuda

import "errors"

const maxArgs = 15

func dlopen(string) (uintptr, error) {
	return 0, errors.New("the fake driver needs cgo and Linux")
}

func dlsym(uintptr, string) uintptr { return 0 }

func call(uintptr, [maxArgs]uintptr) uintptr { return 0 }
