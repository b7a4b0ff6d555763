package corpus

import (
	"context"
	"fmt"
	"regexp"
	"sync"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

// Kind is a sort of finding.
type Kind string

// The kinds of findings. The first three make a corpus unfit for use; the others are there
// to be known.
const (
	Missing    Kind = "missing evidence"   // a label that hits nothing
	Ambiguous  Kind = "ambiguous evidence" // a label that hits more than one place, but does not say all
	Secret     Kind = "secret"             // what looks like a key
	Unlabelled Kind = "unlabelled query"   // in no session has it evidence
	Duplicate  Kind = "duplicate"          // a record with the text of an earlier one, but for noise that is made
	Reserved   Kind = "reserved tag"       // is escaped when sent
	Mojibake   Kind = "mojibake"           // text that was decoded with the wrong character set
	PassedOver Kind = "passed over"        // what of an import is no record, or no label
)

// Unfit reports whether a corpus with such a finding should not be used as it is.
func (k Kind) Unfit() bool { return k == Missing || k == Ambiguous || k == Secret }

// Finding is one thing that Check found.
type Finding struct {
	Kind Kind
	At   yamlpos.Pos // of the record, or of the label; zero for an imported query
	What string      // what it is; never the secret itself
	More int         // findings of the kind that this one stands for, beside itself
}

// shortDuplicate is the length in bytes below which two equal texts mean nothing: "ok".
const shortDuplicate = 40

// Check passes over corpora and hands each finding to found: those of records as they
// come, duplicates at the end of a session, one for each text, and last those of labels, which
// may hit in any of the corpora that are given them. The error is that of Load.
func Check(ctx context.Context, corpora []Config, found func(Finding)) error {
	c := checker{found: found, labels: map[labelKey]*labelHits{}, evidence: map[string]int{}}
	for _, cfg := range corpora {
		if err := c.corpus(ctx, cfg); err != nil {
			return err
		}
	}
	c.judge()
	return nil
}

// checker is a Check on its way.
type checker struct {
	found    func(Finding)
	seen     map[digest]seen // the texts of a session
	again    []Finding       // those that came again
	labels   map[labelKey]*labelHits
	order    []*labelHits
	evidence map[string]int // places of evidence by query
	queries  []string
}

// seen is a text that came.
type seen struct {
	first string // the record
	again int    // its number among those that came again, from 1; 0 if it is none
}

type labelKey struct {
	query string
	at    yamlpos.Pos
}

type labelHits struct {
	Label
	n int
}

func (c *checker) corpus(ctx context.Context, cfg Config) error {
	if _, err := cfg.readLabels(); err != nil {
		return err
	}
	parts, err := parts(ctx, cfg)
	if err != nil {
		return err
	}
	for _, p := range parts {
		c.seen, c.again = map[digest]seen{}, nil
		e := newEvidence(cfg.Queries, p.own)
		if err := each(ctx, p, func(r *record) { c.record(&e, r) }); err != nil {
			return err
		}
		c.duplicates()
		for _, w := range p.warnings {
			c.found(Finding{Kind: PassedOver, What: w})
		}
		c.tally(e.list, len(cfg.Queries))
	}
	return nil
}

// tally sums what was found of the queries in one session; the first n have labels that a
// person wrote.
func (c *checker) tally(asked []Asked, n int) {
	for i, q := range asked {
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

// judge says what is wrong with labels and queries over all corpora.
func (c *checker) judge() {
	for _, l := range c.order {
		kind := Missing
		if l.n > 1 {
			kind = Ambiguous
		}
		if problem := l.problem(l.n); problem != "" {
			c.found(Finding{Kind: kind, At: l.Pos, What: problem})
		}
	}
	for _, id := range c.queries {
		if c.evidence[id] == 0 {
			c.found(Finding{Kind: Unlabelled, What: fmt.Sprintf("query %s has no evidence: its gates cannot be right or wrong", id)})
		}
	}
}

func (c *checker) record(e *evidence, r *record) {
	if r.skipped != "" {
		c.found(Finding{Kind: PassedOver, At: r.at, What: r.skipped})
		return
	}
	e.find(r)
	for _, s := range r.spans {
		c.evidence[e.list[s.query].ID]++
	}
	report := func(k Kind, format string, args ...any) {
		c.found(Finding{Kind: k, At: r.at, What: r.name() + ": " + fmt.Sprintf(format, args...)})
	}
	for _, s := range secrets(r.Text) {
		report(Secret, "%s", s.hint(r.Text))
	}
	for _, s := range secrets(r.id) {
		report(Secret, "in its id, %s", s.hint(r.id))
	}
	if _, tags, _ := prompt.Escape(r.Text); tags > 0 {
		report(Reserved, "%d of the prompt's own tags", tags)
	}
	if at := mojibake().FindStringIndex(r.Text); at != nil {
		report(Mojibake, "%s", around(r.Text, at[0], at[1]))
	}
	c.repeats(r)
}

// repeats notes a text that came before.
func (c *checker) repeats(r *record) {
	if len(r.Text) < shortDuplicate || r.filling {
		return
	}
	text := digestOf(r.Text)
	switch before, ok := c.seen[text]; {
	case !ok:
		c.seen[text] = seen{first: r.name()}
	case before.again == 0:
		c.again = append(c.again, Finding{Kind: Duplicate, At: r.at, What: r.name() + ": same text as " + before.first})
		before.again = len(c.again)
		c.seen[text] = before
	default:
		c.again[before.again-1].More++
	}
}

// duplicates hands out the texts that came again in a session.
func (c *checker) duplicates() {
	for _, f := range c.again {
		if f.More > 0 {
			f.What += fmt.Sprintf(", which comes %d times in all", f.More+2)
		}
		c.found(f)
	}
}

// name is how a record is spoken of.
func (r *record) name() string {
	switch {
	case r.id != "":
		id, _ := redact(r.id)
		return "record " + id
	case r.number > 0:
		return fmt.Sprintf("record %d", r.number)
	}
	return fmt.Sprintf("record on line %d", r.at.Line)
}

// mojibake is UTF-8 that was read as Windows-1252, and the character that stands for what
// could not be read.
var mojibake = sync.OnceValue(func() *regexp.Regexp {
	const tail = `[\x{80}-\x{bf}€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]`
	return regexp.MustCompile(`[ÂÃ]` + tail + `|â` + tail + `{2}|ð` + tail + `{3}|\x{fffd}`)
})

// parts are the sessions of a corpus.
func parts(ctx context.Context, cfg Config) ([]part, error) {
	if formats()[cfg.Format] == nil {
		return nil, fmt.Errorf("format: %s", yamlpos.OneOf(cfg.Format, Formats()))
	}
	return (&loader{Config: cfg}).parts(ctx)
}

// each passes over the records of a session, and refuses what Load would.
func each(ctx context.Context, p part, visit func(*record)) error {
	var bad faults
	ids := ids{}
	for r, err := range p.read() {
		if err == nil {
			err = ids.claim(r)
		}
		if err == nil {
			visit(r)
		} else if err := bad.add(err); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return bad.err()
}
