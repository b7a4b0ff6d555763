package textfile_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/textfile"
)

func file(t *testing.T, content string, compressed bool) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = struct {
		io.Writer
		io.Closer
	}{&b, io.NopCloser(nil)}
	if compressed {
		w = gzip.NewWriter(&b)
	}
	if _, err := io.WriteString(w, content); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Offsets count decompressed bytes; pieces may be read in any order.
func TestByOffset(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		f := textfile.ByOffset{Path: file(t, "0123456789", compressed)}
		for _, c := range []struct {
			offset int64
			want   string
		}{{2, "23"}, {4, "45"}, {8, "89"}, {0, "01"}, {5, "56"}} {
			if got, err := f.Read(c.offset, 2); err != nil || string(got) != c.want {
				t.Errorf("compressed %v, offset %d: %q, %v, want %q", compressed, c.offset, got, err, c.want)
			}
		}
		if _, err := f.Read(9, 2); err == nil {
			t.Errorf("compressed %v: a piece beyond the end was read", compressed)
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", textfile.MaxLine+1)
	l := textfile.NewLines(strings.NewReader("\ufeffone\r\n\n" + long + "\nlast"))
	for _, want := range []struct {
		line   string
		last   bool
		err    error
		offset int64
	}{{"one\r", false, nil, 3}, {"", false, nil, 8}, {"", false, textfile.ErrLongLine, 9}, {"last", true, nil, textfile.MaxLine + 11}, {"", true, io.EOF, textfile.MaxLine + 15}} {
		line, err := l.Next()
		if string(line) != want.line || !errors.Is(err, want.err) || l.Last != want.last {
			t.Errorf("line %d is %.20q, last %v, %v; want %q, %v, %v", l.Number, line, l.Last, err, want.line, want.last, want.err)
		}
		if l.Offset != want.offset {
			t.Errorf("line %d starts at %d, want %d", l.Number, l.Offset, want.offset)
		}
		if want.line == "last" && l.Number != 4 {
			t.Errorf("the last line has number %d, want 4", l.Number)
		}
	}
}
