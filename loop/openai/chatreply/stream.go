package chatreply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
)

// isStream reports whether a reply is an event stream, which some servers and gateways send
// whatever was asked for, and under any content type.
func isStream(contentType string, body []byte) bool {
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), "text/event-stream") {
		return !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{"))
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte(field)) {
			return true
		}
	}
	return false
}

// readStream puts a streamed reply together. A stream that ends before the reply does is BrokenOff.
func readStream(body []byte) (Reply, error) {
	var c Reply
	for e := range events(body) {
		switch {
		case isEnd(e.data):
			return c, c.missing(body)
		case e.name == "error":
			return c, ServerError(e.data)
		}
		if err := c.readEvent(e.data); err != nil {
			return c, err
		}
	}
	if c.chosen && c.Finish == "" {
		return c, BrokenOff("breaks off: its event stream ends without finish_reason or [DONE]")
	}
	return c, c.missing(body)
}

// readEvent adds an event's data. It may hold several values: some servers leave out the
// blank lines between events.
func (c *Reply) readEvent(data []byte) error {
	if !json.Valid(data) {
		data = withoutNaN(data)
	}
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		var v json.RawMessage
		if err := d.Decode(&v); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("is no chat completion: an event of its stream: %v: %s", err, data)
		}
		chunk := fields(v)
		if chunk == nil {
			return fmt.Errorf("is no chat completion: an event of its stream is %s, want an object", v)
		}
		if ofAnotherChoice(chunk) {
			continue
		}
		if err := c.read(chunk, v); err != nil {
			return err
		}
	}
}

// ofAnotherChoice reports whether a chunk is of a choice that is not the first.
func ofAnotherChoice(chunk map[string]json.RawMessage) bool {
	var choices []struct{ Index json.RawMessage }
	return json.Unmarshal(chunk["choices"], &choices) == nil && len(choices) > 0 && present(choices[0].Index)
}

// event is one of a stream of server-sent events.
type event struct {
	name string
	data []byte
}

// isEnd reports whether data says that a stream is whole.
func isEnd(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// events are those of a stream, the last also where no blank line follows it. Comments and
// other fields are passed over.
func events(body []byte) iter.Seq[event] {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	body = bytes.ReplaceAll(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	return func(yield func(event) bool) {
		var e event
		for line := range bytes.SplitSeq(append(body, "\n\n"...), []byte("\n")) {
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			whole := len(line) == 0 || string(field) == "data" && isEnd(value) // some leave out the blank line before it
			if whole && len(bytes.TrimSpace(e.data)) > 0 && !yield(e) {
				return
			}
			if whole {
				e = event{}
			}
			switch string(field) {
			case "data":
				e.data = append(append(e.data, value...), '\n')
			case "event":
				e.name = string(value)
			}
		}
	}
}
