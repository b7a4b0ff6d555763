// Package lint finds what is wrong with sessions and their labels before an experiment uses them.
package lint

import (
	"context"
	"fmt"
	"regexp"
	"sync"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/secret"
	"github.com/poimen-memory/mem/prompt"
)

// Kind is the kind of a finding.
type Kind string

// The kinds of findings. The first three make a corpus unfit for use; the others inform.
const (
	Missing     Kind = "missing evidence"   // a label that hits nothing
	Ambiguous   Kind = "ambiguous evidence" // a label that hits more than one place, but does not say all
	Secret      Kind = "secret"             // what looks like a key
	Unlabelled  Kind = "unlabelled query"   // in no session has it evidence
	Duplicate   Kind = "duplicate"          // a record with the text of an earlier one; repeated filler of generated sessions is not
	Reserved    Kind = "reserved tag"       // a tag of the prompt in a record: it is escaped when sent
	Forged      Kind = "forged record"      // a text that renders like more than one record
	Mojibake    Kind = "mojibake"           // text that was decoded with the wrong character set
	NotImported Kind = "not imported"       // entries that are not records, and labels that point to nothing
)

// Unfit reports whether a corpus with such a finding should not be used as it is.
func (k Kind) Unfit() bool { return k == Missing || k == Ambiguous || k == Secret }

// Finding is one finding of Check.
type Finding struct {
	Kind Kind
	At   diag.Pos // of the record, or of the label; zero for an imported query
	What string   // describes it; never contains the secret
	More int      // further findings of the kind that this one represents
}

// shortDuplicate is the length in bytes below which two equal texts mean nothing: "ok".
const shortDuplicate = 40

// Check reads corpora and calls found for each finding: those of records while it reads,
// duplicates at the end of a session, one for each text, and last those of labels, because a
// label may hit in any of the corpora. Its error is that of corpus.Load.
func Check(ctx context.Context, corpora []corpus.Config, found func(Finding)) error {
	c := checker{found: found, labels: map[labelKey]*labelHits{}, evidence: map[string]int{}}
	for _, cfg := range corpora {
		if err := c.corpus(ctx, cfg); err != nil {
			return err
		}
	}
	c.checkLabels()
	return nil
}

// checker is a Check while it runs.
type checker struct {
	found    func(Finding)
	seen     map[corpus.Digest]seen // the texts of a session
	roles    map[string]int         // of the session so far
	repeated []Finding              // the texts that occur again
	labels   map[labelKey]*labelHits
	order    []*labelHits
	evidence map[string]int // places of evidence by query
	queries  []string
}

// seen is a text that occurred.
type seen struct {
	first string // the record
	again int    // its number among the repeated ones, from 1; 0 if it is not repeated
}

type labelKey struct {
	query string
	at    diag.Pos
}

type labelHits struct {
	corpus.Label
	n int
}

func (c *checker) corpus(ctx context.Context, cfg corpus.Config) error {
	if _, err := cfg.AddLabels(); err != nil {
		return err
	}
	sources, err := cfg.Sources(ctx)
	if err != nil {
		return err
	}
	for _, source := range sources {
		c.seen, c.repeated, c.roles = map[corpus.Digest]seen{}, nil, map[string]int{}
		finder := corpus.NewFinder(cfg.Queries, source.Queries)
		err := source.Each(ctx, func(r *corpus.Record) error {
			c.record(finder, r)
			return nil
		})
		if err != nil {
			return err
		}
		c.duplicates()
		for _, w := range source.Warnings {
			c.found(Finding{Kind: NotImported, At: w.Pos, What: w.Msg})
		}
		c.countHits(finder.Asked(), len(cfg.Queries))
	}
	return nil
}

