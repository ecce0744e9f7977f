package kernrt

type state struct{}
