package main

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/klauspost/compress/zstd"
)

// write packs v into path; the same vocabulary gives the same bytes.
func (v vocabulary) write(path string) error {
	packed, err := v.pack()
	if err != nil {
		return err
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return os.WriteFile(path, w.EncodeAll(packed, nil), 0o644)
}

// single marks a token of a single byte, in the place of the high bits of its halves.
const single = 0xff

// pack writes v in the layout that main.go describes.
func (v vocabulary) pack() ([]byte, error) {
	pairs, err := v.pairs()
	if err != nil {
		return nil, err
	}
	n := len(v.tokens)
	if n >= 15<<16 {
		return nil, fmt.Errorf("%d tokens: the layout has room for fewer than %d", n, 15<<16)
	}
	planes := make([]byte, 5*n)
	for id, token := range v.tokens {
		halves, ok := pairs[id]
		high := halves.left>>16<<4 | halves.right>>16
		if !ok {
			halves.left, high = int(token[0]), single
		}
		for plane, value := range []int{halves.left, halves.left >> 8, halves.right, halves.right >> 8, high} {
			planes[plane*n+id] = byte(value)
		}
	}
	packed := append(binary.LittleEndian.AppendUint32(nil, uint32(n)), planes...)
	for _, added := range v.added {
		packed = append(binary.AppendUvarint(packed, uint64(len(added))), added...)
	}
	return packed, nil
}
