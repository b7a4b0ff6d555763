package corpus

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// parseSquad reads an article of the published file, or a row of its mirrors: one question
// with its context.
func parseSquad(p *parser, v value) sample {
	fields := p.fields(v, "")
	if _, row := fields["context"]; row {
		return parseSquadRow(p, v)
	}
	if fields = p.fields(v, "", "title", "paragraphs"); fields == nil {
		return sample{}
	}
	title := p.text(fields["title"], "title")
	s := sample{id: slug(title), idField: "title"}
	for i, v := range p.list(fields["paragraphs"], "paragraphs") {
		path := fmt.Sprintf("paragraphs[%d].", i)
		if at := p.fields(v, path[:len(path)-1], "context", "qas"); at != nil {
			c := squadContext{title, p.text(at["context"], path+"context")}
			s.records = append(s.records, toolRecord(fmt.Sprintf("p%d", i+1), c.record()))
			for n, q := range p.list(at["qas"], path+"qas") {
				c.question(p, &s, q, fmt.Sprintf("%sqas[%d].", path, n))
			}
		}
	}
	if len(s.records) == 0 && len(p.bad) == 0 {
		p.complain(fields["paragraphs"], "paragraphs", "has no paragraphs")
	}
	return s
}

func parseSquadRow(p *parser, v value) sample {
	fields := p.fields(v, "", "id", "context", "question", "answers")
	if fields == nil {
		return sample{}
	}
	c := squadContext{p.optional(fields, "title", ""), p.text(fields["context"], "context")}
	s := sample{records: []*record{toolRecord("p1", c.record())}}
	c.question(p, &s, v, "")
	s.id, s.idField = p.name(fields, "id")
	return s
}

// notNames are the letters that a folder's name does without.
var notNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// slug makes a title good as a name of a run and its folder.
func slug(title string) string {
	s := strings.Trim(notNames.ReplaceAllString(title, "-"), "._-")
	return s[:min(len(s), 64)]
}

// squadContext is a paragraph. Its record begins with the article's title.
type squadContext struct{ title, text string }

func (c squadContext) record() string {
	if c.title == "" {
		return c.text
	}
	return c.title + "\n" + c.text
}

// question adds a question to the sample. One that has no answer has no evidence.
func (c squadContext) question(p *parser, s *sample, v value, path string) {
	fields := p.fields(v, strings.TrimSuffix(path, "."), "id", "question", "answers")
	if fields == nil {
		return
	}
	q := imported{Query: Query{Text: p.text(fields["question"], path+"question")}}
	q.ID, _ = p.name(map[string]value{path + "id": fields["id"]}, path+"id")
	spans := p.spans(fields["answers"], path+"answers")
	if p.flag(fields, "is_impossible", path) {
		spans = nil
	}
	for _, a := range spans {
		q.Answers = appendNew(q.Answers, a.text)
		if at, ok := c.find(a); ok {
			q.gold = append(q.gold, at)
			continue
		}
		s.notes = append(s.notes, fmt.Sprintf("question %s: the answer %q does not stand at %d of its context", q.ID, a.text, a.start))
	}
	s.asked = append(s.asked, q)
}

// answerSpan is a text and where it stands, in characters.
type answerSpan struct {
	text  string
	start int
}

// spans reads [{text, answer_start}, …] or {text: […], answer_start: […]}.
func (p *parser) spans(v value, field string) (spans []answerSpan) {
	if v.raw[0] == '{' {
		for _, pair := range p.columns(v, field, "text", "answer_start") {
			spans = append(spans, answerSpan{p.text(pair[0], field), p.number(pair[1], field)})
		}
		return spans
	}
	for _, e := range p.list(v, field) {
		if fields := p.fields(e, field, "text", "answer_start"); fields != nil {
			spans = append(spans, answerSpan{p.text(fields["text"], field+".text"), p.number(fields["answer_start"], field+".answer_start")})
		}
	}
	return spans
}

// find is the place of an answer in the record: where it is said to be or, where that is
// wrong, its only one.
func (c squadContext) find(a answerSpan) (gold, bool) {
	record := c.record()
	from := offset(c.text, a.start)
	if from < 0 || a.text == "" || !strings.HasPrefix(c.text[from:], a.text) {
		if a.text == "" || strings.Count(c.text, a.text) != 1 {
			return gold{}, false
		}
		from = strings.Index(c.text, a.text)
	}
	from += len(record) - len(c.text)
	return gold{sha256.Sum256([]byte(record)), from, from + len(a.text)}, true
}

// offset is where character n of a text begins, -1 beyond it.
func offset(s string, n int) int {
	if n < 0 || n > utf8.RuneCountInString(s) {
		return -1
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
