package chatlog

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/jsonpos"
	"github.com/poimen-memory/mem/harness/textfile"
	"github.com/poimen-memory/mem/prompt"
)

// aiderRecords are the records of aider's chat history, which is Markdown: lines of the user begin
// with ####, what aider prints begins with >, and what the model says is the rest.
func aiderRecords(path string) corpus.Records {
	return func() iter.Seq2[*corpus.Record, error] {
		return func(yield func(*corpus.Record, error) bool) {
			file, err := textfile.Open(path)
			if err != nil {
				yield(nil, err)
				return
			}
			defer file.Close()
			a := aider{file: path, yield: yield}
			a.read(textfile.NewLines(file))
		}
	}
}

// aider collects the lines of a record.
type aider struct {
	file  string
	yield func(*corpus.Record, error) bool
	role  string
	text  strings.Builder
	from  int // its first line
}

// mostAider is how long a record may become, in bytes, before the next line begins another one.
const mostAider = 1 << 20

func (a *aider) read(lines *textfile.Lines) {
	for {
		line, err := lines.Next()
		switch {
		case err == io.EOF:
			a.emit()
			return
		case err == textfile.ErrLongLine:
			a.yield(nil, jsonpos.LineErrors(a.file, lines.Number, nil, jsonpos.Fault{Msg: err.Error()}))
			return
		case err != nil:
			a.yield(nil, fmt.Errorf("%s: line %d: %w", a.file, lines.Number, err))
			return
		}
		if f := diag.InvalidUTF8(line); f >= 0 {
			fault := jsonpos.Fault{At: f, Msg: fmt.Sprintf("0x%02x is not UTF-8: want the whole file in UTF-8", line[f])}
			a.yield(nil, jsonpos.LineErrors(a.file, lines.Number, line[:f], fault))
			return
		}
		role, text := aiderLine(strings.TrimSuffix(string(line), "\r"))
		if role != a.role && text != "" || role == "system" || a.text.Len() > mostAider {
			if !a.emit() {
				return
			}
			a.role, a.from = role, lines.Number
		}
		a.text.WriteString(text + "\n")
	}
}

// aiderLine is whose line it is, and its text without the mark.
func aiderLine(line string) (role, text string) {
	for mark, role := range map[string]string{"####": "user", ">": "tool", "# aider chat started at ": "system"} {
		if text, ok := strings.CutPrefix(line, mark); ok && role == "system" {
			return role, "aider chat started at " + text
		} else if ok && (text == "" || text[0] == ' ') {
			return role, strings.TrimSpace(text)
		}
	}
	return "assistant", line
}

// emit ends the record that is open, if any.
func (a *aider) emit() bool {
	text := strings.Trim(a.text.String(), "\n")
	if a.text.Reset(); text == "" {
		return true
	}
	at := diag.Pos{File: a.file, Line: a.from, Col: 1}
	return a.yield(&corpus.Record{Record: prompt.Record{Role: a.role, Text: text}, ID: fmt.Sprintf("L%d", a.from), At: at, IDAt: at}, nil)
}
