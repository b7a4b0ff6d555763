// Package textfile opens text files that may be compressed with gzip or zstd, and reads them by
// lines or by offsets without holding them.
package textfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/poimen-memory/mem/internal/inputfile"
)

// maxWindow bounds what a zst file may make its reader hold, in bytes; `zstd --long` needs
// 128 MiB.
const maxWindow = 128 << 20

// Open opens a file. Its first bytes decide whether it is decompressed, whatever its name:
// neither gzip nor zstd can begin a text in UTF-8.
func Open(path string) (*File, error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(file)
	magic, _ := in.Peek(4) // what cannot be read now is an error of the first Read
	f := &File{Reader: in, file: file}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		f.compressed = true
		f.Reader, err = gzip.NewReader(in)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		f.compressed = true // with one goroutine: the reader of an abandoned pass is garbage as a whole
		f.Reader, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// File is an open file. It reads decompressed bytes.
type File struct {
	io.Reader
	file       *os.File
	compressed bool
}

// Close implements io.Closer.
func (f *File) Close() error { return f.file.Close() }

// ByOffset reads pieces of a file by their offsets in the decompressed text. A compressed file
// stays open at the end of the last piece: pieces in the order of the file cost one pass. It
// may be used concurrently.
type ByOffset struct {
	Path string

	mu   sync.Mutex
	file *File // only of a compressed file
	at   int64
}

// Read returns size bytes from offset on.
func (f *ByOffset) Read(offset int64, size int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := make([]byte, size)
	if f.file != nil && offset >= f.at {
		return b, f.forward(b, offset)
	}
	file, err := Open(f.Path)
	if err != nil {
		return nil, err
	}
	if !file.compressed {
		defer file.Close()
		_, err := file.file.ReadAt(b, offset)
		return b, err
	}
	if f.file != nil {
		f.file.Close()
	}
	f.file, f.at = file, 0
	return b, f.forward(b, offset)
}

// forward reads on to offset and fills b.
func (f *ByOffset) forward(b []byte, offset int64) error {
	n, err := io.CopyN(io.Discard, f.file, offset-f.at)
	f.at += n
	if err != nil {
		return err
	}
	read, err := io.ReadFull(f.file, b)
	f.at += int64(read)
	return err
}
