package harness_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

var allFlips = flag.Bool("flips", false, "TestEveryFlip flips all bits of each byte, not one")

// damageable is an experiment of one short run whose record is damaged.
type damageable struct {
	prepared
	dir     string            // of the run
	reports map[string]string // of the undamaged record, by judging it
}

// outcomes replies so that each outcome of a turn occurs: written, retained, not parsed, over
// the budget.
func outcomes(r fakeserver.Request) fakeserver.Reply {
	_, section, asked := strings.Cut(r.Text("user"), "<section>")
	switch {
	case !asked:
		return fakeserver.Reply{Text: "The port is 6381."}
	case strings.Contains(section, "one"):
		return fakeserver.Reply{Text: "<check>yes</check><update>port 6380</update><next>continue</next>"}
	case strings.Contains(section, "two"):
		return fakeserver.Reply{Text: "<check>no</check><next>end</next>", Reasoning: "why"}
	case strings.Contains(section, "three"):
		return fakeserver.Reply{Text: "no gates"}
	case strings.Contains(section, "four"):
		return fakeserver.Reply{Text: "<check>yes</check><update>" + strings.Repeat("long ", 40) + "</update><next>continue</next>"}
	}
	return fakeserver.Reply{Text: "<check>yes</check><update>port 6381</update><next>continue</next>"}
}

// stopping is a model that is asked no more after some calls; 0: never.
type stopping struct {
	loop.Model
	left int
}

func (s *stopping) Complete(ctx context.Context, r loop.Request) (loop.Completion, error) {
	if s.left--; s.left == 0 {
		return loop.Completion{}, notAsked{}
	}
	return s.Model.Complete(ctx, r)
}

func (s *stopping) Sampling() map[string]any {
	return s.Model.(interface{ Sampling() map[string]any }).Sampling()
}

type notAsked struct{}

func (notAsked) Error() string { return "stopped" }
func (notAsked) NotSent() bool { return true }

// damageableRun is a record of a live or a scripted run that is complete, or, as a killed
// process leaves it, interrupted.
func damageableRun(t *testing.T, live, killed bool) damageable {
	t.Helper()
	return damageableWith(t, live, killed, "")
}

