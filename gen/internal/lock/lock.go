// Package lock keeps runs of kerngen that write into one folder apart.
package lock

import "errors"

// ErrHeld says that another run holds the folder.
var ErrHeld = errors.New("the folder is held by another run")
