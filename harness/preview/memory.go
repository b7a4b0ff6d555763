package preview

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/internal/inputfile"
)

// MemoryBefore is the memory that the prompt shows, nil for none. given is the spec, nil for a
// session in a file.
func (t Turn) MemoryBefore(given *spec.Spec, stdin io.Reader) (*string, error) {
	switch {
	case t.Answer && t.Run == "" && t.Memory == "": // none was written
		return nil, nil
	case t.Number < 1 && !t.Answer:
		return nil, fmt.Errorf("--chunk: found %d, want a chunk's number from 1", t.Number)
	case t.Run != "":
		return t.ofRun(given)
	case t.Memory != "" && t.Number == 1:
		return nil, errors.New("--memory: found a memory at chunk 1, where there is none yet")
	case t.Memory != "":
		return readMemory(t.Memory, stdin)
	case t.Number > 1:
		return nil, fmt.Errorf("chunk %d is read with a memory: want --memory FILE, or --run RUN with a run that read it", t.Number)
	}
	return nil, nil
}

// readMemory trims as a candidate is trimmed: a file's last newline is its editor's.
func readMemory(file string, stdin io.Reader) (*string, error) {
	var data []byte
	var err error
	if file == "-" {
		data, err = inputfile.ReadStdin(stdin, inputfile.MaxMemory)
	} else {
		data, err = inputfile.Read(file, inputfile.MaxMemory)
	}
	if err != nil {
		return nil, fmt.Errorf("--memory: %s: %v", file, diag.Reason(err))
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return nil, fmt.Errorf("--memory: %s is blank, and no model can write such a memory", file)
	}
	return &text, nil
}

// ofRun is the memory before the turn in an earlier run's log.
func (t Turn) ofRun(given *spec.Spec) (*string, error) {
	if given == nil {
		return nil, errors.New("--run: want --spec too, whose run it is")
	}
	if of := t.Session + "/" + t.Query + "/"; !strings.HasPrefix(t.Run, of) || !fs.ValidPath(t.Run) {
		return nil, fmt.Errorf("--run: found %s, want a run of this corpus and query, named %s…", t.Run, of)
	}
	folder := record.Folder{Dir: filepath.Join(t.Out, given.Experiment.Value)}
	if t.Answer {
		return record.MemoryAtEnd(folder, t.Run, models.CountMemory)
	}
	return record.MemoryBefore(folder, t.Run, t.Number, models.CountMemory)
}
