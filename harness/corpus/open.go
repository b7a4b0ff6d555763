package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds what a zst file may make its reader hold, in bytes; `zstd --long` needs
// 128 MiB.
const maxWindow = 128 << 20

// openFile opens a file, through gzip or zstd when its first bytes say so, whatever its
// name: neither can begin a text in UTF-8.
func openFile(path string) (*opened, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(file)
	magic, _ := in.Peek(4) // what cannot be read now is an error of the first Read
	f := &opened{Reader: in, file: file}
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

// opened is a file that is being read.
type opened struct {
	io.Reader
	file       *os.File
	compressed bool
}

// Close implements io.Closer.
func (f *opened) Close() error { return f.file.Close() }

// byOffset reads pieces of a file by their offsets, which count bytes that are no longer
// compressed. A compressed file stays open, to be read on from where the last piece ended:
// pieces in the file's order cost one pass. It may be used concurrently.
type byOffset struct {
	path string

	mu   sync.Mutex
	file *opened // compressed
	at   int64
}

func (f *byOffset) read(offset int64, size int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := make([]byte, size)
	if f.file != nil && offset >= f.at {
		return b, f.forward(b, offset)
	}
	file, err := openFile(f.path)
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

func (f *byOffset) forward(b []byte, offset int64) error {
	n, err := io.CopyN(io.Discard, f.file, offset-f.at)
	f.at += n
	if err != nil {
		return err
	}
	read, err := io.ReadFull(f.file, b)
	f.at += int64(read)
	return err
}
