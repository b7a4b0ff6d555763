package dataset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/jsonpos"
	"github.com/poimen-memory/mem/prompt"
)

// parseLongMemEval reads one question with its haystack of chat sessions. The evidence is
// the turns that say they have the answer; a session that is named as an answer's without
// such turns is evidence as a whole.
func parseLongMemEval(p *parser, v jsonpos.Value) sample {
	fields := p.Fields(v, "", "question_id", "question", "answer", "haystack_sessions")
	if fields == nil {
		return sample{}
	}
	s := sample{}
	s.id, s.idField = p.name(fields, "question_id")
	h := haystack{parser: p, sample: &s, turns: map[string][]string{}, gold: map[string][]string{}}
	h.sessions(fields)
	q := corpus.SourceQuery{Query: corpus.Query{Text: p.Text(fields["question"], "question")}}
	if date := p.Optional(fields, "question_date", ""); date != "" {
		q.Text += " (asked on " + date + ")"
	}
	tag(&q, "question_type", p.Optional(fields, "question_type", ""))
	// A question with this ending asks for what was never said: its answer says so.
	if strings.HasSuffix(s.id, "_abs") {
		s.unanswerable(p, &q, fields, "answer", "answer_session_ids")
	} else {
		s.answer(p, &q, fields["answer"], p.TextOrNumber(fields["answer"], "answer"))
		q.Labels = h.labels(fields)
	}
	s.asked = []corpus.SourceQuery{q}
	s.rest(p, fields, "a sample", "question_id", "question", "question_type", "question_date", "answer", "answer_session_ids",
		"haystack_sessions", "haystack_session_ids", "haystack_dates")
	return s
}

// haystack is the sessions of a question while they are read.
type haystack struct {
	*parser
	*sample
	turns map[string][]string // record ids by session id
	gold  map[string][]string // of turns with the answer
	order []string            // session ids
}

// sessions adds the sessions in the order of their dates: what was said later replaces what
// was said before.
func (h *haystack) sessions(fields map[string]jsonpos.Value) {
	sessions := h.List(fields["haystack_sessions"], "haystack_sessions")
	names := h.column(fields, "haystack_session_ids", len(sessions))
	dates := h.column(fields, "haystack_dates", len(sessions))
	ids := taken{}
	for n, i := range h.byDate(dates, len(sessions)) {
		name := fmt.Sprintf("session_%d", i+1)
		if names != nil {
			name = names[i]
		}
		id := ids.id(name)
		if dates != nil { // not the id, which in this data gives the answer away
			h.add("system", id, fmt.Sprintf("Session %d, %s", n+1, dates[i]))
		}
		h.order = appendNew(h.order, name)
		h.session(sessions[i], name, id, fmt.Sprintf("haystack_sessions[%d]", i))
	}
	if len(h.turns) == 0 && len(h.Bad) == 0 {
		h.Errorf(fields["haystack_sessions"], "haystack_sessions", "has no turns")
	}
}

// byDate is the indexes of n sessions in the order of their dates; in that of the file if a
// date cannot be read.
func (h *haystack) byDate(dates []string, n int) []int {
	order, times := make([]int, n), make([]time.Time, n)
	for i := range order {
		order[i] = i
		if dates == nil {
			continue
		}
		var err error
		if times[i], err = time.Parse("2006/01/02 (Mon) 15:04", dates[i]); err != nil {
			h.notes = append(h.notes, "sample whose sessions stay in the order of the file: a date is not as 2023/05/20 (Sat) 02:21")
			dates = nil
			clear(times)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return times[a].Compare(times[b]) })
	if !slices.IsSorted(order) {
		h.notes = append(h.notes, "sample whose sessions are in the order of their dates, not of the file")
	}
	return order
}

// column is a list of texts, one a session; nil when it is not there.
func (h *haystack) column(fields map[string]jsonpos.Value, name string, n int) []string {
	v, ok := fields[name]
	if !ok {
		return nil
	}
	var texts []string
	for _, e := range h.List(v, name) {
		texts = append(texts, h.Text(e, name))
	}
	if len(texts) != n {
		h.Errorf(v, name, "found %d, want one for each of %d sessions", len(texts), n)
		return nil
	}
	return texts
}

func (h *haystack) session(v jsonpos.Value, name, id, path string) {
	for i, e := range h.List(v, path) {
		at := fmt.Sprintf("%s[%d]", path, i)
		fields := h.Fields(e, at, "role", "content")
		if fields == nil {
			continue
		}
		role := h.Text(fields["role"], at+".role")
		if role != "user" && role != "assistant" && role != "system" {
			h.Errorf(fields["role"], at+".role", "found %q, want user or assistant", role)
		}
		turn := fmt.Sprintf("%s/%d", id, i+1)
		h.add(role, turn, h.Text(fields["content"], at+".content"))
		h.turns[name] = append(h.turns[name], turn)
		h.rest(h.parser, fields, "a turn", "role", "content", "has_answer")
		if h.Flag(fields, "has_answer", at+".") {
			h.gold[name] = append(h.gold[name], turn)
		}
	}
}

func (h *haystack) add(role, id, text string) {
	h.records = append(h.records, &corpus.Record{Record: prompt.Record{Role: role, Text: text}, ID: id})
}

func (h *haystack) labels(fields map[string]jsonpos.Value) (labels []corpus.Label) {
	answers := map[string]bool{}
	if v, ok := fields["answer_session_ids"]; ok {
		for _, e := range h.List(v, "answer_session_ids") {
			name := h.Text(e, "answer_session_ids")
			if answers[name] = true; h.turns[name] == nil {
				h.warnings = append(h.warnings, fmt.Sprintf("question %s: the answer's session %q is not in the haystack", h.id, name))
			}
		}
	}
	for _, name := range h.order {
		turns := h.gold[name]
		if turns == nil && answers[name] {
			turns = h.turns[name]
		}
		for _, turn := range turns {
			labels = append(labels, corpus.Label{ID: turn})
		}
	}
	return labels
}
