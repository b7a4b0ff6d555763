package corpus

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/prompt"
)

// parseLongMemEval reads one question with its haystack of chat sessions. The evidence is
// the turns that say they have the answer; a session that is named as an answer's without
// such turns is evidence as a whole.
func parseLongMemEval(p *parser, v value) sample {
	fields := p.fields(v, "", "question_id", "question", "answer", "haystack_sessions")
	if fields == nil {
		return sample{}
	}
	s := sample{}
	s.id, s.idField = p.name(fields, "question_id")
	h := haystack{parser: p, sample: &s, turns: map[string][]string{}, gold: map[string][]string{}}
	h.sessions(fields)
	q := imported{Query: Query{Text: p.text(fields["question"], "question")}}
	if date := p.optional(fields, "question_date", ""); date != "" {
		q.Text += " (asked on " + date + ")"
	}
	answer := p.answer(fields["answer"], "answer")
	// A question with this ending asks for what was never said: its answer says so, and
	// nothing is evidence.
	if !strings.HasSuffix(s.id, "_abs") {
		q.Answers = []string{answer}
		q.Labels = h.labels(fields)
	}
	s.asked = []imported{q}
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

func (h *haystack) sessions(fields map[string]value) {
	sessions := h.list(fields["haystack_sessions"], "haystack_sessions")
	names := h.column(fields, "haystack_session_ids", len(sessions))
	dates := h.column(fields, "haystack_dates", len(sessions))
	ids := taken{}
	for i, v := range sessions {
		name := fmt.Sprintf("session_%d", i+1)
		if names != nil {
			name = names[i]
		}
		id := ids.id(name)
		if dates != nil { // not the id, which in this data gives the answer away
			h.add("system", id, fmt.Sprintf("Session %d, %s", i+1, dates[i]))
		}
		h.order = appendNew(h.order, name)
		h.session(v, name, id, fmt.Sprintf("haystack_sessions[%d]", i))
	}
	if len(h.records) == 0 && len(h.bad) == 0 {
		h.complain(fields["haystack_sessions"], "haystack_sessions", "has no turns")
	}
}

// column is a list of texts, one a session; nil when it is not there.
func (h *haystack) column(fields map[string]value, name string, n int) []string {
	v, ok := fields[name]
	if !ok {
		return nil
	}
	var texts []string
	for _, e := range h.list(v, name) {
		texts = append(texts, h.text(e, name))
	}
	if len(texts) != n {
		h.complain(v, name, "found %d, want one for each of %d sessions", len(texts), n)
		return nil
	}
	return texts
}

func (h *haystack) session(v value, name, id, path string) {
	for i, e := range h.list(v, path) {
		at := fmt.Sprintf("%s[%d]", path, i)
		fields := h.fields(e, at, "role", "content")
		if fields == nil {
			continue
		}
		role := h.text(fields["role"], at+".role")
		if role != "user" && role != "assistant" && role != "system" {
			h.complain(fields["role"], at+".role", "found %q, want user or assistant", role)
		}
		turn := fmt.Sprintf("%s/%d", id, i+1)
		h.add(role, turn, h.text(fields["content"], at+".content"))
		h.turns[name] = append(h.turns[name], turn)
		if h.flag(fields, "has_answer", at+".") {
			h.gold[name] = append(h.gold[name], turn)
		}
	}
}

func (h *haystack) add(role, id, text string) {
	h.records = append(h.records, &record{Record: prompt.Record{Role: role, Text: text}, id: id})
}

func (h *haystack) labels(fields map[string]value) (labels []Label) {
	answers := map[string]bool{}
	if v, ok := fields["answer_session_ids"]; ok {
		for _, e := range h.list(v, "answer_session_ids") {
			name := h.text(e, "answer_session_ids")
			if answers[name] = true; h.turns[name] == nil {
				h.notes = append(h.notes, fmt.Sprintf("question %s: the answer's session %q is not in the haystack", h.id, name))
			}
		}
	}
	for _, name := range h.order {
		turns := h.gold[name]
		if turns == nil && answers[name] {
			turns = h.turns[name]
		}
		for _, turn := range turns {
			labels = append(labels, Label{ID: turn})
		}
	}
	return labels
}
