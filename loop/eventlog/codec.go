package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/poimen-memory/mem/loop"
)

// Writer appends units of events to a log, each with a single Write, so that a killed
// process leaves at most one torn unit at the end.
type Writer struct{ W io.Writer }

// Emit writes one unit. It is a loop.Sink.
func (w Writer) Emit(unit []loop.Event) error {
	var lines []byte
	for _, e := range unit {
		line, err := Encode(e)
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	_, err := w.W.Write(lines)
	return err
}

// Encode is an event's line, its newline included. The same event is the same bytes
// everywhere: keys stand in the order of the struct's fields, type first.
func Encode(e loop.Event) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type":%q,`, e.Type())
	head := b.Len()
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a memory full of "<" stays readable
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	line := b.Bytes()
	return append(line[:head], line[head+1:]...), nil // drop the object's own "{"
}

// Decode reads one line back. It takes exactly what Encode writes and refuses any other
// spelling of the same event, so that a changed byte cannot hide in white space, key
// order or an unknown key.
func Decode(line []byte) (loop.Event, error) {
	name, err := typeOf(line)
	if err != nil {
		return nil, err
	}
	e, err := decodeAs(name, line)
	if err != nil {
		return nil, err
	}
	again, err := Encode(e)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, line) {
		return nil, fmt.Errorf("not in the log's canonical form: want %s", bytes.TrimSuffix(again, []byte("\n")))
	}
	return e, nil
}

// typeOf is the event type that a line names. In canonical form it stands first, and the line
// need not be parsed for it: comparing the line with its canonical form decides.
func typeOf(line []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`",`)); ok && isName(name) {
			return string(name), nil
		}
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return "", fmt.Errorf("not a JSON object: %v", err)
	}
	return head.Type, nil
}

// isName reports whether name is made of the bytes of event types, so that JSON spells it alike.
func isName(name []byte) bool { return len(bytes.Trim(name, "abcdefghijklmnopqrstuvwxyz_")) == 0 }

func decodeAs(name string, line []byte) (loop.Event, error) {
	switch name {
	case loop.RunStart{}.Type():
		return into[loop.RunStart](line)
	case loop.Gate{}.Type():
		return into[loop.Gate](line)
	case loop.Evidence{}.Type():
		return into[loop.Evidence](line)
	case loop.Memory{}.Type():
		return into[loop.Memory](line)
	case loop.BudgetExceeded{}.Type():
		return into[loop.BudgetExceeded](line)
	case loop.ParseFailed{}.Type():
		return into[loop.ParseFailed](line)
	case loop.RunEnd{}.Type():
		return into[loop.RunEnd](line)
	}
	return nil, fmt.Errorf("unknown event type %q", name)
}

func into[E loop.Event](line []byte) (loop.Event, error) {
	var e E
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("%s: %v", e.Type(), err)
	}
	return e, nil
}
