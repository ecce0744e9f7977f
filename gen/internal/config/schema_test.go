package config

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchema holds the schema for editors against the parser's own tables.
func TestSchema(t *testing.T) {
	type object struct {
		Required   []string
		Properties map[string]struct {
			AdditionalProperties json.RawMessage
		}
	}
	var schema struct {
		object
		Definitions struct {
			Package, Kernel object
			Targets         struct{ Items struct{ Enum []string } }
		}
	}
	if err := json.Unmarshal(Schema, &schema); err != nil {
		t.Fatal(err)
	}
	check := func(name string, o object, keys, required []string) {
		t.Helper()
		var have []string
		for k := range o.Properties {
			have = append(have, k)
		}
		slices.Sort(have)
		slices.Sort(keys)
		if diff := cmp.Diff(keys, have); diff != "" {
			t.Errorf("%s: keys (-parser +schema)\n%s", name, diff)
		}
		if diff := cmp.Diff(required, o.Required); diff != "" {
			t.Errorf("%s: required keys (-parser +schema)\n%s", name, diff)
		}
	}
	keys, required := keysOf(configFields)
	check("configuration", schema.object, keys, required)
	keys, required = keysOf(packageFields)
	check("package", schema.Definitions.Package, keys, required)
	keys, required = keysOf(kernelFields)
	check("kernel", schema.Definitions.Kernel, keys, required)

	var targets []string
	for _, a := range architectures {
		targets = append(targets, a.String())
	}
	if diff := cmp.Diff(append(targets, "ptx"), schema.Definitions.Targets.Items.Enum); diff != "" {
		t.Errorf("targets (-parser +schema)\n%s", diff)
	}
	var variable struct{ Items struct{ Enum []string } }
	if err := json.Unmarshal(schema.Definitions.Kernel.Properties["types"].AdditionalProperties, &variable); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ElementTypes, variable.Items.Enum); diff != "" {
		t.Errorf("element types (-parser +schema)\n%s", diff)
	}
}

func keysOf[T any](fields []field[T]) (keys, required []string) {
	for _, f := range fields {
		keys = append(keys, f.name)
		if f.required {
			required = append(required, f.name)
		}
	}
	return keys, required
}
