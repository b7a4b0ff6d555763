package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/jsonpos"
	"github.com/poimen-memory/mem/prompt"
)

// adversarial is the category of questions that nothing in the conversation answers, unless
// they have an answer.
const adversarial = 5

// parseLoCoMo reads a conversation of two people over many sessions. The first speaker
// becomes the user, the second the assistant; names stay in the texts.
func parseLoCoMo(p *parser, v jsonpos.Value) sample {
	fields := p.Fields(v, "", "conversation", "qa")
	if fields == nil {
		return sample{}
	}
	s := sample{}
	s.id, s.idField = p.name(fields, "sample_id")
	talk := p.Fields(fields["conversation"], "conversation", "speaker_a", "speaker_b")
	if talk == nil {
		return s
	}
	l := locomo{parser: p, sample: &s, turns: map[string]bool{},
		roles: map[string]string{p.Text(talk["speaker_b"], "conversation.speaker_b"): "assistant"}}
	for _, n := range l.sessions(talk) {
		l.session(talk, n)
	}
	if len(l.turns) == 0 && len(p.Bad) == 0 {
		p.Errorf(fields["conversation"], "conversation", "has no session_1, session_2, …")
	}
	l.restOf(talk)
	s.rest(p, fields, "a sample", "sample_id", "conversation", "qa")
	for i, q := range p.List(fields["qa"], "qa") {
		l.question(q, i)
	}
	return s
}

// locomo is a conversation while it is read.
type locomo struct {
	*parser
	*sample
	roles map[string]string // by speaker; the user's is not in it
	turns map[string]bool   // ids
}

var sessionKey = regexp.MustCompile(`^session_([0-9]{1,6})$`)

// sessions are the numbers of those that there are, in order.
func (l locomo) sessions(talk map[string]jsonpos.Value) (numbers []string) {
	for key := range talk {
		if m := sessionKey.FindStringSubmatch(key); m != nil {
			numbers = append(numbers, m[1])
		}
	}
	slices.SortFunc(numbers, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return numbers
}

var dateKey = regexp.MustCompile(`^(session_[0-9]{1,6})_date_time$`)

// restOf skips what a conversation has beside sessions: the published file has dates of
// sessions that it does not have.
func (l locomo) restOf(talk map[string]jsonpos.Value) {
	for _, key := range slices.Sorted(maps.Keys(talk)) {
		date := dateKey.FindStringSubmatch(key)
		switch {
		case key == "speaker_a", key == "speaker_b", sessionKey.MatchString(key):
		case date == nil:
			l.skip(l.parser, talk[key], "field of a conversation", key)
		case talk[date[1]].Raw == nil:
			l.skip(l.parser, talk[key], "date of a session that does not exist")
		}
	}
}

// session adds the date of a session and its turns.
func (l locomo) session(talk map[string]jsonpos.Value, n string) {
	path := "conversation.session_" + n
	if date := l.Optional(talk, "session_"+n+"_date_time", "conversation."); date != "" {
		l.add("system", "session_"+n, fmt.Sprintf("Session %s, %s", n, date))
	}
	for i, v := range l.List(talk["session_"+n], path) {
		at := fmt.Sprintf("%s[%d]", path, i)
		fields := l.Fields(v, at, "speaker", "dia_id", "text")
		if fields == nil {
			continue
		}
		speaker, id := l.Text(fields["speaker"], at+".speaker"), l.Text(fields["dia_id"], at+".dia_id")
		text := l.Text(fields["text"], at+".text")
		if caption := l.Optional(fields, "blip_caption", at+"."); caption != "" {
			text = strings.TrimSpace(text + " [shares an image: " + caption + "]")
		} else if _, image := fields["img_url"]; image {
			l.skip(l.parser, v, "image without a caption")
		}
		l.rest(l.parser, fields, "a turn", "speaker", "dia_id", "text", "blip_caption", "img_url")
		l.turns[id] = true
		l.add(cmp.Or(l.roles[speaker], "user"), id, speaker+": "+text)
	}
}

func (l locomo) add(role, id, text string) {
	l.records = append(l.records, &corpus.Record{Record: prompt.Record{Role: role, Text: text}, ID: id})
}

// question adds one. The evidence of an unanswerable one points to what it twists.
func (l locomo) question(v jsonpos.Value, i int) {
	path := fmt.Sprintf("qa[%d]", i)
	fields := l.Fields(v, path, "question", "category")
	if fields == nil {
		return
	}
	q := corpus.SourceQuery{Query: corpus.Query{ID: strings.TrimPrefix(fmt.Sprintf("%s-q%03d", l.id, i+1), "-"), Text: l.Text(fields["question"], path+".question")}}
	category := l.Number(fields["category"], path+".category")
	tag(&q, "category", strconv.Itoa(category))
	if answer, ok := fields["answer"]; ok && (category != adversarial || !answer.IsNull()) {
		l.answered(&q, fields, path)
	} else if category == adversarial {
		l.unanswerable(l.parser, &q, fields, "evidence", "adversarial_answer")
	} else {
		l.Errorf(v, path, "answer is missing: only questions of category %d have none", adversarial)
	}
	l.rest(l.parser, fields, "a question", "question", "category", "answer", "evidence", "adversarial_answer")
	l.asked = append(l.asked, q)
}

func (l locomo) answered(q *corpus.SourceQuery, fields map[string]jsonpos.Value, path string) {
	l.answer(l.parser, q, fields["answer"], l.TextOrNumber(fields["answer"], path+".answer"))
	if wrong, ok := fields["adversarial_answer"]; ok && !wrong.IsEmpty() {
		l.skip(l.parser, wrong, "adversarial answer of a question with an answer")
	}
	evidence, ok := fields["evidence"]
	if !ok {
		l.warnings = append(l.warnings, fmt.Sprintf("question %s: no evidence is given", q.ID))
		return
	}
	for _, e := range l.List(evidence, path+".evidence") {
		l.evidence(q, l.Text(e, path+".evidence"))
	}
}

// turnID is a turn's id, in any way that the published file writes it.
var turnID = regexp.MustCompile(`D:?0*([0-9]+):0*([0-9]+)`)

// evidence labels the turns that an entry names. Published are also two in one entry
// ("D8:6; D9:17") and zeros and colons too many ("D30:05", "D:11:26").
func (l locomo) evidence(q *corpus.SourceQuery, entry string) {
	found := turnID.FindAllStringSubmatch(entry, -1)
	for _, m := range found {
		id := "D" + m[1] + ":" + m[2]
		if !l.turns[id] {
			l.warnings = append(l.warnings, fmt.Sprintf("question %s: evidence %s: no turn has the id %s", q.ID, strconv.Quote(entry), id))
			continue
		}
		q.Labels = append(q.Labels, corpus.Label{ID: id})
	}
	rest := strings.Trim(turnID.ReplaceAllString(entry, ""), " ,;")
	if rest != "" || len(found) == 0 {
		l.warnings = append(l.warnings, fmt.Sprintf("question %s: evidence %s: %q is no turn's id, as D1:3", q.ID, strconv.Quote(entry), rest))
	}
}
