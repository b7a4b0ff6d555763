package render_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/result"
)

func junitOf(t *testing.T, rs ...*result.Result) string {
	t.Helper()
	var b strings.Builder
	if err := render.JUnit(&b, rs); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func junitSchema(t *testing.T) *schema {
	t.Helper()
	data, err := os.ReadFile("testdata/junit.xsd")
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSchema(string(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJUnitIsValid(t *testing.T) {
	s := junitSchema(t)
	for name, text := range map[string]string{
		"passed": junitOf(t, rendertest.Passed()), "broken": junitOf(t, rendertest.Passed(), broken()),
		"hostile": junitOf(t, hostile()), "empty": junitOf(t),
	} {
		if err := s.validate(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		xmllint(t, text)
	}
}

// xmllint is a second opinion where it is installed.
func xmllint(t *testing.T, text string) {
	tool, err := exec.LookPath("xmllint")
	if err != nil {
		return
	}
	file := filepath.Join(t.TempDir(), "junit.xml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "--noout", "--schema", "testdata/junit.xsd", file).CombinedOutput(); err != nil {
		t.Errorf("xmllint: %v\n%s", err, out)
	}
}

// The judge is judged: each of these edits makes a document that the schema refuses.
func TestJUnitSchemaRefuses(t *testing.T) {
	s, good := junitSchema(t), junitOf(t, broken())
	for _, edit := range [][2]string{
		{` classname="hotpotqa.golden"`, ``},
		{`<testcase name=`, `<testcase colour="red" name=`},
		{`<testsuite name="hotpotqa" tests="`, `<testsuite name="hotpotqa" tests="-`},
		{`</testsuite>`, `<failure></failure></testsuite>`},
		{`<skipped message=`, `<failure></failure><skipped message=`},
		{`</testcase>`, `hello</testcase>`},
		{`testsuites`, `suites`},
		{`</testsuites>`, ``},
	} {
		bad := strings.Replace(good, edit[0], edit[1], 1)
		if bad == good {
			t.Errorf("%q is not in the document", edit[0])
		}
		if err := s.validate(bad); err == nil {
			t.Errorf("%q in place of %q: the schema accepts it", edit[1], edit[0])
		}
	}
}

func TestJUnitCases(t *testing.T) {
	r := broken()
	r.Checks = append(r.Checks, r.Checks[len(r.Checks)-1]) // a second of the same name
	root, err := parseXML(junitOf(t, r))
	if err != nil {
		t.Fatal(err)
	}
	suite := root.Children[0]
	if got, want := len(suite.Children), len(r.Checks)+len(r.Runs); got != want {
		t.Errorf("%d test cases, want one a check and run: %d", got, want)
	}
	found, names := map[string]int{}, map[string]bool{}
	for _, c := range suite.Children {
		for _, child := range c.Children {
			found[child.Name]++
		}
		id := c.Attr["classname"] + " " + c.Attr["name"]
		if names[id] {
			t.Errorf("two test cases are %s", id)
		}
		names[id] = true
	}
	want := map[string]int{
		"failure": r.Checked(check.Fail) + r.Count(record.Failed),
		"skipped": r.Checked(check.Skip) + r.Count(record.Skipped),
		"error":   r.Count(record.Incomplete) + r.Count(record.Interrupted) + r.Count(record.Misconfigured),
	}
	for name, attr := range map[string]string{"failure": "failures", "skipped": "skipped", "error": "errors"} {
		if found[name] != want[name] || suite.Attr[attr] != strconv.Itoa(want[name]) {
			t.Errorf("%d %s elements and %s=%s, want %d", found[name], name, attr, suite.Attr[attr], want[name])
		}
	}
	golden := suite.Children[0].Children[0]
	for _, want := range []string{"experiments/hotpotqa.yaml:21:5", "at byte 62", "\n-You are presented with a problem, a section\n"} {
		if !strings.Contains(golden.Text, want) {
			t.Errorf("the failure lacks %q:\n%s", want, golden.Text)
		}
	}
}
