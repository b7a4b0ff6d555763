package dataset

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/jsonpos"
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
func parseHotpot(p *parser, v jsonpos.Value) sample {
	fields := p.Fields(v, "", "question", "answer", "context", "supporting_facts")
	if fields == nil {
		return sample{}
	}
	paragraphs := hotpotParagraphs(p, fields["context"])
	s := sample{records: titled(paragraphs)}
	q := corpus.SourceQuery{Query: corpus.Query{Text: p.Text(fields["question"], "question")}}
	s.answer(p, &q, fields["answer"], p.Text(fields["answer"], "answer"))
	for _, name := range []string{"type", "level"} {
		tag(&q, name, p.Optional(fields, name, ""))
	}
	for _, f := range hotpotFacts(p, fields["supporting_facts"]) {
		g, problem := f.gold(paragraphs)
		if problem != "" {
			s.warnings = append(s.warnings, fmt.Sprintf("supporting fact %q, sentence %d: %s", f.title, f.sentence, problem))
			continue
		}
		q.Gold = append(q.Gold, g)
	}
	s.id, s.idField = p.name(fields, "_id", "id")
	s.asked = []corpus.SourceQuery{q}
	s.rest(p, fields, "a sample", "_id", "id", "question", "answer", "context", "supporting_facts", "type", "level")
	return s
}

// titled are paragraphs as records, whose ids are their titles.
func titled(paragraphs []paragraph) (records []*corpus.Record) {
	ids := taken{}
	for _, p := range paragraphs {
		records = append(records, toolRecord(ids.id(p.title), p.text()))
	}
	return records
}

func toolRecord(id, text string) *corpus.Record {
	return &corpus.Record{Record: prompt.Record{Role: "tool", Text: text}, ID: id}
}

// gold finds the sentence that a fact points to, or says why it cannot: the published
// data has such facts.
func (f fact) gold(paragraphs []paragraph) (g corpus.TextSpan, problem string) {
	for _, p := range paragraphs {
		if p.title != f.title {
			continue
		}
		if f.sentence < 0 || f.sentence >= len(p.sentences) {
			return corpus.TextSpan{}, fmt.Sprintf("the paragraph has %d sentences, counted from 0", len(p.sentences))
		}
		from, to := p.place(f.sentence)
		if from == to {
			return corpus.TextSpan{}, "the sentence is empty"
		}
		return corpus.TextSpan{Text: corpus.DigestOf(p.text()), From: from, To: to}, ""
	}
	return corpus.TextSpan{}, "no paragraph has this title"
}

func hotpotParagraphs(p *parser, v jsonpos.Value) []paragraph {
	var paragraphs []paragraph
	for _, pair := range p.Pairs(v, "context", "title", "sentences") {
		at := paragraph{title: p.Text(pair[0], "context")}
		for _, s := range p.List(pair[1], "context") {
			at.sentences = append(at.sentences, p.Text(s, "context"))
		}
		paragraphs = append(paragraphs, at)
	}
	if len(paragraphs) == 0 && len(p.Bad) == 0 {
		p.Errorf(v, "context", "has no paragraphs")
	}
	return paragraphs
}

func hotpotFacts(p *parser, v jsonpos.Value) []fact {
	var facts []fact
	for _, pair := range p.Pairs(v, "supporting_facts", "title", "sent_id") {
		facts = append(facts, fact{p.Text(pair[0], "supporting_facts"), p.Number(pair[1], "supporting_facts")})
	}
	return facts
}
