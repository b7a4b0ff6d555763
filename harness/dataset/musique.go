package dataset

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/jsonpos"
)

// parseMusique reads one question with its paragraphs. The evidence is the paragraphs that
// say they support, and those that a step of the decomposition points to.
func parseMusique(p *parser, v jsonpos.Value) sample {
	fields := p.Fields(v, "", "paragraphs", "question", "answer")
	if fields == nil {
		return sample{}
	}
	s := sample{}
	s.id, s.idField = p.name(fields, "id")
	q := corpus.SourceQuery{Query: corpus.Query{Text: p.Text(fields["question"], "question")}}
	supports := musiqueParagraphs(p, &s, fields["paragraphs"])
	var steps []jsonpos.Value
	if v, ok := fields["question_decomposition"]; ok {
		steps = p.List(v, "question_decomposition")
		s.steps(p, steps, supports)
	}
	tag(&q, "hops", hops(s.id, len(steps)))
	s.rest(p, fields, "a sample", "id", "paragraphs", "question", "answer", "answer_aliases", "answerable", "question_decomposition")
	// The full data set asks each question twice under one id, the second time without the
	// paragraphs that answer it.
	if v, ok := fields["answerable"]; ok && !p.Flag(fields, "answerable", "") && !v.IsNull() {
		if s.id != "" {
			s.id += "-unanswerable"
		}
		s.unanswerable(p, &q, fields, "answer", "answer_aliases")
		s.asked = []corpus.SourceQuery{q}
		return s
	}
	s.answer(p, &q, fields["answer"], p.TextOrNumber(fields["answer"], "answer"))
	if aliases, ok := fields["answer_aliases"]; ok {
		for _, a := range p.List(aliases, "answer_aliases") {
			s.answer(p, &q, a, p.TextOrNumber(a, "answer_aliases"))
		}
	}
	for _, r := range s.records {
		if supports[r.ID] {
			q.Gold = append(q.Gold, corpus.TextSpan{Text: corpus.DigestOf(r.Text), From: 0, To: len(r.Text)})
		}
	}
	s.asked = []corpus.SourceQuery{q}
	return s
}

var hopsOfID = regexp.MustCompile(`^([0-9])hop`)

// hops is how many paragraphs a question rests on: the published ids begin with it, as in
// 2hop__482757_12019; without such an id it is the number of steps, "" if there are none.
func hops(id string, steps int) string {
	if m := hopsOfID.FindStringSubmatch(id); m != nil {
		return m[1]
	}
	if steps > 0 {
		return strconv.Itoa(steps)
	}
	return ""
}

// musiqueParagraphs reads the records, whose ids are p and their index, and returns the
// ids of those that support.
func musiqueParagraphs(p *parser, s *sample, v jsonpos.Value) map[string]bool {
	supports := map[string]bool{}
	for i, e := range p.List(v, "paragraphs") {
		path := fmt.Sprintf("paragraphs[%d].", i)
		fields := p.Fields(e, path[:len(path)-1], "title", "paragraph_text")
		if fields == nil {
			continue
		}
		n := i
		if idx, ok := fields["idx"]; ok {
			n = p.Number(idx, path+"idx")
		}
		id := fmt.Sprintf("p%d", n)
		s.records = append(s.records, toolRecord(id, p.Text(fields["title"], path+"title")+"\n"+p.Text(fields["paragraph_text"], path+"paragraph_text")))
		supports[id] = supports[id] || p.Flag(fields, "is_supporting", path)
		s.rest(p, fields, "a paragraph", "idx", "title", "paragraph_text", "is_supporting")
	}
	if len(s.records) == 0 && len(p.Bad) == 0 {
		p.Errorf(v, "paragraphs", "has no paragraphs")
	}
	return supports
}

// steps adds the paragraphs that the steps of a question rest on.
func (s *sample) steps(p *parser, steps []jsonpos.Value, supports map[string]bool) {
	for i, e := range steps {
		path := fmt.Sprintf("question_decomposition[%d]", i)
		idx, ok := p.Fields(e, path)["paragraph_support_idx"]
		if !ok || idx.IsNull() {
			continue
		}
		id := fmt.Sprintf("p%d", p.Number(idx, path+".paragraph_support_idx"))
		if _, known := supports[id]; !known {
			s.warnings = append(s.warnings, fmt.Sprintf("step %d of the question: no paragraph has the index %s", i+1, id[1:]))
			continue
		}
		supports[id] = true
	}
}
