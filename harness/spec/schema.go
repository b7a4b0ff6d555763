package spec

import _ "embed"

//go:generate go run ./gen

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of specs, for editors. What it refuses, Parse
// refuses; the reverse is not true, because a schema cannot check references.
func Schema() []byte { return schema }
