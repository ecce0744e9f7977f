//go:build !unix

package lock

import "time"

// Folder keeps nobody out here.
func Folder(string, time.Duration) (release func(), held bool, err error) {
	return func() {}, false, nil
}
