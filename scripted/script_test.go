package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/scripted"
)

const example = `turns:
  - turn: 1
    attempts:
      - {check: yes, update: "Redis is on 6380", next: continue, think: "because"}
  - turns: 3-4
    attempts:
      - {raw: "I think the answer is 6380", repeat: 2}
      - {check: no, next: end}
  - {turn: 5, check: yes, update: {text: "alpha ", times: 3}, next: continue}
  - {turn: 6, raw: "<check>yes</check><update>half", finish: length}
  - {turn: 7, error: "connection refused"}
  - {turn: 8, check: no, update: kept, next: end, repeat: 2, finish: stop}
default:
  attempts: [{check: no, next: continue}]
`

func parse(t *testing.T, text string) *scripted.Script {
	t.Helper()
	s, err := scripted.ParseScript("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScriptSays(t *testing.T) {
	m := parse(t, example).Model()
	for _, c := range []struct {
		turn, attempt int
		want          loop.Completion
		err           string
	}{
		{1, 1, loop.Completion{Text: "<think>because</think>\n<check>yes</check>\n<update>Redis is on 6380</update>\n<next>continue</next>"}, ""},
		{2, 1, loop.Completion{Text: "<check>no</check>\n<next>continue</next>"}, ""},
		{3, 1, loop.Completion{Text: "I think the answer is 6380"}, ""},
		{3, 2, loop.Completion{Text: "I think the answer is 6380"}, ""},
		{4, 3, loop.Completion{Text: "<check>no</check>\n<next>end</next>"}, ""},
		{5, 1, loop.Completion{Text: "<check>yes</check>\n<update>alpha alpha alpha</update>\n<next>continue</next>"}, ""},
		{6, 1, loop.Completion{Text: "<check>yes</check><update>half", Finish: "length"}, ""},
		{7, 1, loop.Completion{}, "connection refused"},
		{8, 2, loop.Completion{Text: "<check>no</check>\n<update>kept</update>\n<next>end</next>", Finish: "stop"}, ""},
		{99, 1, loop.Completion{Text: "<check>no</check>\n<next>continue</next>"}, ""},
	} {
		got, err := m.Complete(context.Background(), loop.Request{Turn: c.turn, Attempt: c.attempt})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("turn %d, attempt %d (-want +got):\n%s", c.turn, c.attempt, diff)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("turn %d, attempt %d: error %v, want %q", c.turn, c.attempt, err, c.err)
		}
	}
}

func TestScriptThroughTheLoop(t *testing.T) {
	m := parse(t, example).Model()
	check(t, run(t, m, words{}, 3, "q", "a", "b", "c", "d", "e"), []string{
		"yes continue: over budget", "no continue", "no end", "no end", "yes continue: alpha alpha alpha",
	})
}

func TestScriptRunsOut(t *testing.T) {
	m := parse(t, "turns:\n  - {turn: 1, raw: what}\n  - turns: 2-3\n    attempts: [{raw: a, repeat: 2}, {raw: b}]\n").Model()
	for _, c := range []struct {
		turn, attempt int
		want          string
	}{
		{1, 2, "s.yaml:2:5: this entry ends at attempt 1, whose reply was not accepted: want one more, or one that parses"},
		{3, 4, "s.yaml:3:5: this entry ends at attempt 3, whose reply was not accepted: want one more, or one that parses"},
		{4, 1, "s.yaml:3:5: no entry names this turn, want one that does, or a default"},
	} {
		_, err := m.Complete(context.Background(), loop.Request{Turn: c.turn, Attempt: c.attempt})
		if err == nil || err.Error() != c.want || !loop.IsMisconfigured(err) {
			t.Errorf("error %v\n want %s, which tells that the script is wrong", err, c.want)
		}
	}
}

// A transport error that a script asks for is no mistake in the script.
func TestScriptTransportErrorIsPlain(t *testing.T) {
	_, err := parse(t, example).Model().Complete(context.Background(), loop.Request{Turn: 7, Attempt: 1})
	if err == nil || loop.IsMisconfigured(err) {
		t.Errorf("error %#v, want a plain one", err)
	}
}

func TestScriptUnused(t *testing.T) {
	s := parse(t, example)
	var asked [][2]int
	ask := func(turn, attempt int) { asked = append(asked, [2]int{turn, attempt}) }
	ask(1, 1)
	ask(4, 2)
	ask(7, 1)
	ask(3, 9) // there is no such attempt: none is used by it
	want := `s.yaml:8:9: turns[1].attempts[1]: no run used this attempt of turns 3-4
s.yaml:9:5: turns[2]: no run used turn 5
s.yaml:10:5: turns[3]: no run used turn 6
s.yaml:12:5: turns[5]: no run used turn 8
s.yaml:14:3: default: no run used the default`
	if diff := cmp.Diff(want, s.Unused(asked).Error()); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
	for _, turn := range []int{2, 5, 6, 8} {
		ask(turn, 1)
	}
	ask(3, 3)
	if unused := s.Unused(asked); len(unused) != 0 {
		t.Errorf("unused after all were used:\n%v", unused)
	}
}

