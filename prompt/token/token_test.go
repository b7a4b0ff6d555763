package token_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/prompt/token"
)

func TestNames(t *testing.T) {
	want := []string{"cl100k_base", "o200k_base", "p50k_base", "qwen2.5", "r50k_base"}
	if diff := cmp.Diff(want, token.Names()); diff != "" {
		t.Error(diff)
	}
	for _, name := range want {
		if got := counter(t, name).Name(); got != name {
			t.Errorf("the counter of %q is named %q", name, got)
		}
	}
}

func TestUnknownNamesAreErrorsThatListTheKnown(t *testing.T) {
	_, err := token.New("o200k")
	want := `unknown tokenizer "o200k": want one of cl100k_base, o200k_base, p50k_base, qwen2.5, r50k_base`
	if err == nil || err.Error() != want {
		t.Errorf("New: error %v, want %s", err, want)
	}
	_, err = token.Reference("qwen2.5")
	want = `no reference for tokenizer "qwen2.5": want one of cl100k_base, o200k_base, p50k_base, r50k_base`
	if err == nil || err.Error() != want {
		t.Errorf("Reference: error %v, want %s", err, want)
	}
}

// GPT-2's family; the numbers are of npm tiktoken 1.0.22.
func TestOlderVocabularies(t *testing.T) {
	text := "func main() {\n        fmt.Println(\"naïve 中文\")\n}\n"
	for name, want := range map[string]int{"p50k_base": 21, "r50k_base": 27} {
		if got := counter(t, name).Count(text); got != want {
			t.Errorf("%s: %d tokens, want %d", name, got, want)
		}
	}
}

func TestNothingIsNoToken(t *testing.T) {
	for _, name := range token.Names() {
		if got := counter(t, name).Count(""); got != 0 {
			t.Errorf("%s: %d tokens in an empty text", name, got)
		}
	}
}

// OpenAI's special tokens are ordinary text; Qwen's added ones are one token each.
func TestAddedTokens(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"cl100k_base", "<|endoftext|>", 7},
		{"o200k_base", "<|endoftext|>", 7},
		{"qwen2.5", "<|endoftext|>", 1},
		{"qwen2.5", "<tool_call></tool_call>", 2},
		{"qwen2.5", "<|im_start|>user\nhi<|im_end|>", 5},
		{"qwen2.5", "<|IM_START|>", 6},
	} {
		if got := counter(t, c.name).Count(c.text); got != c.want {
			t.Errorf("%s: %q has %d tokens, want %d", c.name, c.text, got, c.want)
		}
	}
}

func TestInvalidBytesCountAsReplacements(t *testing.T) {
	for _, name := range token.Names() {
		c := counter(t, name)
		for _, text := range []string{"\xff", "a\xffb", "\xe4\xb8", "日\xe6本", "\xed\xa0\x80", "x\xf0\x9f\x98 y", "<|im_\xffstart|>"} {
			if got, want := c.Count(text), c.Count(string([]rune(text))); got != want {
				t.Errorf("%s: %q has %d tokens, want %d", name, text, got, want)
			}
		}
	}
}

func TestCountingDoesNotAllocate(t *testing.T) {
	if testing.CoverMode() != "" || raced {
		t.Skip("coverage allocates, and under the race detector sync.Pool drops what it is given at random")
	}
	texts := map[string]string{
		"long piece": strings.Repeat("中", 2000), "not normal": strings.Repeat("e\u0323\u0301", 50),
		"invalid": "a\xff\xfeb", "added": "<|im_start|>user\n",
	}
	for _, kind := range []string{"prose", "code", "logs", "cjk", "emoji"} {
		texts[kind] = read(t, kind)
	}
	for _, name := range scanned() {
		c := counter(t, name)
		for kind, text := range texts {
			if n := testing.AllocsPerRun(20, func() { c.Count(text) }); n >= 1 {
				t.Errorf("%s: %v allocations to count %s", name, n, kind)
			}
		}
	}
}

// Run with -race: counters are loaded and used by many at once.
func TestCountersAreShared(t *testing.T) {
	text := read(t, "emoji") + strings.Repeat("a", 500)
	var group sync.WaitGroup
	for _, name := range token.Names() {
		first := counter(t, name)
		want := first.Count(text)
		for range 4 {
			group.Go(func() {
				c, err := token.New(name)
				if err != nil || c != first {
					t.Errorf("%s is loaded twice (error %v)", name, err)
					return
				}
				if got := c.Count(text); got != want {
					t.Errorf("%s: %d tokens beside other calls, want %d", name, got, want)
				}
			})
		}
	}
	group.Wait()
}
