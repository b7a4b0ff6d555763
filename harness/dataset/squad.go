package dataset

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/jsonpos"
)

// parseSquad reads an article of the published file, or a row of its mirrors: one question
// with its context.
func parseSquad(p *parser, v jsonpos.Value) sample {
	fields := p.Fields(v, "")
	if _, row := fields["context"]; row {
		return parseSquadRow(p, v)
	}
	if fields = p.Fields(v, "", "title", "paragraphs"); fields == nil {
		return sample{}
	}
	title := p.Text(fields["title"], "title")
	s := sample{id: slug(title), idField: "title"}
	for i, v := range p.List(fields["paragraphs"], "paragraphs") {
		path := fmt.Sprintf("paragraphs[%d].", i)
		if at := p.Fields(v, path[:len(path)-1], "context", "qas"); at != nil {
			c := squadContext{title: title, text: p.Text(at["context"], path+"context")}
			s.rest(p, at, "a paragraph", "context", "qas")
			s.records = append(s.records, toolRecord(fmt.Sprintf("p%d", i+1), c.record()))
			for n, q := range p.List(at["qas"], path+"qas") {
				c.question(p, &s, q, fmt.Sprintf("%sqas[%d].", path, n))
			}
		}
	}
	if len(s.records) == 0 && len(p.Bad) == 0 {
		p.Errorf(fields["paragraphs"], "paragraphs", "has no paragraphs")
	}
	s.rest(p, fields, "an article", "title", "paragraphs")
	return s
}

func parseSquadRow(p *parser, v jsonpos.Value) sample {
	fields := p.Fields(v, "", "id", "context", "question", "answers")
	if fields == nil {
		return sample{}
	}
	c := squadContext{title: p.Optional(fields, "title", ""), text: p.Text(fields["context"], "context"), row: true}
	s := sample{records: []*corpus.Record{toolRecord("p1", c.record())}}
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
type squadContext struct {
	title, text string
	row         bool // of a mirror
}

func (c squadContext) record() string {
	if c.title == "" {
		return c.text
	}
	return c.title + "\n" + c.text
}

// question adds a question to the sample.
func (c squadContext) question(p *parser, s *sample, v jsonpos.Value, path string) {
	fields := p.Fields(v, strings.TrimSuffix(path, "."), "id", "question")
	if fields == nil {
		return
	}
	q := corpus.SourceQuery{Query: corpus.Query{Text: p.Text(fields["question"], path+"question")}}
	q.ID, _ = p.name(map[string]jsonpos.Value{path + "id": fields["id"]}, path+"id")
	if c.impossible(p, fields, path) {
		s.unanswerable(p, &q, fields, "plausible_answers", "answers")
	} else if answers, ok := fields["answers"]; ok {
		c.answers(p, s, &q, answers, path+"answers")
	} else {
		p.Errorf(v, strings.TrimSuffix(path, "."), "answers is missing: only a question with is_impossible: true has none")
	}
	s.rest(p, fields, "a question", "id", "question", "answers", "is_impossible", "plausible_answers", "title", "context")
	s.asked = append(s.asked, q)
}

// impossible reports whether the paragraph does not answer a question. Mirrors of version 2
// leave out is_impossible: there a question without an answer is impossible.
func (c squadContext) impossible(p *parser, fields map[string]jsonpos.Value, path string) bool {
	if _, ok := fields["is_impossible"]; ok || !c.row {
		return p.Flag(fields, "is_impossible", path)
	}
	answers, ok := fields["answers"]
	return ok && len(answers.Raw) > 0 && (answers.Raw[0] == '[' || answers.Raw[0] == '{') && len(squadSpans(p, answers, path+"answers")) == 0
}

func (c squadContext) answers(p *parser, s *sample, q *corpus.SourceQuery, v jsonpos.Value, path string) {
	spans := squadSpans(p, v, path)
	if len(spans) == 0 {
		s.skip(p, v, "question without an answer")
	}
	for _, a := range spans {
		if s.answer(p, q, v, a.text); strings.TrimSpace(a.text) == "" {
			continue
		}
		if at, ok := c.find(a); ok {
			q.Gold = append(q.Gold, at)
			continue
		}
		s.warnings = append(s.warnings, fmt.Sprintf("question %s: the answer %q does not stand at %d of its context", q.ID, a.text, a.start))
	}
}

// answerSpan is a text and where it stands, in characters.
type answerSpan struct {
	text  string
	start int
}

// squadSpans reads [{text, answer_start}, …] or {text: […], answer_start: […]}.
func squadSpans(p *parser, v jsonpos.Value, field string) (spans []answerSpan) {
	if v.Raw[0] == '{' {
		for _, pair := range p.Columns(v, field, "text", "answer_start") {
			spans = append(spans, answerSpan{p.Text(pair[0], field), p.Number(pair[1], field)})
		}
		return spans
	}
	for _, e := range p.List(v, field) {
		if fields := p.Fields(e, field, "text", "answer_start"); fields != nil {
			spans = append(spans, answerSpan{p.Text(fields["text"], field+".text"), p.Number(fields["answer_start"], field+".answer_start")})
		}
	}
	return spans
}

// find is the place of an answer in the record: where it is said to be or, where that is
// wrong, its only one.
func (c squadContext) find(a answerSpan) (corpus.TextSpan, bool) {
	record := c.record()
	from := offset(c.text, a.start)
	if from < 0 || a.text == "" || !strings.HasPrefix(c.text[from:], a.text) {
		if a.text == "" || strings.Count(c.text, a.text) != 1 {
			return corpus.TextSpan{}, false
		}
		from = strings.Index(c.text, a.text)
	}
	from += len(record) - len(c.text)
	return corpus.TextSpan{Text: corpus.DigestOf(record), From: from, To: from + len(a.text)}, true
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
