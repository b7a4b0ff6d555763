package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
)

// fewSessions is the number of sessions below which no decision about new sessions is GO.
const fewSessions = 5

// Advice is what is no error in a spec, makes its numbers mean less than they seem to, and is
// to be known before anything runs. Each line begins with its place.
func Advice(p *Plan) (list []string) {
	for _, e := range slices.Concat(adviseDecision(p), advisePacking(p), adviseRoles(p), adviseAnswers(p)) {
		list = append(list, e.Error())
	}
	return list
}

func adviseDecision(p *Plan) (list diag.Errors) {
	d := p.Spec.Decision
	if d == nil {
		return nil
	}
	if n := decidedSessions(p); n < fewSessions && d.Unit.Value != string(stat.ByQuery) {
		list = append(list, d.At.Errorf("found %s: a GO about new sessions takes %d or more; to decide for new questions on %s, add unit: query",
			diag.Count(n, "session"), fewSessions, map[bool]string{true: "this one", false: "these"}[n == 1]))
	}
	if names := unlabelled(p); len(names) > 0 {
		list = append(list, d.At.Errorf("found %s without evidence, in which every write is wrong (%s): label the evidence, or say answerable: false",
			diag.Count(len(names), "query"), someOf(names)))
	}
	return list
}

// decidedSessions is the least number of sessions at a level that is decided on.
func decidedSessions(p *Plan) int {
	sessions := map[string]map[string]bool{}
	for _, level := range p.Spec.Decision.For.Levels.Value {
		sessions[level.String()] = map[string]bool{}
	}
	for _, r := range p.Runs {
		if of, decided := sessions[r.Level.String()]; decided {
			_, session := p.Unit(r)
			of[session] = true
		}
	}
	least := len(p.Runs)
	for _, of := range sessions {
		least = min(least, len(of))
	}
	return least
}

// unlabelled are the queries that have evidence in no session and are not marked for it.
func unlabelled(p *Plan) (names []string) {
	labelled := map[string]bool{}
	for _, r := range p.Runs {
		if !r.OverMemories() {
			labelled[r.Query] = labelled[r.Query] || len(r.Asked.Evidence) > 0 || r.References.Unanswerable
		}
	}
	for _, name := range slices.Sorted(maps.Keys(labelled)) {
		if !labelled[name] {
			names = append(names, name)
		}
	}
	return names
}

// advisePacking is about sessions that are one chunk: the gates decide once, and there is
// nothing to remember.
func advisePacking(p *Plan) (list diag.Errors) {
	for i := range p.Spec.Corpora {
		c := &p.Spec.Corpora[i]
		var names []string
		for _, s := range p.Sessions {
			if s.Corpus == c && s.Len() == 1 && s.Records() > 1 {
				names = append(names, s.Name())
			}
		}
		if len(names) > 0 {
			list = append(list, c.At.Errorf("found a packing that makes one chunk of all records of %s (%s): want smaller chunks, as in chunk: {records: 1}",
				diag.Count(len(names), "session"), someOf(names)))
		}
	}
	return list
}

// roles are those that chat formats have.
var roles = []string{"system", "user", "assistant", "tool"}

// otherRoles are those of other formats for the same.
var otherRoles = map[string]string{
	"developer": "system", "function": "tool", "human": "user", "ai": "assistant", "bot": "assistant", "gpt": "assistant", "model": "assistant",
}

// usualRole is the usual role that one is probably meant to be; "" if it is usual, or like none.
func usualRole(role string) string {
	if slices.Contains(roles, role) {
		return ""
	}
	if usual := otherRoles[strings.ToLower(role)]; usual != "" {
		return usual
	}
	return diag.Nearest(role, roles)
}

// adviseRoles is about roles that are nearly one of those that are usual.
func adviseRoles(p *Plan) (list diag.Errors) {
	for i := range p.Spec.Corpora {
		c := &p.Spec.Corpora[i]
		count := map[string]int{}
		for _, s := range p.Sessions {
			for role, n := range s.Roles() {
				if s.Corpus == c && usualRole(role) != "" {
					count[role] += n
				}
			}
		}
		for _, role := range slices.Sorted(maps.Keys(count)) {
			list = append(list, c.At.Errorf("found role %s in %s; did you mean %q?", diag.Quote(role), diag.Count(count[role], "record"), usualRole(role)))
		}
	}
	return list
}

// adviseAnswers is about answers that are asked for and whose references are nowhere in their
// session: the reference is in other words, or the session is another one. What cannot be
// read again is reported when it is run.
func adviseAnswers(p *Plan) (list diag.Errors) {
	if p.Answers == nil {
		return nil
	}
	var names, bare []string
	for _, s := range p.Sessions {
		for _, q := range s.Queries() {
			if slices.ContainsFunc(q.Answers, answer.Bare) && !slices.Contains(bare, q.ID) {
				bare = append(bare, q.ID)
			}
		}
		absent, err := absentAnswers(s)
		if err != nil {
			return diag.Errors{s.Corpus.At.Errorf("%v", err)}
		}
		names = append(names, absent...)
	}
	if len(bare) > 0 {
		list = append(list, p.Spec.Answer.At.Errorf("found %s with an answer of which normalising leaves nothing (%s): it is compared as it is, and an empty one scores 0; want a wording with more in it",
			diag.Count(len(bare), "query"), someOf(bare)))
	}
	if len(names) > 0 {
		list = append(list, p.Spec.Answer.At.Errorf("found %s whose answers are nowhere in the session (%s): sub_em wants these very words",
			diag.Count(len(names), "query"), someOf(names)))
	}
	return list
}

func absentAnswers(s *Session) (names []string, err error) {
	var asked []string
	for _, q := range s.Queries() {
		if len(q.Answers) > 0 && len(q.Evidence) > 0 {
			asked = append(asked, q.ID)
		}
	}
	if asked == nil {
		return nil, nil
	}
	var text strings.Builder
	for chunk, wrong := range s.Chunks() {
		if wrong != nil {
			return nil, errors.New("session " + s.Name() + ": " + wrong.Error())
		}
		text.WriteString(chunk.Raw)
		text.WriteByte('\n')
	}
	holds := holder(text.String())
	for _, q := range s.Queries() {
		if slices.Contains(asked, q.ID) && !slices.ContainsFunc(q.Answers, func(ref string) bool { return yesOrNo(ref) || holds(ref) }) {
			names = append(names, q.ID)
		}
	}
	return names, nil
}

// holder says of references whether a text holds them. It normalises a text, which takes a
// second for some megabytes, only for a reference that does not stand in it as it is.
func holder(text string) func(reference string) bool {
	folded, normalised := strings.ToLower(text), sync.OnceValue(func() func(string) bool { return answer.Holder(text) })
	return func(reference string) bool {
		return strings.Contains(folded, strings.ToLower(reference)) || normalised()(reference)
	}
}

// yesOrNo are answers that follow from a session and do not stand in it.
func yesOrNo(ref string) bool {
	return slices.Contains([]string{"yes", "no"}, strings.ToLower(strings.Trim(ref, " .")))
}

// someOf are the first few names.
func someOf(names []string) string {
	const shown = 3
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
