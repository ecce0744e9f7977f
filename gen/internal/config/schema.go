package config

import _ "embed"

// Schema is a JSON Schema of the configuration, for editors.
//
//go:embed kerngen.schema.json
var Schema []byte
