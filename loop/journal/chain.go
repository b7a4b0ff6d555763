package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// link is where a journal can be continued: the chain of its last line, and the digest of
// all its bytes. The zero link is that of schema 1, which has neither.
type link struct {
	chain string
	sum   hash.Hash
}

func newLink() link { return link{sum: sha256.New()} }

const (
	chainKey = `,"chain":"`
	chainEnd = "\"}\n"
	chainLen = len(chainKey) + 2*sha256.Size + len(chainEnd)
)

// chained puts the chain at the end of a line.
func (l link) chained(line []byte) []byte {
	body := bytes.TrimSuffix(line, []byte("}\n"))
	return []byte(string(body) + chainKey + l.after(body) + chainEnd)
}

// unchained takes the chain off a line. ok is false if it has none, and is then left as it is.
func unchained(line []byte) (plain []byte, ok bool) {
	body := line[:max(0, len(line)-chainLen)]
	rest := line[len(body):]
	if len(rest) < chainLen || !bytes.HasPrefix(rest, []byte(chainKey)) || !bytes.HasSuffix(rest, []byte(chainEnd)) {
		return line, false
	}
	return append(bytes.Clone(body), "}\n"...), true
}

// after is the chain of a line whose bytes before it are body.
func (l link) after(body []byte) string {
	sum := sha256.New()
	sum.Write([]byte(l.chain))
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// add moves l to after a line.
func (l *link) add(line []byte) {
	if l.sum != nil {
		l.sum.Write(line)
		l.chain = string(line[len(line)-len(chainEnd)-2*sha256.Size : len(line)-len(chainEnd)])
	}
}

// journal is the SHA-256 of the journal's bytes so far.
func (l link) journal() string { return hex.EncodeToString(l.sum.Sum(nil)) }
