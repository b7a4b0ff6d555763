package synth_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/synth"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

var update = flag.Bool("update", false, "rewrite testdata/synth.sha")

// dev50 is the committed part of HotpotQA.
const dev50 = "../../experiments/corpora/hotpotqa-dev-50.json"

func generate(t testing.TB, s synth.Config, chunk int, counter prompt.Counter) []*corpus.Session {
	t.Helper()
	sessions, err := corpus.Load(t.Context(), corpus.Config{
		ID: "needles", Reader: s, Pack: corpus.Pack{Tokens: chunk}, Prompts: corpustest.Builder(t, counter),
	})
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

// from is the data set of task qa, none of another one.
func from(task string) (f synth.From) {
	if task == "qa" {
		f = synth.From{Format: "hotpotqa", Path: dev50}
	}
	return f
}

func vocabulary(t testing.TB, name string) prompt.Counter {
	t.Helper()
	c, err := token.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func total(tokens []int) (sum int) {
	for _, n := range tokens {
		sum += n
	}
	return sum
}

// A session is as long as it was to be, whatever the task and the vocabulary: never
// longer, and shorter by less than a chunk.
func TestSynthLength(t *testing.T) {
	const length, chunk = 4096, 500
	for _, name := range []string{"o200k_base", "cl100k_base", "p50k_base", "r50k_base", "qwen2.5"} {
		counter := vocabulary(t, name)
		for _, task := range synth.Tasks() {
			s := generate(t, synth.Config{Task: task, Lengths: []int{length}, From: from(task)}, chunk, counter)[0]
			if got := total(s.ChunkTokens()); got > length || got <= length-chunk {
				t.Errorf("%s %s: %d tokens, want at most %d and more than %d", name, task, got, length, length-chunk)
			}
			if got := counter.Count(strings.Join(corpustest.Renderings(t, s), "\n\n")); got > length {
				t.Errorf("%s %s: %d tokens as one text, want at most %d", name, task, got, length)
			}
		}
	}
}

// What the labels say is read off the text: the chunks that hold a statement of the keys
// in the question, and those that hold one of other keys.
func TestSynthLabels(t *testing.T) {
	for _, c := range []struct {
		task           string
		answers, marks int // answers, statements that are evidence
		hard           bool
	}{
		{"niah_single_1", 1, 1, false}, {"niah_single_2", 1, 1, false}, {"niah_single_3", 1, 1, false},
		{"niah_multikey_1", 1, 1, true}, {"niah_multikey_2", 1, 1, true}, {"niah_multikey_3", 1, 1, true},
		{"niah_multivalue", 4, 4, false}, {"niah_multiquery", 4, 4, false},
		{"vt", 5, 5, false}, {"session", 1, 2, true},
	} {
		t.Run(c.task, func(t *testing.T) {
			for _, s := range generate(t, synth.Config{Task: c.task, Lengths: []int{6000}, Samples: 3, Seed: 5}, 400, corpustest.FourthCounter{}) {
				q := s.Queries()[0]
				if !q.All {
					t.Error("one of the answers would do")
				}
				if len(q.Answers) != c.answers {
					t.Errorf("answers %q, want %d", q.Answers, c.answers)
				}
				var marks []string
				chunks := corpustest.Renderings(t, s)
				for _, ev := range q.Evidence {
					for mark := range strings.SplitSeq(ev.Excerpt, "\n") {
						if marks = append(marks, mark); !strings.Contains(chunks[ev.Chunk-1], mark) {
							t.Errorf("chunk %d lacks its evidence %q", ev.Chunk, mark)
						}
					}
				}
				if len(marks) != c.marks {
					t.Errorf("evidence %q, want %d statements", marks, c.marks)
				}
				for _, answer := range q.Answers {
					if strings.Count(strings.Join(marks, "\n"), answer) == 0 {
						t.Errorf("the evidence %q lacks the answer %s", marks, answer)
					}
				}
				judgeHard(t, c.task, q, chunks, marks)
				if (len(q.Hard) > 0) != c.hard {
					t.Errorf("hard negatives %v, want some: %v", q.Hard, c.hard)
				}
			}
		})
	}
}

// judgeHard finds the statements in the text itself.
func judgeHard(t *testing.T, task string, q corpus.Asked, chunks, marks []string) {
	t.Helper()
	var evidence, hard []int
	for i, text := range chunks {
		for _, mark := range marks {
			text = strings.ReplaceAll(text, mark, "")
		}
		switch {
		case text != chunks[i]:
			evidence = append(evidence, i+1)
		case strings.Contains(text, "special magic") || strings.Contains(text, "VAR ") || strings.Contains(text, "Decision: ") || strings.Contains(text, "config: "):
			hard = append(hard, i+1)
		}
	}
	var got []int
	for _, ev := range q.Evidence {
		got = append(got, ev.Chunk)
	}
	if diff := cmp.Diff(evidence, got); diff != "" {
		t.Errorf("%s: chunks with evidence: %s", task, diff)
	}
	if diff := cmp.Diff(hard, q.Hard); diff != "" {
		t.Errorf("%s: hard negatives: %s", task, diff)
	}
}

// Chains keep their order: of a value that changes, the newest stands last.
func TestSynthNewestLast(t *testing.T) {
	for _, s := range generate(t, synth.Config{Task: "session", Lengths: []int{4000}, Samples: 20, Values: 3}, 300, corpustest.FourthCounter{}) {
		q := s.Queries()[0]
		if last := q.Evidence[len(q.Evidence)-1].Excerpt; !strings.Contains(last, q.Answers[0]) {
			t.Errorf("%s: the last evidence %q is not of the newest value %s", s.Name(), last, q.Answers[0])
		}
	}
}

func TestSynthSessionHasAllRoles(t *testing.T) {
	s := generate(t, synth.Config{Task: "session", Lengths: []int{4000}}, 300, corpustest.FourthCounter{})[0]
	for _, role := range []string{"system", "user", "assistant", "tool"} {
		if s.Roles()[role] == 0 {
			t.Errorf("no %s record", role)
		}
	}
}

// A needle across the border of two chunks marks both, and the second as cut.
func TestSynthCut(t *testing.T) {
	cut := 0
	for _, s := range generate(t, synth.Config{Task: "niah_single_2", Lengths: []int{2000}, Samples: 20}, 30, corpustest.FourthCounter{}) {
		q := s.Queries()[0]
		want := []int(nil)
		for _, ev := range q.Evidence[1:] {
			want = append(want, ev.Chunk)
		}
		if diff := cmp.Diff(want, q.Cut); diff != "" {
			t.Errorf("%s: cut: %s", s.Name(), diff)
		}
		cut += len(q.Cut)
	}
	if cut == 0 {
		t.Error("no needle was cut: records are to be longer than these chunks")
	}
}

// Published generators put gold into the same places in every sample. Ours must not: with
// 1000 samples in ten bins, χ² of 9 degrees of freedom is under 27.88 with p = 0.999.
func TestSynthPlacesAreUniform(t *testing.T) {
	const samples, bins = 1000, 10
	towns := qa(t, "squad", squad(samples), 470) // 20 documents, two in each bin
	for _, s := range []synth.Config{{Task: "niah_single_1", Lengths: []int{1500}}, {Task: "niah_multikey_1", Lengths: []int{1500}}, towns} {
		count, task := make([]int, bins), s.Task
		s.Samples, s.Seed = samples, 1
		for _, s := range generate(t, s, 1500, corpustest.FourthCounter{}) {
			count[min(int(s.Depth()/100*bins), bins-1)]++
		}
		if chi := chiSquare(count); chi > 27.88 {
			t.Errorf("%s: places %v, χ² %.1f", task, count, chi)
		}
	}
}

// chiSquare is how far counts are from being equal.
func chiSquare(count []int) (chi float64) {
	want := float64(total(count)) / float64(len(count))
	for _, n := range count {
		d := float64(n) - want
		chi += d * d / want
	}
	return chi
}

func TestSynthDepth(t *testing.T) {
	for _, c := range []struct {
		depth string
		want  float64
	}{{"0", 0}, {"50", 50}, {"100", 100}} {
		s := generate(t, synth.Config{Task: "niah_single_2", Lengths: []int{20000}, Depth: c.depth}, 500, corpustest.FourthCounter{})[0]
		if got := s.Depth(); got < c.want-1 || got > c.want+1 {
			t.Errorf("depth %s: the needle stands at %.1f %%", c.depth, got)
		}
		first := float64(s.Queries()[0].Last()-1) / float64(s.Len()) * 100
		if first > c.want+3 || first < c.want-8 {
			t.Errorf("depth %s: the needle is in the chunk at %.1f %%", c.depth, first)
		}
	}
	depths := map[string]bool{}
	for _, s := range generate(t, synth.Config{Task: "niah_single_2", Lengths: []int{20000}, Samples: 200, Depth: "grid"}, 5000, corpustest.FourthCounter{}) {
		depths[fmt.Sprintf("%.0f", s.Depth()/100*39)] = true
	}
	if len(depths) != 40 {
		t.Errorf("a grid of %d depths, want 40", len(depths))
	}
}

// The seed is all that decides: these bytes are the same on every machine. They change
// only when the generator is changed on purpose.
func TestSynthBytes(t *testing.T) {
	var got strings.Builder
	for _, task := range synth.Tasks() {
		s := generate(t, synth.Config{Task: task, Lengths: []int{1024, 2048}, Samples: 2, Seed: 7, From: from(task)}, 500, corpustest.FourthCounter{})
		again := generate(t, synth.Config{Task: task, Lengths: []int{2048, 1024}, Samples: 2, Seed: 7, From: from(task)}, 500, corpustest.FourthCounter{})
		for i := range s {
			if other := again[(i+2)%4]; other.SHA() != s[i].SHA() || other.Name() != s[i].Name() {
				t.Errorf("%s: %s depends on the lengths beside it", task, s[i].Name())
			}
		}
		fmt.Fprintf(&got, "%s %s %.16s %.1f\n", task, s[0].Name(), s[0].SHA(), s[0].Depth())
		if s[0].SHA() == s[1].SHA() || s[0].Queries()[0].Text == s[1].Queries()[0].Text {
			t.Errorf("%s: two samples are the same", task)
		}
		other := generate(t, synth.Config{Task: task, Lengths: []int{1024}, Seed: 8, From: from(task)}, 500, corpustest.FourthCounter{})
		if other[0].SHA() == s[0].SHA() {
			t.Errorf("%s: two seeds are the same", task)
		}
	}
	golden := filepath.Join("testdata", "synth.sha")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

// Chunks that are not kept are made again, the same.
func TestSynthIsMadeAgain(t *testing.T) {
	generated := synth.Config{Task: "niah_multikey_3", Lengths: []int{5000}}
	cfg := corpus.Config{ID: "n", Reader: generated,
		Pack: corpus.Pack{Tokens: 70}, Prompts: corpustest.Builder(t, corpustest.FourthCounter{}), Keep: -1}
	sessions, err := corpus.Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	kept := generate(t, generated, 70, corpustest.FourthCounter{})[0]
	if diff := cmp.Diff(corpustest.Renderings(t, kept), corpustest.Renderings(t, sessions[0])); diff != "" {
		t.Error(diff)
	}
}

func TestSynthFile(t *testing.T) {
	path := corpustest.WriteFile(t, "essays.txt", "First one.\nSecond\n  one? (\"Third.\") And no end")
	s := generate(t, synth.Config{Task: "niah_single_2", Lengths: []int{600}, Haystack: "file", File: path}, 300, corpustest.FourthCounter{})[0]
	q := s.Queries()[0]
	text := strings.ReplaceAll(strings.Join(corpustest.Renderings(t, s), "\n\n"), q.Evidence[0].Excerpt+" ", "")
	if want := `[tool] First one. Second one? ("Third.") And no end First one.` + "\n\n[tool] Second one?"; !strings.HasPrefix(text, want) {
		t.Errorf("found %.100q, want %q", text, want)
	}
}

func TestSynthRefuses(t *testing.T) {
	for _, c := range []struct {
		synth synth.Config
		want  string
	}{
		{synth.Config{Task: "niah", Lengths: []int{9}}, "task: found \"niah\""},
		{synth.Config{Task: "vt"}, "want at least one length"},
		{synth.Config{Task: "vt", Lengths: []int{100}, Queries: 2, Needles: 2}, "vt asks for one chain"},
		{synth.Config{Task: "niah_single_1", Lengths: []int{100}, Queries: 2}, "queries: found 2, want at most the needles, 1"},
		{synth.Config{Task: "niah_single_1", Lengths: []int{100}, Depth: "deep"}, "want uniform, grid or a percentage"},
		{synth.Config{Task: "niah_single_1", Lengths: []int{100}, Depth: "101"}, "want uniform, grid or a percentage"},
		{synth.Config{Task: "niah_single_1", Lengths: []int{100}, Depth: "NaN"}, "want uniform, grid or a percentage"},
		{synth.Config{Task: "niah_multivalue", Lengths: []int{100}, Depth: "grid", Values: 41}, "grid has 40 places"},
		{synth.Config{Task: "niah_single_1", Lengths: []int{20}}, "want at least the"},
		{synth.Config{Task: "niah_single_1", Lengths: []int{100}, Haystack: "file"}, "want a file"},
		{synth.Config{Task: "session", Lengths: []int{100}, Haystack: "noise"}, "a session is its own"},
		{synth.Config{Task: "vt", Lengths: []int{100}, Needles: 501}, "at most 500"},
		{synth.Config{Task: "vt", Lengths: []int{100}, Values: -1}, "synth: values: found -1, want at least 1"},
		{synth.Config{Task: "vt", Lengths: []int{100}, From: from("qa")}, "with task qa only"},
		{synth.Config{Task: "qa", Lengths: []int{100}}, `from: format: found "", want one of hotpotqa, jsonl, musique, squad`},
		{synth.Config{Task: "qa", Lengths: []int{100}, From: synth.From{Format: "locomo", Path: "l.json"}}, `found "locomo", want one of`},
		{synth.Config{Task: "qa", Lengths: []int{100}, From: synth.From{Format: "jsonl", Path: "l.json"}}, "want a labels file"},
		{synth.Config{Task: "qa", Lengths: []int{100}, From: from("qa"), Values: 2}, "found one with task qa, want none"},
		{synth.Config{Task: "qa", Lengths: []int{100}, From: from("qa"), Depth: "deep"}, "want uniform, grid or a percentage"},
		{synth.Config{Task: "qa", Lengths: []int{100}, From: from("qa"), Samples: 51}, "samples: found 51, want at most 50: so many of the 50 questions in " + dev50 + " have evidence"},
		{synth.Config{Task: "qa", Lengths: []int{100}, From: from("qa")}, "tokens: found 100, want at least the "},
		{synth.Config{Task: "qa", Lengths: []int{1 << 20}, From: from("qa")}, "tokens: found 1048576, want at most "},
	} {
		_, err := corpus.Load(t.Context(), corpus.Config{Reader: c.synth, Pack: corpus.Pack{Tokens: 100}, Prompts: corpustest.Builder(t, corpustest.FourthCounter{})})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.synth, err, c.want)
		}
	}
}

// The heap does not grow with a session, whose text alone would be 48 MB.
func TestSynthHeapIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow, and the race detector has a heap of its own")
	}
	cfg := corpus.Config{Reader: synth.Config{Task: "vt", Lengths: []int{12_000_000}},
		Pack: corpus.Pack{Tokens: 4800}, Prompts: corpustest.Builder(t, corpustest.FourthCounter{}), Keep: -1}
	peak := corpustest.PeakHeld(func() {
		if _, err := corpus.Load(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	})
	if peak > 20<<20 {
		t.Errorf("holds %d MB", peak>>20)
	}
}

// BenchmarkSynth makes, counts and packs sessions of a million tokens: under 5 s each.
func BenchmarkSynth(b *testing.B) {
	for _, task := range []string{"niah_single_1", "niah_single_2", "niah_multikey_3", "vt", "session"} {
		b.Run(task, func(b *testing.B) {
			peak := uint64(0)
			for b.Loop() {
				cfg := corpus.Config{Reader: synth.Config{Task: task, Lengths: []int{1_000_000}},
					Pack: corpus.Pack{Tokens: 4800}, Prompts: corpustest.Builder(b, vocabulary(b, "o200k_base")), Keep: -1}
				peak = max(peak, corpustest.PeakHeap(func() {
					if _, err := corpus.Load(b.Context(), cfg); err != nil {
						b.Fatal(err)
					}
				}))
			}
			b.ReportMetric(float64(peak)/1e6, "peakMB")
		})
	}
}

func TestLength(t *testing.T) {
	var got []string
	for _, n := range []int{1, 1000, 1024, 8192, 1 << 20, 3 << 19} {
		got = append(got, synth.Length(n))
	}
	if want := []string{"1", "1000", "1k", "8k", "1m", "1536k"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
