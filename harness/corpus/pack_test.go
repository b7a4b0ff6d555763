package corpus_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

func tokens(n int) corpus.Config { return corpus.Config{Pack: corpus.Pack{Tokens: n}} }

func TestPackWholeRecords(t *testing.T) {
	// "[a] 12345" is 9 bytes and a blank line 2: two records are 20.
	r := corpustest.Record{Role: "a", Text: "12345"}
	for n, want := range map[int][]string{
		19: {"[a] 12345", "[a] 12345", "[a] 12345"},
		20: {"[a] 12345\n\n[a] 12345", "[a] 12345"},
		30: {"[a] 12345\n\n[a] 12345", "[a] 12345"},
		31: {"[a] 12345\n\n[a] 12345\n\n[a] 12345"},
	} {
		s := load(t, tokens(n), r, r, r)
		if diff := cmp.Diff(want, corpustest.Renderings(t, s)); diff != "" {
			t.Errorf("packed by %d (-want +got):\n%s", n, diff)
		}
	}
}

// The limit is on what is sent: an escaped tag is three bytes longer than it was.
func TestPackCountsWhatIsSent(t *testing.T) {
	r := corpustest.Record{Role: "a", Text: "<memory>"}
	if s := load(t, tokens(99), r, corpustest.Record{Role: "a", Text: "<check></check>"}); s.Reserved() != 1 || s.GateTags() != 2 {
		t.Errorf("%d reserved tags and %d gate tags, want 1 and 2", s.Reserved(), s.GateTags())
	}
	got := corpustest.Renderings(t, load(t, tokens(26), r, r))
	if len(got) != 2 {
		t.Errorf("chunks %q of 26 bytes raw but 32 as sent share a limit of 26", got)
	}
	s := load(t, tokens(32), r, r)
	if s.Len() != 1 || s.ChunkTokens()[0] != 32 || s.Reserved() != 2 {
		t.Errorf("%d chunks of %v tokens, %d reserved tags; want one of 32 with 2", s.Len(), s.ChunkTokens(), s.Reserved())
	}
}