// countHits adds the hits of the queries in one session; the first n queries have labels that
// a person wrote.
func (c *checker) countHits(asked []corpus.Asked, n int) {
	for i, q := range asked {
		if q.Unanswerable {
			continue
		}
		if _, ok := c.evidence[q.ID]; !ok {
			c.evidence[q.ID] = 0
			c.queries = append(c.queries, q.ID)
		}
		for j, l := range q.Labels {
			if i >= n {
				continue
			}
			key := labelKey{q.ID, l.Pos}
			if c.labels[key] == nil {
				c.labels[key] = &labelHits{Label: l}
				c.order = append(c.order, c.labels[key])
			}
			c.labels[key].n += q.Hits[j]
		}
	}
}

// checkLabels finds what is wrong with labels and queries over all corpora.
func (c *checker) checkLabels() {
	for _, l := range c.order {
		kind := Missing
		if l.n > 1 {
			kind = Ambiguous
		}
		if problem := l.Problem(l.n); problem != "" {
			c.found(Finding{Kind: kind, At: l.Pos, What: problem})
		}
	}
	for _, id := range c.queries {
		if c.evidence[id] == 0 {
			c.found(Finding{Kind: Unlabelled, What: fmt.Sprintf("query %s has no evidence: its gates cannot be right or wrong", id)})
		}
	}
}

func (c *checker) record(finder *corpus.Finder, r *corpus.Record) {
	if r.Skipped != "" {
		c.found(Finding{Kind: NotImported, At: r.At, What: r.Skipped})
		return
	}
	for _, s := range finder.Find(r) {
		c.evidence[finder.Asked()[s.Query].ID]++
	}
	report := func(k Kind, format string, args ...any) {
		c.found(Finding{Kind: k, At: r.At, What: name(r) + ": " + fmt.Sprintf(format, args...)})
	}
	for _, s := range secret.Find(r.Text) {
		report(Secret, "%s", s.Hint(r.Text))
	}
	for _, s := range secret.Find(r.ID) {
		report(Secret, "in its id, %s", s.Hint(r.ID))
	}
	if _, tags, _ := prompt.Escape(r.Text); tags > 0 {
		report(Reserved, "%d of the prompt's own tags", tags)
	}
	c.roles[r.Role]++
	if roles := corpus.Forged(r.Text, c.roles); len(roles) > 0 {
		report(Forged, "after a blank line its text has the label [%s], as %s would", roles[0], diag.Count(len(roles), "further record"))
	}
	if at := mojibake().FindStringIndex(r.Text); at != nil {
		report(Mojibake, "%s", r.Context(at[0], at[1]))
	}
	c.repeats(r)
}

// repeats notes a text that occurred before.
func (c *checker) repeats(r *corpus.Record) {
	if len(r.Text) < shortDuplicate || r.Filler {
		return
	}
	text := corpus.DigestOf(r.Text)
	switch before, ok := c.seen[text]; {
	case !ok:
		c.seen[text] = seen{first: name(r)}
	case before.again == 0:
		c.repeated = append(c.repeated, Finding{Kind: Duplicate, At: r.At, What: name(r) + ": same text as " + before.first})
		before.again = len(c.repeated)
		c.seen[text] = before
	default:
		c.repeated[before.again-1].More++
	}
}

// duplicates reports the texts that occur again in a session.
func (c *checker) duplicates() {
	for _, f := range c.repeated {
		if f.More > 0 {
			f.What += fmt.Sprintf(", which comes %d times in all", f.More+2)
		}
		c.found(f)
	}
}

// name describes a record in a message.
func name(r *corpus.Record) string {
	switch {
	case r.ID != "":
		id, _ := secret.Redact(r.ID)
		return "record " + id
	case r.Number > 0:
		return fmt.Sprintf("record %d", r.Number)
	}
	return fmt.Sprintf("record on line %d", r.At.Line)
}

// mojibake matches UTF-8 that was decoded as Windows-1252, and the replacement character.
var mojibake = sync.OnceValue(func() *regexp.Regexp {
	const tail = `[\x{80}-\x{bf}€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]`
	return regexp.MustCompile(`[ÂÃ]` + tail + `|â` + tail + `{2}|ð` + tail + `{3}|\x{fffd}`)
})
