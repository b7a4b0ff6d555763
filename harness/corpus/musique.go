package corpus

import (
	"crypto/sha256"
	"fmt"
)

// parseMusique reads one question with its paragraphs. The evidence is the paragraphs that
// say they support, and those that a step of the decomposition points to.
func parseMusique(p *parser, v value) sample {
	fields := p.fields(v, "", "paragraphs", "question", "answer")
	if fields == nil {
		return sample{}
	}
	s := sample{}
	s.id, s.idField = p.name(fields, "id")
	q := imported{Query: Query{Text: p.text(fields["question"], "question")}}
	supports := musiqueParagraphs(p, &s, fields["paragraphs"])
	if steps, ok := fields["question_decomposition"]; ok {
		s.steps(p, steps, supports)
	}
	// The full data set asks each question twice under one id, the second time without the
	// paragraphs that answer it.
	if v, ok := fields["answerable"]; ok && !p.flag(fields, "answerable", "") && !v.isNull() {
		if s.id != "" {
			s.id += "-unanswerable"
		}
		s.asked = []imported{q}
		return s
	}
	q.Answers = []string{p.answer(fields["answer"], "answer")}
	if aliases, ok := fields["answer_aliases"]; ok {
		for _, a := range p.list(aliases, "answer_aliases") {
			q.Answers = appendNew(q.Answers, p.answer(a, "answer_aliases"))
		}
	}
	for _, r := range s.records {
		if supports[r.id] {
			q.gold = append(q.gold, gold{sha256.Sum256([]byte(r.Text)), 0, len(r.Text)})
		}
	}
	s.asked = []imported{q}
	return s
}

// musiqueParagraphs reads the records, whose ids are p and their index, and returns the
// ids of those that support.
func musiqueParagraphs(p *parser, s *sample, v value) map[string]bool {
	supports := map[string]bool{}
	for i, e := range p.list(v, "paragraphs") {
		path := fmt.Sprintf("paragraphs[%d].", i)
		fields := p.fields(e, path[:len(path)-1], "title", "paragraph_text")
		if fields == nil {
			continue
		}
		n := i
		if idx, ok := fields["idx"]; ok {
			n = p.number(idx, path+"idx")
		}
		id := fmt.Sprintf("p%d", n)
		s.records = append(s.records, toolRecord(id, p.text(fields["title"], path+"title")+"\n"+p.text(fields["paragraph_text"], path+"paragraph_text")))
		supports[id] = supports[id] || p.flag(fields, "is_supporting", path)
	}
	if len(s.records) == 0 && len(p.bad) == 0 {
		p.complain(v, "paragraphs", "has no paragraphs")
	}
	return supports
}

// steps adds the paragraphs that the steps of a question rest on.
func (s *sample) steps(p *parser, v value, supports map[string]bool) {
	for i, e := range p.list(v, "question_decomposition") {
		path := fmt.Sprintf("question_decomposition[%d]", i)
		idx, ok := p.fields(e, path)["paragraph_support_idx"]
		if !ok || idx.isNull() {
			continue
		}
		id := fmt.Sprintf("p%d", p.number(idx, path+".paragraph_support_idx"))
		if _, known := supports[id]; !known {
			s.notes = append(s.notes, fmt.Sprintf("step %d of the question: no paragraph has the index %s", i+1, id[1:]))
			continue
		}
		supports[id] = true
	}
}