func TestScriptInParallel(t *testing.T) {
	var text strings.Builder
	text.WriteString("turns:\n")
	for turn := 1; turn <= 50; turn++ {
		fmt.Fprintf(&text, "  - {turn: %d, check: yes, update: memory %d, next: continue}\n", turn, turn)
	}
	s := parse(t, text.String())
	var wg sync.WaitGroup
	for first := range 8 {
		wg.Go(func() {
			m := s.Model()
			for turn := 1 + first; turn <= 50; turn += 4 {
				c, err := m.Complete(context.Background(), loop.Request{Turn: turn, Attempt: 1})
				if err != nil || !strings.Contains(c.Text, fmt.Sprintf("<update>memory %d</update>", turn)) {
					t.Errorf("turn %d: %v, %v", turn, c, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestLoadScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.yaml")
	if _, err := scripted.LoadScript(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that there is no such file", err)
	}
	if err := os.WriteFile(path, []byte("turns: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := scripted.LoadScript(path); err == nil || err.Error() != path+":1:8: turns: found 3, want a list: [3]" {
		t.Errorf("error %v, want it at %s:1:8", err, path)
	}
}

func TestScriptErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "",
			"s.yaml:1:1: found an empty file, want a map"},
		{"no entries", "turns: []",
			"s.yaml:1:1: found no entries, want turns, a default, or both"},
		{"unknown key", "turn: 1",
			`s.yaml:1:1: found unknown key "turn", want one of turns, default, answer; did you mean "turns"?`},
		{"unknown key of an entry", "turns:\n- {turn: 1, chekc: yes, next: end}",
			`s.yaml:2:3: turns[0]: found next without check, want both
s.yaml:2:13: turns[0]: found unknown key "chekc", want one of turn, turns, attempts, check, update, next, think, raw, error, finish, repeat; did you mean "check"?`},
		{"unknown key of an attempt", "turns:\n- turn: 1\n  attempts: [{raw: a, repaet: 2}]",
			`s.yaml:3:23: turns[0].attempts[0]: found unknown key "repaet", want one of check, update, next, think, raw, error, finish, repeat; did you mean "repeat"?`},
		{"not an entry", "turns: [3]",
			"s.yaml:1:9: turns[0]: found 3, want a map of turn, turns, attempts, check, update, next, think, raw, error, finish, repeat"},
		{"not an attempt", "turns:\n- {turn: 1, attempts: [3]}",
			"s.yaml:2:24: turns[0].attempts[0]: found 3, want a map of check, update, next, think, raw, error, finish, repeat"},
		{"no turn", "turns:\n- {check: no, next: end}",
			"s.yaml:2:3: turns[0]: found an entry for no turn, want turn, as in turn: 3, or turns, as in turns: 3-7"},
		{"turn and turns", "turns:\n- {turn: 1, turns: 2-3, check: no, next: end}",
			"s.yaml:2:20: turns[0].turns: found beside turn, want one of the two"},
		{"turn 0", "turns:\n- {turn: 0, check: no, next: end}",
			"s.yaml:2:10: turns[0].turn: found 0, want a whole number of at least 1"},
		{"turn 3.7", "turns:\n- {turn: 3.7, check: no, next: end}",
			"s.yaml:2:10: turns[0].turn: found 3.7, want a whole number of at least 1"},
		{"range backwards", "turns:\n- {turns: 3-2, check: no, next: end}",
			`s.yaml:2:11: turns[0].turns: found "3-2", want a range from a turn to the same or a later one, such as 3-7`},
		{"range from 0", "turns:\n- {turns: 0-2, check: no, next: end}",
			`s.yaml:2:11: turns[0].turns: found "0-2", want a range from a turn to the same or a later one, such as 3-7`},
		{"range of a number", "turns:\n- {turns: 3, check: no, next: end}",
			"s.yaml:2:11: turns[0].turns: found 3, want a range from a turn to the same or a later one, such as 3-7"},
		{"duplicate", "turns:\n- {turn: 1, check: no, next: end}\n- {turn: 1, check: no, next: end}",
			"s.yaml:3:10: turns[1].turn: found turn 1, but line 2 has turn 1: want each turn once"},
		{"overlap", "turns:\n- {turns: 2-5, check: no, next: end}\n- turns: 4-9\n  raw: a",
			"s.yaml:3:10: turns[1].turns: found turns 4-9, but line 2 has turns 2-5: want each turn once"},
		{"turn of the default", "default: {turn: 1, check: no, next: end}",
			"s.yaml:1:17: default.turn: found a turn, want none: the default is for all turns that no entry names"},
		{"nothing to say", "turns:\n- {turn: 1}",
			"s.yaml:2:3: turns[0]: found nothing to say, want check and next, raw, or error"},
		{"no attempts", "turns:\n- {turn: 1, attempts: []}",
			"s.yaml:2:23: turns[0].attempts: found a list of 0, want a list of at least 1"},
		{"attempts and fields", "turns:\n- {turn: 1, check: no, attempts: [{check: no, next: end}]}",
			"s.yaml:2:20: turns[0].check: found beside attempts, want one of the two"},
		{"check alone", "default: {check: no}",
			"s.yaml:1:10: default: found check without next, want both"},
		{"next alone", "default: {next: end}",
			"s.yaml:1:10: default: found next without check, want both"},
		{"check maybe", "default: {check: maybe, next: end}",
			`s.yaml:1:18: default.check: found "maybe", want one of yes, no`},
		{"check true", "default: {check: true, next: end}",
			"s.yaml:1:18: default.check: found true, want one of yes, no"},
		{"next stop", "default: {check: no, next: contineu}",
			`s.yaml:1:28: default.next: found "contineu", want one of continue, end; did you mean "continue"?`},
		{"yes without update", "default: {check: yes, next: end}",
			"s.yaml:1:10: default: found check: yes without update, want the new memory; a reply that does not parse is written as raw"},
		{"blank update", `default: {check: yes, update: " ", next: end}`,
			`s.yaml:1:10: default: found fields whose reply does not parse, want it as raw: byte 27: want the new memory between <update> and </update>, found ""`},
		{"update of a number", "default: {check: yes, update: 6380, next: end}",
			`s.yaml:1:31: default.update: found 6380, want text: put it in quotes, "6380"`},
		{"update of a list", "default: {check: yes, update: [a], next: end}",
			"s.yaml:1:31: default.update: found a list, want text, or a map of text and times"},
		{"update without times", "default: {check: yes, update: {text: a}, next: end}",
			`s.yaml:1:31: default.update: "times" is missing`},
		{"update too long", "default: {check: yes, update: {text: alpha, times: 1000000000}, next: end}",
			"s.yaml:1:31: default.update: found 5 bytes 1000000000 times, want 16777216 bytes at most"},
		{"update that ends early", "default: {check: yes, update: \"a</update>b\", next: end}",
			`s.yaml:1:10: default: found fields whose reply does not parse, want it as raw: byte 38: want no </update> without its <update>, found "</update>\n<next>end</next>"`},
		{"update that is cut", "default: {check: yes, update: \"a</update>\", next: end}",
			"s.yaml:1:10: default: found fields whose reply reads as other fields, want it as raw"},
		{"raw and fields", "default: {raw: a, check: no, update: a, next: end, think: a}",
			`s.yaml:1:26: default.check: found beside raw, want one of the two
s.yaml:1:38: default.update: found beside raw, want one of the two
s.yaml:1:47: default.next: found beside raw, want one of the two
s.yaml:1:59: default.think: found beside raw, want one of the two`},
		{"error and all", "default: {error: a, raw: a, check: no, repeat: 2, finish: length}",
			`s.yaml:1:26: default.raw: found beside error, want one of the two
s.yaml:1:36: default.check: found beside error, want one of the two
s.yaml:1:48: default.repeat: found beside error, want one of the two
s.yaml:1:59: default.finish: found beside error, want one of the two`},
		{"blank error", `default: {error: ""}`,
			`s.yaml:1:18: default.error: found "", want text that is not blank`},
		{"finish", "default: {raw: a, finish: lenght}",
			`s.yaml:1:27: default.finish: found "lenght", want one of stop, length; did you mean "length"?`},
		{"repeat", "default: {raw: a, repeat: 0}",
			"s.yaml:1:27: default.repeat: found 0, want a whole number of at least 1"},
		{"answer of a map", "default: {raw: a}\nanswer: {raw: a}",
			"s.yaml:2:9: answer: found a map, want a text, or a list of attempts, each {raw: TEXT} or {error: TEXT}"},
		{"answer of nothing", "default: {raw: a}\nanswer: []",
			"s.yaml:2:9: answer: found no attempt at the answer, want at least one"},
		{"answer with gates", "default: {raw: a}\nanswer: [{check: no, next: end}]",
			"s.yaml:2:10: answer[0]: found an attempt at the answer without raw or error, want one of the two"},
		{"answer alone", "answer: a",
			"s.yaml:1:1: found no entries, want turns, a default, or both"},
		{"several", "turns:\n- {turn: 1, check: ja, next: end}\n- {turn: 1, check: no}\ndefault: {raw: a, think: b}",
			`s.yaml:2:20: turns[0].check: found "ja", want one of yes, no
s.yaml:3:3: turns[1]: found check without next, want both
s.yaml:3:10: turns[1].turn: found turn 1, but line 2 has turn 1: want each turn once
s.yaml:4:26: default.think: found beside raw, want one of the two`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scripted.ParseScript("s.yaml", []byte(c.text))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
