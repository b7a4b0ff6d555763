package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
)

// JUnit writes JUnit XML as Jenkins and GitLab read it: a test suite for each experiment,
// in it a test case for each check's result and for each run. A failed check is a failure
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
	s := junitSuite{Name: clean(r.Experiment)}
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
