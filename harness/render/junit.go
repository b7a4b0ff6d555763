package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/stat"
)

// JUnit writes JUnit XML as Jenkins and GitLab read it: a test suite for each experiment,
// in it a test case for each decision, each check's result and each run. A NO-GO is a
// failure, a decision that is neither that nor GO an error; a failed check is a failure
// with its diff, a run over budget a failure, a run that ended otherwise an error. Times
// are left out: nothing in a Result has touched a clock.
func JUnit(w io.Writer, rs []*harness.Result) error {
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

func junit(r *harness.Result) junitSuite {
	s := junitSuite{Name: clean(titled(r)), Out: clean(r.Prompt.Note)}
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

func decisionCase(r *harness.Result, d harness.Decision) junitCase {
	k := junitCase{Name: clean(d.ID + " " + d.Model + " " + d.Level.String()), Class: clean(r.Experiment + ".decision")}
	wrong := &junitWrong{Type: string(d.Verdict), Message: clean(d.Reason), Text: strings.Join(each(decisionNotes(d), clean), "\n")}
	switch {
	case d.Skipped != "":
		k.Skipped = &junitSkip{Message: clean(d.Skipped)}
	case d.Verdict == stat.Go:
	case d.Verdict == stat.NoGo:
		k.Failure = wrong
	default:
		k.Error = wrong
	}
	return k
}

func checkCase(r *harness.Result, c check.Result) junitCase {
	k := junitCase{Name: clean(c.Subject), Class: clean(r.Experiment + "." + c.Check)}
	switch c.Status {
	case check.Fail:
		k.Failure = &junitWrong{Type: clean(c.Check), Message: clean(c.Detail), Text: failureText(c)}
	case check.Skip:
		k.Skipped = &junitSkip{Message: clean(c.Detail)}
	}
	return k
}

func failureText(c check.Result) string {
	lines := []string{clean(c.Detail)}
	if c.Pos.File != "" {
		lines = append([]string{clean(c.Pos.String())}, lines...)
	}
	return strings.Join(append(lines, cleanLines(c.Diff)...), "\n")
}

func runCase(r *harness.Result, run harness.Run) junitCase {
	k := junitCase{Name: clean(run.Name), Class: clean(r.Experiment + ".run")}
	wrong := &junitWrong{Type: string(run.State), Message: clean(run.Reason)}
	switch run.State {
	case harness.Complete:
	case harness.Skipped:
		k.Skipped = &junitSkip{Message: clean(run.Reason)}
	case harness.Failed:
		k.Failure = wrong
	default:
		k.Error = wrong
	}
	return k
}
