package artefact

// ParseCubin reads a cubin that lies alone, as in a generated package; pos is
// its path, for messages.
func ParseCubin(pos string, data []byte) (*Cubin, error) { return parseCubin(pos, data) }

// ParsePTX reads such a PTX file.
func ParsePTX(pos string, data []byte) (*PTX, error) { return parsePTX(pos, data) }
