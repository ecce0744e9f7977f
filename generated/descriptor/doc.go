// Package descriptor scales a matrix through tensor descriptors made on the device, which need
// scratch memory on sm_90 and later.
package descriptor
