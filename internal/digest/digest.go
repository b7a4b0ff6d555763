// Package digest is the one digest of event logs, journals and reports.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
)

// Of is the SHA-256 of s in hex.
func Of(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
