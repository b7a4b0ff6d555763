package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// JUnit writes JUnit XML as Jenkins and GitLab read it: a test suite for each experiment,
// in it a test case for each decision, each check's result and each run. A NO-GO is a
// failure, a decision that is neither that nor GO an error; a failed check is a failure
// with its diff, a run over budget a failure, a run that ended otherwise an error. Times
// are left out: nothing in a Result has touched a clock.
func JUnit(w io.Writer, rs []*result.Result) error {
	doc := junitSuites{Name: "mem"}
	for _, r := range rs {
		suite := junit(r)
		doc.Suites = append(doc.Suites, suite)
		doc.Tests += suite.Tests
		doc.Failures += suite.Failures
		doc.Errors += suite.Errors
	}
	data, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, data)
	return err
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
	Out      string      `xml:"system-out,omitempty"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	Skipped *junitSkip  `xml:"skipped"`
	Error   *junitWrong `xml:"error"`
	Failure *junitWrong `xml:"failure"`
}

type junitSkip struct {
	Message string `xml:"message,attr"`
}

type junitWrong struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

func junit(r *result.Result) junitSuite {
	s := junitSuite{Name: layout.Clean(view.Title(r)), Out: strings.Join(layout.CleanLines(strings.Join(view.OtherPrompts(r), "\n")), "\n")}
	for _, d := range r.Decisions {
		s.add(decisionCase(r, d))
	}
	for _, c := range r.Checks {
		s.add(checkCase(r, c))
	}
	for _, run := range r.Runs {
		s.add(runCase(r, run))
	}
	s.number()
	return s
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// number tells cases of one name apart, as two expectations of the same runs: a reader
// would take the second for a rerun of the first.
func (s *junitSuite) number() {
	seen := map[[2]string]int{}
	for i := range s.Cases {
		c := &s.Cases[i]
		id := [2]string{c.Class, c.Name}
		if seen[id]++; seen[id] > 1 {
			c.Name += fmt.Sprintf(" #%d", seen[id])
		}
	}
}

func decisionCase(r *result.Result, d result.Decision) junitCase {
	k := junitCase{Name: layout.Clean(d.ID + " " + d.Model + " " + d.Level.String()), Class: layout.Clean(r.Experiment + ".decision")}
	wrong := &junitWrong{Type: string(d.Verdict), Message: layout.Clean(d.Reason), Text: strings.Join(layout.Each(view.DecisionNotes(d), layout.Clean), "\n")}
	switch {
	case d.Skipped != "":
		k.Skipped = &junitSkip{Message: layout.Clean(d.Skipped)}
	case d.Verdict == decide.Go:
	case d.Verdict == decide.NoGo:
		k.Failure = wrong
	default:
		k.Error = wrong
	}
	return k
}

func checkCase(r *result.Result, c check.Result) junitCase {
	k := junitCase{Name: layout.Clean(c.Subject), Class: layout.Clean(r.Experiment + "." + c.Check)}
	switch c.Status {
	case check.Fail:
		k.Failure = &junitWrong{Type: layout.Clean(c.Check), Message: layout.Clean(c.Detail), Text: failureText(c)}
	case check.Skip:
		k.Skipped = &junitSkip{Message: layout.Clean(c.Detail)}
	}
	return k
}

func failureText(c check.Result) string {
	lines := []string{layout.Clean(c.Detail)}
	if c.Pos.File != "" {
		lines = append([]string{layout.Clean(c.Pos.String())}, lines...)
	}
	return strings.Join(append(lines, layout.CleanLines(c.Diff)...), "\n")
}

func runCase(r *result.Result, run result.Run) junitCase {
	k := junitCase{Name: layout.Clean(run.Name), Class: layout.Clean(r.Experiment + ".run")}
	wrong := &junitWrong{Type: string(run.State), Message: layout.Clean(run.Reason)}
	switch run.State {
	case record.Complete:
	case record.Skipped:
		k.Skipped = &junitSkip{Message: layout.Clean(run.Reason)}
	case record.Failed:
		k.Failure = wrong
	default:
		k.Error = wrong
	}
	return k
}
