package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outside is a folder that links lead to. No command may show its secret or change it.
type outside struct{ dir, before string }

const outsideSecret = "outside-5f3a"

func newOutside(t *testing.T, run string) outside {
	dir := filepath.Join(t.TempDir(), "outside")
	if err := os.CopyFS(filepath.Join(dir, "x"), os.DirFS("reports/x")); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "x/runs", run, "events.jsonl")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	write(t, log, strings.ReplaceAll(string(text), "6391", outsideSecret))
	write(t, filepath.Join(dir, "x/runs/looks.jsonl"), outsideSecret)
	o := outside{dir: dir}
	o.before = o.content(t)
	return o
}

func (o outside) content(t *testing.T) string {
	var all strings.Builder
	err := filepath.WalkDir(o.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all.WriteString(path + "\n")
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestLinksAreNotFollowedOut: a link in place of any file or folder of records is read and
// written by no command, also where it leads nowhere yet.
func TestLinksAreNotFollowedOut(t *testing.T) {
	const run = "c/q/L1/m/record"
	for _, at := range []string{
		"x", "x/runs", "x/runs/c", "x/runs/" + run, "x/runs/" + run + "/events.jsonl", "x/runs/" + run + "/calls.jsonl", "x/runs/looks.jsonl",
		"x/summary.json", "x/report.html", "x/report.md", "x/junit.xml", "x/timing.json", "x/.lock", "x/.lock-holder", "x/runs/new",
	} {
		for _, kind := range []string{"absolute", "relative", "nowhere"} {
			t.Run(at+" "+kind, func(t *testing.T) { linked(t, at, kind, run) })
		}
	}
}

func linked(t *testing.T, at, kind, run string) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.yaml"), strings.Replace(hostileSpec, "golden:", "#", 1))
	write(t, filepath.Join(dir, "c.jsonl"), limitSession)
	if code, out, errs := mem(t, dir, "eval", "x.yaml"); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	o := newOutside(t, run)
	target := filepath.Join(o.dir, at)
	switch kind {
	case "relative":
		var err error
		if target, err = filepath.Rel(filepath.Dir(filepath.Join(dir, "reports", at)), target); err != nil {
			t.Fatal(err)
		}
	case "nowhere":
		target = filepath.Join(o.dir, "made")
	}
	link := filepath.Join("reports", at)
	if err := os.RemoveAll(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify", "reports"}, {"repair", "reports"}, {"judge", "x.yaml"}, {"eval", "x.yaml"}, {"eval", "x.yaml", "--no-lock"}, {"judge", "x.yaml", "--no-lock"},
	} {
		code, out, errs := mem(t, dir, args...)
		if code == 0 || !strings.Contains(errs+out, "is a symbolic link to") {
			t.Errorf("mem %v: exit code %d, want the link refused\n%s%s", args, code, out, errs)
		}
	}
	for _, args := range [][]string{
		{"report", "reports/x"}, {"report", "reports/x", "--explain", "recall_committed"}, {"show", "reports/x", "c/q"}, {"show", "reports/x", "c/q", "--turn", "2"},
		{"compare", "reports/x", "reports/x"}, {"prompt", "--spec", "x.yaml", "--project", "c", "--query", "q", "--chunk", "2", "--run", run},
		{"verify", "reports/x/runs/" + run}, {"repair", "reports/x/runs/" + run},
	} {
		_, out, errs := mem(t, dir, args...)
		if strings.Contains(out+errs, outsideSecret) && at != "x" { // which is named by the user then
			t.Errorf("mem %v shows what is outside:\n%s%s", args, out, errs)
		}
	}
	if at == "x" { // its reports are written again in the folder that the user named
		return
	}
	if o.content(t) != o.before {
		t.Error("what is outside was changed")
	}
	if to, err := os.Readlink(link); err != nil || to != target {
		t.Errorf("the link was replaced: %q, %v", to, err)
	}
}

// TestLinksWithinAFolderAreFollowed, and a folder may be named by a link.
func TestLinksWithinAFolderAreFollowed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.yaml"), strings.Replace(hostileSpec, "golden:", "#", 1))
	write(t, filepath.Join(dir, "c.jsonl"), limitSession)
	if code, _, errs := mem(t, dir, "eval", "x.yaml", "--out", "disk"); code != 0 {
		t.Fatal(errs)
	}
	for from, to := range map[string]string{"reports": "disk", "one": "disk/x", "disk/x/latest": "runs/c"} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"eval", "x.yaml"}, {"judge", "x.yaml"}, {"report", "one"}, {"verify", "reports"}, {"verify", "one"}, {"show", "one", "c/q"}} {
		if code, out, errs := mem(t, dir, args...); code != 0 {
			t.Errorf("mem %v: exit code %d\n%s%s", args, code, out, errs)
		}
	}
}

// TestVerifyFromWithinAFolder: a record may be named by any path, also one that begins above it.
func TestVerifyFromWithinAFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.yaml"), strings.Replace(hostileSpec, "golden:", "#", 1))
	write(t, filepath.Join(dir, "c.jsonl"), limitSession)
	if code, _, errs := mem(t, dir, "eval", "x.yaml"); code != 0 {
		t.Fatal(errs)
	}
	for at, path := range map[string]string{".": "reports", "reports/x": "runs/c", "reports/x/runs/c": ".", "reports/x/runs/c/q/L1/m/record": ".", "reports/x/runs/c/q": "../q/L1/m/record/calls.jsonl"} {
		if code, out, errs := mem(t, filepath.Join(dir, at), "verify", path); code != 0 {
			t.Errorf("in %s: mem verify %s: exit code %d\n%s%s", at, path, code, out, errs)
		}
	}
}

// TestRunNamesStayBelowTheirFolder: summary.json may come from anywhere.
func TestRunNamesStayBelowTheirFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.yaml"), strings.Replace(hostileSpec, "golden:", "#", 1))
	write(t, filepath.Join(dir, "c.jsonl"), limitSession)
	if code, _, errs := mem(t, dir, "eval", "x.yaml"); code != 0 {
		t.Fatal(errs)
	}
	const summary = "reports/x/summary.json"
	text, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../../../etc/x", "/etc/x", "c/../../../../etc/x", "", ".", ".."} {
		write(t, summary, strings.ReplaceAll(string(text), `"c/q/L1/m/record"`, `"`+name+`"`))
		for _, args := range [][]string{{"report", "reports/x"}, {"show", "reports/x"}, {"compare", "reports/x", "reports/x"}, {"report", "reports/x", "--explain", "recall_committed"}} {
			if code, out, errs := mem(t, dir, args...); code != 2 || !strings.Contains(errs, "want a path below the folder's runs") {
				t.Errorf("%q: mem %v: exit code %d\n%s%s", name, args, code, out, errs)
			}
		}
		if code, _, errs := mem(t, dir, "judge", "x.yaml"); code != 0 {
			t.Errorf("judge, which reads no summary: exit code %d\n%s", code, errs)
		}
	}
}