// damageableWith is damageableRun of a spec with more fields.
func damageableWith(t *testing.T, live, killed bool, fields string) damageable {
	t.Helper()
	model, cfg := "{id: m, policy: oracle}", config(t)
	if live {
		model, cfg = `{id: m, live: {base_url: "http://localhost:1/v1", model: m}}`, liveOutcomes(t, killed)
	}
	path := filepath.Join(write(t, map[string]string{
		"s.jsonl": jsonl("one &lt;section>", "two <memory>", "three", "four", "five"),
		"x.yaml": `experiment: x
budget: {memory: 20}
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?", answers: ["6381"], evidence: [r2, r4]}]
checks: {tokenizer: {max_undercount: 1}}
models: [` + model + "]\n" + fields,
	}), "x.yaml")
	e, err := prepare(t, cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := damageable{prepared: e, dir: e.Folder.RunDir("s/q/L1/m/record")}
	if killed {
		d.kill(t)
	}
	if d.reports = d.judged(t); d.reports == nil {
		t.Fatal("the undamaged record is refused")
	}
	return d
}

func liveOutcomes(t *testing.T, killed bool) harness.Config {
	server := fakeserver.Start(fakeserver.Config{Reply: outcomes, Model: "m"})
	t.Cleanup(server.Close)
	client, err := openai.New(openai.Config{BaseURL: server.BaseURL(), Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	if killed {
		left = 5 // in turn 3
	}
	return harness.Config{Out: t.TempDir(), Run: run.Config{Live: true}, Models: func(run.ModelFor) (loop.Model, error) {
		return &stopping{client.Trial(1), left}, nil
	}}
}

// kill takes away what a killed process does not write: the ends of journal and log.
func (d damageable) kill(t *testing.T) {
	t.Helper()
	for name, end := range map[string]string{record.Calls: `{"end":`, record.Events: `{"type":"run_end"`} {
		whole, _, _ := strings.Cut(string(read(t, filepath.Join(d.dir, name))), end)
		writeFile(t, filepath.Join(d.dir, name), whole)
	}
}

func (d damageable) verify(t *testing.T) record.Verdict {
	t.Helper()
	v, err := record.Verify(d.dir, d.Plan.CountRendered)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// judged are the reports that the record gives by itself; nil: it is refused, by an error or a
// failed check.
func (d damageable) judged(t *testing.T) map[string]string {
	t.Helper()
	r, err := d.Judge()
	if err != nil {
		return nil
	}
	for _, c := range r.Checks {
		if c.Status == check.Fail {
			return nil
		}
	}
	var summary, markdown bytes.Buffer
	for _, err := range []error{render.JSON(&summary, r), render.Markdown(&markdown, r)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{"summary": summary.String(), "markdown": markdown.String()}
}

// damage is what a change of a record came to.
type damage int

const (
	refusedByVerify damage = iota
	refusedByJudge
	harmless   // judge writes the same bytes
	undetected // judge writes other bytes: the change was not detected
)

// assess judges a damaged record as a user does: verify, and where that finds nothing, judge.
func (d damageable) assess(t *testing.T) damage {
	t.Helper()
	if d.verify(t).State == eventlog.Corrupt {
		return refusedByVerify
	}
	switch reports := d.judged(t); {
	case reports == nil:
		return refusedByJudge
	case maps.Equal(reports, d.reports):
		return harmless
	}
	return undetected
}

// TestEveryFlip: no changed byte of a record changes what is reported unnoticed. With -flips
// each bit of each byte is flipped.
func TestEveryFlip(t *testing.T) {
	for name, kind := range map[string]struct {
		live, killed bool
		fields       string
	}{
		"live, complete": {true, false, ""}, "live, interrupted": {true, true, ""}, "live, answered": {true, false, answered},
		"scripted, complete": {false, false, ""}, "scripted, interrupted": {false, true, ""}, "scripted, answered": {false, false, answered},
	} {
		t.Run(name, func(t *testing.T) {
			d := damageableWith(t, kind.live, kind.killed, kind.fields)
			if n := strings.Count(d.reports["markdown"], "sub_em"); kind.fields != "" && n == 0 {
				t.Fatal("no answer is judged")
			}
			if want := map[bool]eventlog.State{false: eventlog.Complete, true: eventlog.Interrupted}[kind.killed]; d.verify(t).State != want {
				t.Fatalf("%+v, want it %s", d.verify(t), want)
			}
			for _, file := range []string{record.Events, record.Calls} {
				d.flipAll(t, file)
			}
		})
	}
}

func (d damageable) flipAll(t *testing.T, file string) {
	path := filepath.Join(d.dir, file)
	text := read(t, path)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var counts [undetected + 1]int
	for i := range text {
		for bit := range 8 {
			if !*allFlips && bit != i%8 {
				continue
			}
			flipped := text[i] ^ 1<<bit
			if _, err := f.WriteAt([]byte{flipped}, int64(i)); err != nil {
				t.Fatal(err)
			}
			came := d.assess(t)
			if counts[came]++; came == undetected && counts[came] < 5 {
				t.Errorf("%s: byte %d, %q, became %q: %+v", file, i, text[max(0, i-40):i+1], flipped, d.verify(t))
			}
		}
		if _, err := f.WriteAt(text[i:i+1], int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s, %d bytes: %d flips refused by verify, %d by judge, %d harmless, %d undetected", file, len(text),
		counts[refusedByVerify], counts[refusedByJudge], counts[harmless], counts[undetected])
	if counts[refusedByVerify] < len(text)/2 {
		t.Errorf("%s: only %d flips are refused by verify", file, counts[refusedByVerify])
	}
}

// TestLinesThatWereMoved: lines that are swapped, repeated, removed or brought from another
// record are refused.
func TestLinesThatWereMoved(t *testing.T) {
	for _, killed := range []bool{false, true} {
		d, other := damageableRun(t, true, killed), damageableRun(t, false, killed)
		refused := map[string]int{}
		for _, file := range []string{record.Events, record.Calls} {
			path := filepath.Join(d.dir, file)
			lines := bytes.SplitAfter(read(t, path), []byte("\n"))
			lines = lines[:len(lines)-1]
			foreign := bytes.SplitAfter(read(t, filepath.Join(other.dir, file)), []byte("\n"))
			for i := range lines {
				damaged := map[string][][]byte{
					"repeated": slices.Insert(slices.Clone(lines), i, lines[i]),
					"spliced":  slices.Insert(slices.Clone(lines), i, foreign[min(i, len(foreign)-2)]),
				}
				if i > 0 {
					swapped := slices.Clone(lines)
					swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
					damaged["swapped"] = swapped
				}
				if i < len(lines)-1 {
					damaged["removed"] = slices.Delete(slices.Clone(lines), i, i+1)
				}
				for how, changed := range damaged {
					writeFile(t, path, string(bytes.Join(changed, nil)))
					if v := d.verify(t); v.State != eventlog.Corrupt {
						t.Errorf("%s, killed %v: line %d %s is %s", file, killed, i+1, how, v.State)
						continue
					}
					refused[how]++
				}
			}
			writeFile(t, path, string(bytes.Join(lines, nil)))
		}
		t.Logf("killed %v: refused by verify: %v", killed, refused)
		for _, file := range []string{record.Events, record.Calls} { // of another run
			path := filepath.Join(d.dir, file)
			text := string(read(t, path))
			writeFile(t, path, string(read(t, filepath.Join(other.dir, file))))
			if v := d.verify(t); v.State != eventlog.Corrupt {
				t.Errorf("killed %v: another run's %s is %s", killed, file, v.State)
			}
			writeFile(t, path, text)
		}
	}
}

// TestRepairKeepsWhatIsGood: whatever line is damaged, what stands before it is kept, what is
// cut lies beside it, and the record is one that a run goes on from.
func TestRepairKeepsWhatIsGood(t *testing.T) {
	for _, killed := range []bool{false, true} {
		d := damageableRun(t, true, killed)
		whole := map[string]string{}
		for _, file := range []string{record.Events, record.Calls} {
			whole[file] = string(read(t, filepath.Join(d.dir, file)))
		}
		n := 0
		for file, text := range whole {
			for before := 0; before < len(text); before += strings.Index(text[before:], "\n") + 1 {
				n++
				damaged := text[:before] + "#" + text[before+1:]
				writeFile(t, filepath.Join(d.dir, file), damaged)
				d.repair(t, n, file, damaged, before)
				for name, text := range whole {
					writeFile(t, filepath.Join(d.dir, name), text)
				}
			}
		}
		if cuts, err := record.Repair(d.dir, d.Plan.CountRendered); err != nil || cuts != nil {
			t.Errorf("a record that is not corrupt: %v, %v", cuts, err)
		}
	}
}

// repair repairs a record whose file is damaged from byte before on.
func (d damageable) repair(t *testing.T, n int, file, damaged string, before int) {
	t.Helper()
	cuts, err := record.Repair(d.dir, d.Plan.CountRendered)
	if err != nil || len(cuts) == 0 {
		t.Fatalf("%s, byte %d: %v, %v", file, before, cuts, err)
	}
	if v := d.verify(t); v.State != eventlog.Interrupted {
		t.Errorf("%s, byte %d: repaired, it is %+v", file, before, v)
	}
	path := filepath.Join(d.dir, file)
	kept := string(read(t, path))
	cut := string(read(t, fmt.Sprintf("%s.cut-%d", path, n)))
	if kept+cut != damaged || len(kept) > before || file == record.Calls && len(kept) != before {
		t.Errorf("%s, byte %d: %d bytes kept and %d beside it", file, before, len(kept), len(cut))
	}
}
