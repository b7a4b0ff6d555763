package answer_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat/answer"
)

// scored is an answer with its references and its scores.
type scored struct {
	answer string
	refs   []string
	all    bool
	want   answer.Score
}

// answers are worked by hand.
func answers() []scored {
	one := func(text, ref string, sub, em, f1 float64) scored {
		return scored{text, []string{ref}, false, answer.Score{SubEM: sub, EM: em, F1: f1}}
	}
	return []scored{
		one("It was Paris.", "paris", 1, 0, 2./4),
		one("Paris", "paris", 1, 1, 1),
		one("no", "Nobel", 0, 0, 0), // contained the other way round
		one("york", "New York", 0, 0, 2./3),
		one("unknown", "no", 0, 0, 0), // characters, not tokens
		one("", "", 0, 0, 0),
		one("", "paris", 0, 0, 0),
		one("the answer", "the", 1, 0, 2./3), // of a reference that normalises to nothing, as it is
		one("The answer is A.", "A", 1, 0, 2./5),
		one("(A)", "A", 1, 1, 1),
		one("It is a port", "A", 0, 0, 0),
		one("他住在东京。", "东京", 1, 0, 4./7),
		one("東京", "京都", 0, 0, 2./4),
		one("ポート6380番です", "6380", 1, 0, 2./8),
		one("ポート16380番", "6380", 0, 0, 0),
		one("กรุงเทพฯ", "เทพ", 1, 0, 6./10),
		one("서울에", "서울", 0, 0, 0), // Korean has spaces
		one("[THINK]6379?[/THINK] 6380", "6379", 0, 0, 0),
		one("<Thinking>6379?</Thinking> 6380", "6380", 1, 1, 1),
		one("6379? </seed:think> 6380", "6379", 0, 0, 0),
		one("<|channel|>analysis<|message|>6379?<|end|><|start|>assistant<|channel|>final<|message|>6380<|return|>", "6380", 1, 1, 1),
		one("<|channel>thought\n6379?<channel|>6380", "6380", 1, 1, 1),
		one("<think>6380", "6380", 0, 0, 0), // it never ended
		one("6380 <think>or 6379", "6380", 1, 1, 1),
		one("a new York city", "New York", 1, 0, 4./5),
		one("They caught a fish, an eel", "caught fish eel", 1, 0, 6./7),
		one("new, in York", "New York", 0, 0, 4./5),
		one("York New", "New York", 0, 0, 1),
		one("ÉCOLE “Normale”", "école normale", 1, 1, 1),
		one("It costs $5", "5", 1, 0, 2./4), // symbols of ASCII go, as SQuAD's
		one("It costs €5", "5", 0, 0, 0),
		one("red red", "red", 1, 0, 2./3), // as often as both have it
		one("It is 3.14.", "3.14", 1, 0, 2./4),
		one("314", "3.14", 0, 0, 0),
		one("It fell to -5 degrees", "5", 0, 0, 0),
		one("−5", "-5", 1, 1, 1), // the minus sign
		one("(-5)", "-5", 1, 1, 1),
		one("5-7", "57", 0, 0, 0),
		one("1,000", "1000", 1, 1, 1), // a comma before thousands
		one("1,5", "15", 0, 0, 0),
		one("at 10:30,", "10:30", 1, 0, 2./3),
		one("1030", "10:30", 0, 0, 0),
		one("v1.2.3", "v123", 0, 0, 0),
		one("10.0.0.1/24", "10.0.0.124", 0, 0, 0),
		one("(10.0.0.1:80)", "10.0.0.1:80", 1, 1, 1),
		one("fe80::1", "fe801", 0, 0, 0),
		one("1/2", "12", 0, 0, 0),
		one(".5", "5", 0, 0, 0),
		one("+5", "5", 0, 0, 0),
		one("https://a.b/c", "https://ab/c", 0, 0, 0),
		one("x.y@z.org.", "x.y@z.org", 1, 1, 1),
		one("U.S.", "US", 1, 1, 1), // no value: as SQuAD's
		one("GPT-4", "gpt4", 1, 1, 1),
		one("STRASSE", "straße", 1, 1, 1),    // full case folding
		one("e\u0301cole", "École", 1, 1, 1), // NFC
		{"Port 6380, of the staging Redis", []string{"5432", "6380"}, false, answer.Score{SubEM: 1, F1: 2. / 6}},
		{"6380", []string{"port 6380", "6380"}, false, answer.Score{SubEM: 1, EM: 1, F1: 1}},
		{"6380", []string{"the", "6380"}, false, answer.Score{SubEM: 1, EM: 1, F1: 1}}, // a reference of nothing is passed over
		{"", []string{"", "the"}, true, answer.Score{}},
		{"7, 9", []string{"7", "8", "9"}, true, answer.Score{SubEM: 2. / 3, F1: 4. / 5}},
		{"9, 7", []string{"7", "9"}, true, answer.Score{SubEM: 1, EM: 1, F1: 1}},
		{"9 and 7", []string{"7", "9"}, true, answer.Score{SubEM: 1, F1: 4. / 5}},
		{"It is 7", []string{"7"}, true, answer.Score{SubEM: 1, F1: 2. / 4}},
		{"York New", []string{"New York"}, true, answer.Score{F1: 1}}, // one part is no list
		{"", []string{"", "7"}, true, answer.Score{}},
		{"7", nil, true, answer.Score{}},
	}
}

func alike(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestCompare(t *testing.T) {
	for _, a := range answers() {
		got := answer.Compare(a.answer, a.refs, a.all)
		if diff := cmp.Diff(a.want, got, cmp.Comparer(alike)); diff != "" {
			t.Errorf("%q, references %q, all %v (-want +got):\n%s", a.answer, a.refs, a.all, diff)
		}
	}
}

// TestLooserReadingsOfSubEMAreCaught: each of these passes for sub_em somewhere, and the
// answers above tell it from ours.
func TestLooserReadingsOfSubEMAreCaught(t *testing.T) {
	characters := func(a, b string) bool { return strings.Contains(strings.ToLower(a), strings.ToLower(b)) }
	for name, looser := range map[string]func(text, ref string) bool{
		"either way":  func(text, ref string) bool { return characters(text, ref) || characters(ref, text) },
		"characters":  characters,
		"token sets":  func(text, ref string) bool { return answer.Compare(text, []string{ref}, false).F1 > 0 },
		"the reverse": func(text, ref string) bool { return answer.Compare(ref, []string{text}, false).SubEM == 1 },
	} {
		if !slices.ContainsFunc(answers(), func(a scored) bool {
			return len(a.refs) == 1 && looser(a.answer, a.refs[0]) != a.want.Right()
		}) {
			t.Errorf("no answer tells %q from sub_em", name)
		}
	}
}

// TestHolder: a text holds a reference exactly if an answer of that text would be right by it.
func TestHolder(t *testing.T) {
	for _, a := range answers() {
		holds := answer.Holder(a.answer)
		for _, ref := range a.refs {
			if want := answer.Compare(a.answer, []string{ref}, false).SubEM == 1; holds(ref) != want {
				t.Errorf("%q holds %q: %v, want %v", a.answer, ref, !want, want)
			}
		}
	}
}