func TestPackByRecords(t *testing.T) {
	long := corpustest.Record{Role: "a", Text: strings.Repeat("long ", 9000)} // over any chunk budget, and whole
	short := corpustest.Record{Role: "b", Text: "x"}
	s := load(t, corpus.Config{Pack: corpus.Pack{Records: 2}}, short, long, short, short, short)
	want := []string{"[b] x\n\n[a] " + long.Text, "[b] x\n\n[b] x", "[b] x"}
	if diff := cmp.Diff(want, corpustest.Renderings(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestCutPrefersTheCoarsestBoundary(t *testing.T) {
	for _, c := range []struct {
		name, text string
		limit      int // of the text alone
		want       []string
	}{
		{"paragraph", "11 22\n33 44\n\n55 66\n77", 20, []string{"11 22\n33 44\n\n", "55 66\n77"}},
		{"paragraph of a CRLF file", "11 22\r\n33\r\n\r\n55\r\n77", 18, []string{"11 22\r\n33\r\n\r\n", "55\r\n77"}},
		{"the last of several", "1\n\n2\n\n3\n\n4\n\n5", 10, []string{"1\n\n2\n\n3\n\n", "4\n\n5"}},
		{"line when the paragraph leaves less than half", "1\n\n333 44\n55 66 77", 12, []string{"1\n\n333 44\n", "55 66 77"}},
		{"word when there is no line", "one two three four", 12, []string{"one two ", "three four"}},
		{"rune when there is no word", "äöüäöü", 5, []string{"äö", "üä", "öü"}},
		{"half a CRLF is never a piece", "aaaa\r\nbbbb", 5, []string{"aaaa", "\r\nbbb", "b"}},
		{"unless nothing else fits", "\r\n\r\n", 1, []string{"\r", "\n", "\r", "\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := load(t, tokens(c.limit+len("[tool] ")), corpustest.Record{Role: "tool", Text: c.text})
			var got []string
			for _, raw := range corpustest.Renderings(t, s) {
				piece, ok := strings.CutPrefix(raw, "[tool] ")
				if !ok {
					t.Errorf("piece %q has no label", raw)
				}
				got = append(got, piece)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCutTooSmall(t *testing.T) {
	path := corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t, corpustest.Record{Role: "tool", Text: ""}, corpustest.Record{Role: "tool", Text: "äb"}))
	for limit, want := range map[int]string{
		6: path + `:1:1: a chunk of 6 tokens cannot hold "[tool] ", the label and first character of the record: it takes 7`,
		8: path + `:2:1: a chunk of 8 tokens cannot hold "[tool] ä", the label and first character of the record: it takes 9`,
	} {
		cfg := tokens(limit)
		cfg.Path, cfg.Prompts = path, corpustest.Builder(t, corpustest.BytesCounter{})
		if _, err := corpus.Load(t.Context(), cfg); err == nil || err.Error() != want {
			t.Errorf("limit %d:\n got %v\nwant %s", limit, err, want)
		}
	}
}

// Properties of packing, over random records and limits: nothing is dropped or reordered,
// every piece has its label, no chunk is over the limit or could have taken more, counts are
// exact, and both ways of reading chunks give the same.
func TestPackProperties(t *testing.T) {
	o200k, err := token.New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	for name, counter := range map[string]prompt.Counter{"bytes": corpustest.BytesCounter{}, "fourth": corpustest.FourthCounter{}, "o200k_base": o200k} {
		t.Run(name, func(t *testing.T) {
			b := corpustest.Builder(t, counter)
			for seed := range uint64(150) {
				rng := rand.New(rand.NewPCG(seed, 1))
				records := randomRecords(rng)
				cfg := tokens(16 + rng.IntN(1+rng.IntN(400)))
				cfg.Prompts = b
				checkPacking(t, cfg, records, load(t, cfg, records...))
			}
		})
	}
}

// checkPacking retells the records from the chunks.
func checkPacking(t *testing.T, cfg corpus.Config, records []corpustest.Record, s *corpus.Session) {
	t.Helper()
	at, left := 0, records[0].Text // the record to be told, and what is left of it
	previous := ""
	for i, chunk := range corpustest.Chunks(t, s) {
		fail := func(format string, args ...any) {
			t.Fatalf("limit %d, chunk %d %q: %s", cfg.Pack.Tokens, i+1, chunk.Raw, fmt.Sprintf(format, args...))
		}
		if got := cfg.Prompts.Measure(chunk.Raw); got != chunk.Text || got.Tokens != s.ChunkTokens()[i] {
			fail("measures %+v, was said to be %+v and %d tokens", got, chunk.Text, s.ChunkTokens()[i])
		}
		if chunk.Tokens > cfg.Pack.Tokens {
			fail("%d tokens", chunk.Tokens)
		}
		rest := chunk.Raw
		for n := range chunk.Records {
			if n > 0 {
				rest = strings.TrimPrefix(rest, "\n\n")
			}
			label := "[" + records[at].Role + "] "
			if n == 0 && i > 0 && left == records[at].Text {
				whole := previous + "\n\n" + label + left
				if fits := cfg.Prompts.Measure(whole).Tokens; fits <= cfg.Pack.Tokens {
					fail("starts with a record that fits the chunk before it: %d tokens together", fits)
				}
			}
			body, ok := strings.CutPrefix(rest, label)
			if !ok {
				fail("no label %q at %q", label, rest)
			}
			if piece, ok := strings.CutPrefix(body, left); ok {
				rest = piece
				if at++; at < len(records) {
					left = records[at].Text
				}
				continue
			}
			if n+1 < chunk.Records || !strings.HasPrefix(left, body) || body == "" {
				fail("%q is not of the record %q", body, left)
			}
			if !utf8.ValidString(body) {
				fail("cut within a character")
			}
			left, rest = left[len(body):], ""
		}
		if rest != "" {
			fail("%q is of no record", rest)
		}
		previous = chunk.Raw
	}
	if at != len(records) {
		t.Fatalf("limit %d: told %d of %d records, left %q", cfg.Pack.Tokens, at, len(records), left)
	}
}

func randomRecords(rng *rand.Rand) []corpustest.Record {
	words := []string{"a", "port", "6380", "staging\n", "\n\n", "\r\n", "\r\n\r\n", " ", "\t", "ä", "日本語", "🙂", "e\u0301",
		"<memory>", "</ section >", "<check>", "[tool] ", "\u2028", "\u0000", "supercalifragilistic", "========", "�"}
	var records []corpustest.Record
	for range 1 + rng.IntN(30) {
		var text strings.Builder
		for range rng.IntN(1 + rng.IntN(120)) {
			text.WriteString(words[rng.IntN(len(words))])
			if rng.IntN(2) == 0 {
				text.WriteString(" ")
			}
		}
		role := []string{"system", "user", "assistant", "tool", "x"}[rng.IntN(5)]
		records = append(records, corpustest.Record{Role: role, Text: text.String()})
	}
	return records
}

// ledger counts as corpustest.BytesCounter does and keeps account.
type ledger struct {
	mu            sync.Mutex
	calls         int
	bytes, widest int
}

func (l *ledger) Count(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	l.bytes += len(s)
	l.widest = max(l.widest, len(s))
	return len(s)
}

// A counter is slow: a text is counted a few times by Load, in slices of about a chunk, and
// never again.
func TestPackCountsLittle(t *testing.T) {
	small := make([]corpustest.Record, 5_000)
	for i := range small {
		small[i] = corpustest.Record{Role: "tool", Text: strings.Repeat("word ", 1+i%30)}
	}
	for _, c := range []struct {
		name    string
		records []corpustest.Record
		times   int // that each byte is counted, at most
	}{
		{"small records", small, 4},
		{"one record of many lines", []corpustest.Record{{Role: "tool", Text: strings.Repeat("a line of words\n", 30_000)}}, 8},
		{"one record without white space", []corpustest.Record{{Role: "tool", Text: strings.Repeat("ä", 500_000)}}, 16},
		{"one paragraph a chunk", []corpustest.Record{{Role: "tool", Text: strings.Repeat(strings.Repeat("x", 4000)+"\n\n", 100)}}, 8},
	} {
		counter := &ledger{}
		cfg := tokens(5000)
		cfg.Prompts = corpustest.Builder(t, counter)
		before, size := counter.bytes, 0
		for _, r := range c.records {
			size += len(r.Text)
		}
		s := load(t, cfg, c.records...)
		if times := (counter.bytes - before) / size; times > c.times {
			t.Errorf("%s: %d bytes were counted %d times over, want at most %d", c.name, size, times, c.times)
		}
		if counter.widest > 50_000 {
			t.Errorf("%s: a text of %d bytes was counted for a chunk of 5000", c.name, counter.widest)
		}
		calls := counter.calls
		corpustest.Chunks(t, s)
		if counter.calls != calls {
			t.Errorf("%s: a pass counted %d times", c.name, counter.calls-calls)
		}
	}
}
