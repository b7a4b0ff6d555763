package starter_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/starter"
)

// TestWrittenSpecLoads: the files are those that the spec names, but for the golden.
func TestWrittenSpecLoads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := scripted.Free(dir); err != nil {
		t.Fatal(err)
	}
	names, err := scripted.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Load(filepath.Join(dir, starter.ScriptedSpec))
	if err != nil {
		t.Fatal(err)
	}
	made := strings.Join(append(names, starter.Made[:]...), "\n")
	for _, file := range s.Files() {
		if name, _ := filepath.Rel(dir, file); !strings.Contains(made, filepath.ToSlash(name)) {
			t.Errorf("the spec names %s, files are\n%s", name, made)
		}
	}
}

// TestFilesInTheWay: each file is found, and none is replaced.
func TestFilesInTheWay(t *testing.T) {
	for _, name := range []string{starter.ScriptedSpec, starter.Made[0], starter.Made[1]} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := scripted.Free(dir); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Free: %v, want an error about %s", err, path)
		}
		if _, err := scripted.Write(dir); name == starter.ScriptedSpec && err == nil {
			t.Errorf("Write replaced %s", path)
		}
		if data, _ := os.ReadFile(path); string(data) != "mine" {
			t.Errorf("%s holds %q", path, data)
		}
	}
}

var scripted = starter.Starter{Kind: starter.Scripted}

// TestLiveStarter: the spec loads, asks what was said, and takes the rest from the environment that
// .env.example shows. What a repository has already is kept.
func TestLiveStarter(t *testing.T) {
	for _, server := range []starter.Server{{}, {BaseURL: "http://h/v1", Model: "m: 1", KeyEnv: "MY_KEY"}} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		s := starter.Starter{Kind: starter.Live, Server: server}
		if err := s.Free(dir); err != nil {
			t.Fatal(err)
		}
		names, err := s.Write(dir)
		if err != nil || slices.Contains(names, ".gitignore") {
			t.Fatal(names, err)
		}
		loaded, err := spec.Load(filepath.Join(dir, starter.LiveSpec))
		if err != nil {
			t.Fatal(err)
		}
		env, err := os.ReadFile(filepath.Join(dir, ".env.example"))
		if err != nil {
			t.Fatal(err)
		}
		variables := map[string]string{}
		for line := range strings.Lines(string(env)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
				variables[name] = value
			}
		}
		live, errs := loaded.Models[0].Live.Expand(func(name string) (string, bool) { value, ok := variables[name]; return value, ok })
		want := [2]string{cmp.Or(server.BaseURL, "http://localhost:8000/v1"), cmp.Or(server.Model, "my-model")}
		if got := [2]string{live.BaseURL.Value, live.Model.Value}; errs != nil || got != want || variables[cmp.Or(server.KeyEnv, "MEM_API_KEY")] == "" {
			t.Errorf("%v, %v, environment %v, want %v", got, errs, variables, want)
		}
		if loaded.Decision == nil {
			t.Error("the live starter decides nothing")
		}
		if mine, _ := os.ReadFile(filepath.Join(dir, ".gitignore")); string(mine) != "mine" {
			t.Errorf(".gitignore holds %q", mine)
		}
		if err := s.Free(dir); err == nil || !strings.Contains(err.Error(), "live.yaml is there already") {
			t.Errorf("a second time: %v", err)
		}
	}
}

// TestWorkflowsAreYAML: those of both systems run the same commands.
func TestWorkflowsAreYAML(t *testing.T) {
	for kind, name := range map[starter.Kind]string{starter.GitHub: ".github/workflows/mem.yml", starter.GitLab: ".gitlab-ci.yml"} {
		dir := t.TempDir()
		if _, err := (starter.Starter{Kind: kind}).Write(dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var parsed map[string]any
		if err := yaml.Unmarshal(text, &parsed); err != nil || len(parsed) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range []string{"mem golden diff experiments/*.yaml\n", "mem eval experiments/*.yaml --baseline reports/baseline "} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
}
