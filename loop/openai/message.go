package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// problem is what a server says went wrong.
type problem struct{ message, kind, code string }

// describe reads the body of an error reply. Known shapes, all of which may be mixed:
//
//	{"error": {"message": "…", "type": "…", "code": …}}   OpenAI, llama.cpp, vLLM since 0.10
//	{"error": "…"}                                        Ollama, TGI
//	{"object": "error", "message": "…", "type": …}        vLLM, SGLang
//	{"detail": "…"}, {"detail": [{"loc": […], "msg": …}]} FastAPI
//	{"message": "…"}, [{"error": {…}}]                    gateways, Gemini
//
// Anything else is shown as it is.
func describe(body []byte) problem {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err == nil {
		if p := problemOf(v); p.message != "" {
			return p
		}
	}
	return problem{message: string(body)}
}

func problemOf(v any) problem {
	switch v := v.(type) {
	case string:
		return problem{message: v}
	case []any:
		return problemOfList(v)
	case map[string]any:
		return problemOfObject(v)
	}
	return problem{}
}

func problemOfList(list []any) (p problem) {
	var said []string
	for _, v := range list {
		one := problemOf(v)
		said = append(said, one.message)
		p.kind, p.code = cmp.Or(p.kind, one.kind), cmp.Or(p.code, one.code)
	}
	p.message = strings.Join(said, "; ")
	return p
}

func problemOfObject(o map[string]any) (p problem) {
	for _, name := range []string{"error", "errors", "detail", "message", "msg"} {
		if p = problemOf(o[name]); p.message != "" {
			break
		}
	}
	if where := path(o["loc"]); where != "" {
		p.message = where + ": " + p.message
	}
	if inner, ok := o["metadata"].(map[string]any); ok { // OpenRouter: the provider's own words
		p.message += suffix(": ", scalar(inner["raw"]))
	}
	p.kind, p.code = cmp.Or(p.kind, scalar(o["type"])), cmp.Or(p.code, scalar(o["code"]))
	return p
}

func suffix(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// path joins FastAPI's ["body", "messages", 0].
func path(loc any) string {
	list, _ := loc.([]any)
	var steps []string
	for _, step := range list {
		steps = append(steps, scalar(step))
	}
	return strings.Join(steps, ".")
}

func scalar(v any) string {
	switch v := v.(type) {
	case string, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

// messageBytes keeps an error to a line or two: a server may answer with a page.
const messageBytes = 500

// line makes foreign text fit for an error: valid, on one line, without what a terminal
// would interpret, and not long.
func line(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(text) <= messageBytes {
		return text
	}
	end := messageBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
