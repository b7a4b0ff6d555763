package yamlpos

import (
	"bytes"
	"errors"
	"io"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/poimen-memory/mem/harness/diag"
)

// documents are the first two documents of a file, nil where there is none.
func documents(data []byte) (first, second *yaml.Node, err error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	if first, err = next(d); first == nil {
		return nil, nil, err
	}
	second, err = next(d)
	return first, second, err
}

func next(d *yaml.Decoder) (*yaml.Node, error) {
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return &doc, nil
}

// complaint is what the library says of data, and the line it names (0 for none); "" for
// valid data.
func complaint(data []byte) (msg string, line int) {
	_, _, err := documents(data)
	if err == nil {
		return "", 0
	}
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	if number, rest, ok := strings.Cut(msg, ": "); ok && strings.HasPrefix(number, "line ") {
		line, _ = strconv.Atoi(strings.TrimPrefix(number, "line "))
		msg = rest
	}
	return msg, line
}

// syntaxError gives the library's complaint a position. The library names a line at
// best, and often a wrong one; so the shortest beginning of the file is searched that
// draws the same complaint: the mistake is its last character. What was opened and never
// closed has no such place; there the opening is named.
func syntaxError(name string, data []byte) *diag.Error {
	msg, _ := complaint(data)
	at := shortest(data, msg)
	if brackets, ok := opener(msg); ok {
		at = opening(data, brackets)
	} else if anchor, ok := unknownAnchor(msg); ok {
		at = max(at-len(anchor), 0)
	} else if strings.HasPrefix(msg, "did not find expected") { // seen at the end of the word
		at = bytes.LastIndexAny(data[:at], " \n") + 1
	}
	pos := position(data, at)
	pos.File = name
	return diag.Place{Pos: pos}.Errorf("%s", explain(msg, data[at:]))
}

// shortest is the offset of the last byte of the shortest prefix that draws msg: first
// by whole lines, then within the line.
func shortest(data []byte, msg string) int {
	ends := lineEnds(data)
	draws := func(n int) bool { m, _ := complaint(data[:n]); return m == msg }
	k := sort.Search(len(ends)-1, func(k int) bool { return draws(ends[k]) })
	start := 0
	if k > 0 {
		start = ends[k-1]
	}
	line := bytes.TrimRight(data[start:ends[k]], "\r\n")
	indent := len(line) - len(bytes.TrimLeft(line, " "))
	n := indent + sort.Search(len(line)-indent, func(n int) bool { return draws(start + indent + n + 1) })
	if n == len(line) { // it takes the whole line: point to where that begins
		n = indent
	}
	return start + n
}

func lineEnds(data []byte) []int {
	var ends []int
	for i, b := range data {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	return append(ends, len(data))
}

// opener is the kind of bracket or quote that a complaint says was never closed.
func opener(msg string) (chars string, ok bool) {
	switch {
	case strings.Contains(msg, "',' or ']'"):
		return "[", true
	case strings.Contains(msg, "',' or '}'"):
		return "{", true
	case msg == "found unexpected end of stream", msg == "found unexpected document indicator":
		return `"'`, true
	}
	return "", false
}

// opening is the offset of an unclosed bracket or quote. The library names the line of
// its opening, unless that is the first one: so a line is put before it. A parser's line
// counts from 0, a scanner's from 1.
func opening(data []byte, chars string) int {
	_, line := complaint(append([]byte("#\n"), data...))
	if strings.Contains(chars, `"`) {
		line--
	}
	ends := lineEnds(data)
	k := min(max(line-1, 0), len(ends)-1)
	start := 0
	if k > 0 {
		start = ends[k-1]
	}
	return start + max(bytes.LastIndexAny(data[start:ends[k]], chars), 0)
}

func unknownAnchor(msg string) (string, bool) {
	name, ok := strings.CutPrefix(msg, "unknown anchor '")
	return strings.TrimSuffix(name, "' referenced"), ok
}

// explain says in the words of a writer what the library says in those of a parser.
func explain(msg string, rest []byte) string {
	anchor, unknown := unknownAnchor(msg)
	switch {
	case unknown:
		return "found the alias *" + anchor + ", but no anchor &" + anchor + " before it"
	case strings.Contains(msg, "tab character"), strings.HasPrefix(string(rest), "\t"):
		return "found a tab in the indentation, want spaces"
	case strings.Contains(msg, "',' or ']'"):
		return `found a list that is not closed, or text in it that needs quotes (for a "?", say): want "," or "]"`
	case strings.Contains(msg, "',' or '}'"):
		return `found a map that is not closed, or text in it that needs quotes (for a "?", say): want "," or "}"`
	case msg == "found unexpected end of stream", msg == "found unexpected document indicator":
		return "found a quote that is not closed"
	case strings.HasPrefix(msg, "mapping values are not allowed"):
		return `found ":" where no key can be: put text that contains ": " in quotes, or check the indentation`
	case msg == "found character that cannot start any token" && len(rest) > 0:
		return "found " + diag.Quote(string([]rune(string(rest))[:1])) + " at the start of a value: put the text in quotes"
	case msg == "did not find expected key":
		return "found something that is no key of this map: check the indentation, and quotes within the text"
	case msg == "did not find expected <document start>":
		return `found more after text that is no map: want "key: value" from the first line on, with a space after ":"`
	case strings.HasPrefix(msg, "did not find expected '-' indicator"):
		return `found something that is no "- " element of this list: check the indentation`
	}
	return "not valid YAML: " + msg
}
