// Package pdl starts before its predecessor on the stream ends and waits for it on the
// device (programmatic dependent launch); sm_90 and later.
package pdl
