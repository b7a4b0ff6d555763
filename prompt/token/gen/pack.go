package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
)

// write packs v into path; the same vocabulary gives the same bytes.
func (v vocabulary) write(path string) error {
	packed, err := v.pack()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(packed); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

func (v vocabulary) pack() ([]byte, error) {
	pairs, err := v.pairs()
	if err != nil {
		return nil, err
	}
	packed := binary.AppendUvarint(nil, uint64(len(v.tokens)))
	var rights, singles []byte
	for id, token := range v.tokens {
		halves, ok := pairs[id]
		if !ok {
			packed = append(packed, 0)
			singles = append(singles, token...)
			continue
		}
		packed = binary.AppendUvarint(packed, uint64(halves.left)+1)
		rights = binary.AppendUvarint(rights, uint64(halves.right))
	}
	packed = append(append(packed, rights...), singles...)
	packed = binary.AppendUvarint(packed, uint64(len(v.added)))
	for _, added := range v.added {
		packed = append(binary.AppendUvarint(packed, uint64(len(added))), added...)
	}
	return packed, nil
}
