package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/models"
)

// TestDocumentedLiveSpecs: every spec that docs/live.md shows lists its runs as it stands,
// beside the corpora of the experiments, and its models can be asked once the environment
// is set that it names.
func TestDocumentedLiveSpecs(t *testing.T) {
	text, err := os.ReadFile("../../docs/live.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) < 4 {
		t.Fatalf("%d specs, want one for each kind of server", len(blocks))
	}
	for _, name := range regexp.MustCompile(`\$\{(\w+)\}|api_key_env: (\w+)`).FindAllSubmatch(text, -1) {
		t.Setenv(string(name[1])+string(name[2]), "set")
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "corpora"), os.DirFS("../../experiments/corpora")); err != nil {
		t.Fatal(err)
	}
	for i, b := range blocks {
		path := filepath.Join(dir, fmt.Sprintf("%d.yaml", i))
		write(t, path, string(b[1]))
		var stdout, stderr bytes.Buffer
		if code := execute(context.Background(), []string{"eval", path, "--list"}, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Errorf("exit %d: %s\n%s", code, &stderr, b[1])
			continue
		}
		s := loadLive(t, path)
		if run := "staging/redis-port/L1/" + s.Models[0].ID.Value + "/record"; !strings.Contains(stdout.String(), run) {
			t.Errorf("%s lists no %s:\n%s", s.Experiment.Value, run, &stdout)
		}
		c := &models.Clients{Meter: &models.Meter{}}
		opened(t.Context(), t, s, c)
		for _, m := range s.Models {
			if c.Client(s, m.ID.Value) == nil {
				t.Errorf("%s: %s cannot be asked", s.Experiment.Value, m.ID.Value)
			}
		}
		if len(c.Warnings) > 0 {
			t.Errorf("%s is warned of: %q", s.Experiment.Value, c.Warnings)
		}
	}
}
