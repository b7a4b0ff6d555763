package corpus

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/prompt"
)

// adversarial is the category of questions that nothing in the conversation answers.
const adversarial = 5

// parseLoCoMo reads a conversation of two people over many sessions. The first speaker
// becomes the user, the second the assistant; names stay in the texts.
func parseLoCoMo(p *parser, v value) sample {
	fields := p.fields(v, "", "conversation", "qa")
	if fields == nil {
		return sample{}
	}
	s := sample{}
	s.id, s.idField = p.name(fields, "sample_id")
	talk := p.fields(fields["conversation"], "conversation", "speaker_a", "speaker_b")
	if talk == nil {
		return s
	}
	l := locomo{parser: p, sample: &s, turns: map[string]bool{},
		roles: map[string]string{p.text(talk["speaker_b"], "conversation.speaker_b"): "assistant"}}
	for _, n := range l.sessions(talk) {
		l.session(talk, n)
	}
	if len(s.records) == 0 && len(p.bad) == 0 {
		p.complain(fields["conversation"], "conversation", "has no session_1, session_2, …")
	}
	for i, q := range p.list(fields["qa"], "qa") {
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
func (l locomo) sessions(talk map[string]value) (numbers []string) {
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

// session adds the date of a session and its turns.
func (l locomo) session(talk map[string]value, n string) {
	path := "conversation.session_" + n
	if date := l.optional(talk, "session_"+n+"_date_time", "conversation."); date != "" {
		l.add("system", "session_"+n, fmt.Sprintf("Session %s, %s", n, date))
	}
	for i, v := range l.list(talk["session_"+n], path) {
		at := fmt.Sprintf("%s[%d]", path, i)
		fields := l.fields(v, at, "speaker", "dia_id", "text")
		if fields == nil {
			continue
		}
		speaker, id := l.text(fields["speaker"], at+".speaker"), l.text(fields["dia_id"], at+".dia_id")
		text := l.text(fields["text"], at+".text")
		if caption := l.optional(fields, "blip_caption", at+"."); caption != "" {
			text = strings.TrimSpace(text + " [shares an image: " + caption + "]")
		} else if _, image := fields["img_url"]; image {
			l.records = append(l.records, &record{skipped: "image without a caption"})
		}
		l.turns[id] = true
		l.add(cmp.Or(l.roles[speaker], "user"), id, speaker+": "+text)
	}
}

func (l locomo) add(role, id, text string) {
	l.records = append(l.records, &record{Record: prompt.Record{Role: role, Text: text}, id: id})
}

// question adds one. An adversarial one has neither answers nor evidence: its evidence ids
// point to what it twists.
func (l locomo) question(v value, i int) {
	path := fmt.Sprintf("qa[%d]", i)
	fields := l.fields(v, path, "question", "category")
	if fields == nil {
		return
	}
	q := imported{Query: Query{ID: strings.TrimPrefix(fmt.Sprintf("%s-q%03d", l.id, i+1), "-"), Text: l.text(fields["question"], path+".question")}}
	if l.number(fields["category"], path+".category") != adversarial {
		l.answered(&q, fields, path)
	}
	l.asked = append(l.asked, q)
}

func (l locomo) answered(q *imported, fields map[string]value, path string) {
	if answer, ok := fields["answer"]; ok {
		q.Answers = []string{l.answer(answer, path+".answer")}
	} else {
		l.complain(fields["question"], path, "answer is missing: only questions of category %d have none", adversarial)
	}
	evidence, ok := fields["evidence"]
	if !ok {
		l.notes = append(l.notes, fmt.Sprintf("question %s: no evidence is given", q.ID))
		return
	}
	for _, e := range l.list(evidence, path+".evidence") {
		l.evidence(q, l.text(e, path+".evidence"))
	}
}

// turnID is a turn's id, in any way that the published file writes it.
var turnID = regexp.MustCompile(`D:?0*([0-9]+):0*([0-9]+)`)

// evidence labels the turns that an entry names. Published are also two in one entry
// ("D8:6; D9:17") and zeros and colons too many ("D30:05", "D:11:26").
func (l locomo) evidence(q *imported, entry string) {
	found := turnID.FindAllStringSubmatch(entry, -1)
	for _, m := range found {
		id := "D" + m[1] + ":" + m[2]
		if !l.turns[id] {
			l.notes = append(l.notes, fmt.Sprintf("question %s: evidence %s: no turn has the id %s", q.ID, strconv.Quote(entry), id))
			continue
		}
		q.Labels = append(q.Labels, Label{ID: id})
	}
	rest := strings.Trim(turnID.ReplaceAllString(entry, ""), " ,;")
	if rest != "" || len(found) == 0 {
		l.notes = append(l.notes, fmt.Sprintf("question %s: evidence %s: %q is no turn's id, as D1:3", q.ID, strconv.Quote(entry), rest))
	}
}
