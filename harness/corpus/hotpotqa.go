package corpus

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/prompt"
)

type paragraph struct {
	title     string
	sentences []string
}

func (p paragraph) text() string { return p.title + "\n" + strings.Join(p.sentences, "") }

// place is where sentence n, from 0, stands in the paragraph's text.
func (p paragraph) place(n int) (from, to int) {
	from = len(p.title) + 1
	for _, s := range p.sentences[:n] {
		from += len(s)
	}
	return from, from + len(p.sentences[n])
}

// fact points to a sentence, from 0, that the answer follows from.
type fact struct {
	title    string
	sentence int
}

// parseHotpot reads one question with its paragraphs, in either shape.
func parseHotpot(p *parser, v value) sample {
	fields := p.fields(v, "", "question", "answer", "context", "supporting_facts")
	if fields == nil {
		return sample{}
	}
	q := imported{Query: Query{Text: p.text(fields["question"], "question"), Answers: []string{p.text(fields["answer"], "answer")}}}
	paragraphs := p.paragraphs(fields["context"])
	s := sample{records: titled(paragraphs)}
	for _, f := range p.facts(fields["supporting_facts"]) {
		g, problem := f.gold(paragraphs)
		if problem != "" {
			s.notes = append(s.notes, fmt.Sprintf("supporting fact %q, sentence %d: %s", f.title, f.sentence, problem))
			continue
		}
		q.gold = append(q.gold, g)
	}
	s.id, s.idField = p.name(fields, "_id", "id")
	s.asked = []imported{q}
	return s
}

// titled are paragraphs as records, whose ids are their titles.
func titled(paragraphs []paragraph) (records []*record) {
	ids := taken{}
	for _, p := range paragraphs {
		records = append(records, toolRecord(ids.id(p.title), p.text()))
	}
	return records
}

func toolRecord(id, text string) *record {
	return &record{Record: prompt.Record{Role: "tool", Text: text}, id: id}
}

// gold finds the sentence that a fact points to, or says why it cannot: the published
// data has such facts.
func (f fact) gold(paragraphs []paragraph) (g gold, problem string) {
	for _, p := range paragraphs {
		if p.title != f.title {
			continue
		}
		if f.sentence < 0 || f.sentence >= len(p.sentences) {
			return gold{}, fmt.Sprintf("the paragraph has %d sentences, counted from 0", len(p.sentences))
		}
		from, to := p.place(f.sentence)
		if from == to {
			return gold{}, "the sentence is empty"
		}
		return gold{sha256.Sum256([]byte(p.text())), from, to}, ""
	}
	return gold{}, "no paragraph has this title"
}

func (p *parser) paragraphs(v value) []paragraph {
	var paragraphs []paragraph
	for _, pair := range p.pairs(v, "context", "title", "sentences") {
		at := paragraph{title: p.text(pair[0], "context")}
		for _, s := range p.list(pair[1], "context") {
			at.sentences = append(at.sentences, p.text(s, "context"))
		}
		paragraphs = append(paragraphs, at)
	}
	if len(paragraphs) == 0 && len(p.bad) == 0 {
		p.complain(v, "context", "has no paragraphs")
	}
	return paragraphs
}

func (p *parser) facts(v value) []fact {
	var facts []fact
	for _, pair := range p.pairs(v, "supporting_facts", "title", "sent_id") {
		facts = append(facts, fact{p.text(pair[0], "supporting_facts"), p.number(pair[1], "supporting_facts")})
	}
	return facts
}
