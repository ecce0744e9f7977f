package artefact

// ReadCode reads a file of either kind, if it is a regular one and no larger
// than a cubin may be. Its errors do not name the file.
func ReadCode(name string) ([]byte, error) { return readFile(name, maxCubin, false) }

// ParseCubin reads a cubin that lies alone, as in a generated package; pos is
// its path, for messages.
func ParseCubin(pos string, data []byte) (*Cubin, error) { return parseCubin(pos, data) }

// ParsePTX reads such a PTX file.
func ParsePTX(pos string, data []byte) (*PTX, error) { return parsePTX(pos, data) }
