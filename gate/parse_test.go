package gate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
)

// The elements that most replies below are made of.
const (
	yes   = "<check>yes</check>"
	no    = "<check>no</check>"
	upd   = "<update>m</update>"
	cont  = "<next>continue</next>"
	end   = "<next>end</next>"
	whole = yes + upd + end
)

// wrote is the Decision of whole.
var wrote = gate.Decision{Update: true, Exit: true, Candidate: "m", HasCandidate: true}

// retained is the Decision of no + cont.
var retained = gate.Decision{}

func thought(d gate.Decision, reasoning string) gate.Decision {
	d.Reasoning = reasoning
	return d
}

func memory(d gate.Decision, candidate string) gate.Decision {
	d.Candidate, d.HasCandidate = candidate, true
	return d
}

type accepted struct {
	name, reply string
	want        gate.Decision
}

func acceptedReplies() []accepted {
	goesOn := wrote
	goesOn.Exit = false
	return []accepted{
		{"all three", whole, wrote},
		{"yes and continue", yes + upd + cont, goesOn},
		{"no and continue", no + cont, retained},
		{"no and end", no + end, gate.Decision{Exit: true}},
		{"as the template asks", "<think>Port named.</think>\n" + yes + "\n<update>\nPort 6380.\n</update>\n" + end + "\n",
			thought(memory(wrote, "Port 6380."), "Port named.")},

		// Reasoning.
		{"reasoning without its opening tag", "hm</think>" + whole, thought(wrote, "hm")},
		{"reasoning is trimmed", "\n<think>\n hm \n</think>" + whole, thought(wrote, "hm")},
		{"empty reasoning", "<think>\n\n</think>" + whole, wrote},
		{"reasoning names the tags", "<think>either " + no + " or <check>, <update>x, " + cont + "</think>" + whole,
			thought(wrote, "either "+no+" or <check>, <update>x, "+cont)},
		{"reasoning drafts a whole reply", "<think>" + no + cont + "</think>" + whole, thought(wrote, no+cont)},
		{"reasoning holds </think>", "<think>I close with </think> and then</think>" + whole,
			thought(wrote, "I close with </think> and then")},
		{"reasoning holds <think>", "<think><think> twice</think>" + whole, thought(wrote, "<think> twice")},
		{"reasoning after prose", "Sure. <think>hm</think>" + whole, thought(wrote, "Sure. <think>hm")},
		{"</think> twice", "<think>hm</think>\n</think>" + whole, thought(wrote, "hm</think>")},
		{"gates before the last </think> are reasoning", whole + "</think>" + no + cont, thought(retained, whole)},
		{"a draft's unclosed update before </think> is reasoning", yes + "<update>a</think>" + whole,
			thought(wrote, yes+"<update>a")},
		{"<think> after a complete reply", whole + "<think>", wrote},
		{"<think> and text after a complete reply", whole + "\n<think>Now <think> the next", wrote},
		{"<think> after a complete no", no + cont + "<think>", retained},

		// Order and text between.
		{"next, update, check", end + upd + yes, wrote},
		{"update first", upd + end + yes, wrote},
		{"text around the elements", "So: " + yes + " then " + upd + ", and " + end + ".", wrote},
		{"prose without reasoning", "The port is named.\n" + whole, wrote},
		{"CRLF", "<think>hm\r\n</think>\r\n<check>yes\r\n</check>\r\n<update>\r\na\r\nb\r\n</update>\r\n<next>\r\nend</next>\r\n",
			thought(memory(wrote, "a\r\nb"), "hm")},

		// Values.
		{"Yes and End", "<check>Yes</check>" + upd + "<next>End</next>", wrote},
		{"YES and END", "<check>YES</check>" + upd + "<next>END</next>", wrote},
		{"space around no", "<check> no </check><next>\tContinue\n</next>", retained},

		// Updates.
		{"update is trimmed once", yes + "<update> \n a  b \t</update>" + end, memory(wrote, "a  b")},
		{"update holds gates", yes + "<update>a " + no + cont + "</update>" + end, memory(wrote, "a "+no+cont)},
		{"update holds half gates", yes + "<update></next><check>yes<next></update>" + end, memory(wrote, "</next><check>yes<next>")},
		{"update holds <think>", yes + "<update><think>a</update>" + end, memory(wrote, "<think>a")},
		{"update before check holds gates", "<update>" + no + "</update>" + yes + end, memory(wrote, no)},
		{"update holds a near tag", yes + "<update>a </updat <Update></update>" + end, memory(wrote, "a </updat <Update>")},
		{"update holds a zero byte", yes + "<update>a\x00b</update>" + end, memory(wrote, "a\x00b")},
		{"update holds U+FFFD", yes + "<update>\uFFFD</update>" + end, memory(wrote, "\uFFFD")},
		{"no with an update", no + upd + cont, memory(retained, "m")},
		{"no with an empty update", no + "<update></update>" + cont, memory(retained, "")},
		{"no with a blank update", no + "<update> \n</update>" + cont, memory(retained, "")},

		// Closing tags repeated at once.
		{"</update> twice", yes + upd + "</update>" + end, wrote},
		{"</update> twice on lines", yes + upd + "\n </update>\n" + end, wrote},
		{"</update> four times", yes + upd + "</update></update>\n</update>" + end, wrote},
		{"</check> twice", yes + "</check>" + upd + end, wrote},
		{"</next> twice at the end", whole + "\n</next>\n", wrote},

		// Not tags.
		{"tags of another case are text", whole + "<CHECK>no</CHECK>", wrote},
		{"tags with inner space are text", whole + "< check>no</ check><check >", wrote},
		{"other tags are text", "<answer>" + whole + "</answer>", wrote},
		{"< alone is text", "1 < 2 <" + whole + "<", wrote},
	}
}

type refused struct {
	name, reply string
	kind        gate.Kind
	offset      int
	message     string
}

// bad makes the case of a reply of head and tail whose error is at the tail's first byte.
func bad(name string, kind gate.Kind, head, tail, message string) refused {
	return refused{name, head + tail, kind, len(head), message}
}

const (
	wantCheck  = "want <check>yes</check> or <check>no</check>, found "
	wantNext   = "want <next>continue</next> or <next>end</next>, found "
	wantUpdate = "want the new memory between <update> and </update>, found "
	wantThink  = "want </think> after this <think>, found "
	atEnd      = "end of reply"
)

func refusedReplies() []refused {
	return []refused{
		// Bytes.
		bad("invalid UTF-8 at once", gate.InvalidUTF8, "", "\xff"+whole, `want valid UTF-8, found "\xff"`),
		bad("invalid UTF-8 in the update", gate.InvalidUTF8, yes+"<update>a", "\xff</update>"+end, `want valid UTF-8, found "\xff"`),
		bad("invalid UTF-8 in the reasoning", gate.InvalidUTF8, "<think>\uFFFD é", "\xe2\x82</think>"+whole, `want valid UTF-8, found "\xe2"`),
		bad("invalid UTF-8 at the end", gate.InvalidUTF8, whole, "\xc3", `want valid UTF-8, found "\xc3"`),
		bad("invalid UTF-8 beats other errors", gate.InvalidUTF8, "<check>maybe", "\x80", `want valid UTF-8, found "\x80"`),

		// Reasoning.
		bad("<think> alone", gate.UnclosedThink, "", "<think>", wantThink+`"<think>"`),
		bad("<think> unclosed", gate.UnclosedThink, "", "<think>hm", wantThink+`"<think>hm"`),
		bad("<think> unclosed before gates", gate.UnclosedThink, "ok ", "<think>hm "+whole, wantThink+`"<think>hm <check>yes</check><update>m</u"...`),
		bad("<think> unclosed twice", gate.UnclosedThink, "", "<think>a<think>b", wantThink+`"<think>a<think>b"`),
		bad("<think> unclosed after reasoning", gate.UnclosedThink, "<think>a</think>", "<think>b", wantThink+`"<think>b"`),
		bad("<think> unclosed after check", gate.UnclosedThink, yes, "<think>", wantThink+`"<think>"`),
		bad("<think> unclosed before next", gate.UnclosedThink, yes+upd, "<think>"+end, wantThink+`"<think><next>end</next>"`),
		bad("<think> unclosed before update", gate.UnclosedThink, yes+end, "<think>", wantThink+`"<think>"`),
		bad("<think> unclosed before an update of no", gate.UnclosedThink, no+cont, "<think>"+upd, wantThink+`"<think><update>m</update>"`),
		bad("second thoughts after a complete reply", gate.UnclosedThink, whole, "<think>or "+no, wantThink+`"<think>or <check>no</check>"`),
		bad("<think> unclosed before a closing tag", gate.UnclosedThink, whole, "<think></next>", wantThink+`"<think></next>"`),
		bad("only reasoning", gate.MissingCheck, "<think>hm</think>", "", wantCheck+atEnd),
		bad("only reasoning, unopened", gate.MissingCheck, "hm</think>\n", "", wantCheck+atEnd),
		bad("all of the reply is reasoning", gate.MissingCheck, whole+"</think>", "", wantCheck+atEnd),

		// Check.
		bad("empty reply", gate.MissingCheck, "", "", wantCheck+atEnd),
		bad("prose", gate.MissingCheck, "The port is 6380.", "", wantCheck+atEnd),
		bad("check missing", gate.MissingCheck, upd+end, "", wantCheck+atEnd),
		bad("check of another case", gate.MissingCheck, "<Check>yes</Check>"+upd+end, "", wantCheck+atEnd),
		bad("check twice, agreeing", gate.RepeatedCheck, yes, yes+upd+end, `want no second <check>, found "<check>yes</check><update>m</update><nex"...`),
		bad("check twice, not agreeing", gate.RepeatedCheck, whole, no, `want no second <check>, found "<check>no</check>"`),
		bad("yes with a full stop", gate.BadCheck, "<check>", "yes.</check>"+upd+end, wantCheck+`"yes."`),
		bad("maybe", gate.BadCheck, "<think>a</think><check>", "maybe</check>"+upd+end, wantCheck+`"maybe"`),
		bad("a gate of the other kind", gate.BadCheck, "<check>", "end</check>"+end, wantCheck+`"end"`),
		bad("empty check", gate.BadCheck, "<check>", "</check>"+end, wantCheck+`""`),
		bad("blank check", gate.BadCheck, "<check>", " \n</check>"+end, wantCheck+`" \n"`),
		bad("yes with a long s", gate.BadCheck, "<check>", "ye\u017f</check>"+upd+end, wantCheck+`"yeſ"`),
		bad("check in check", gate.BadCheck, "<check>", "<check>yes</check></check>"+upd+end, wantCheck+`"<check>yes"`),
		bad("check closed late", gate.BadCheck, "<check>", "yes"+upd+"</check>"+end, wantCheck+`"yes<update>m</update>"`),
		bad("check unclosed", gate.BadCheck, "", "<check>yes"+upd+end, `want </check> after this <check>, found "<check>yes<update>m</update><next>end</n"...`),
		bad("check cut in its closing tag", gate.BadCheck, "", "<check>yes</chec", `want </check> after this <check>, found "<check>yes</chec"`),
		bad("check closed, never opened", gate.StrayClose, "yes", "</check>"+upd+end, `want no </check> without its <check>, found "</check><update>m</update><next>end</nex"...`),
		bad("half a check before another", gate.StrayClose, "no", "</check>"+whole, `want no </check> without its <check>, found "</check><check>yes</check><update>m</upd"...`),
		bad("</check> again, not at once", gate.StrayClose, yes+"no", "</check>", `want no </check> without its <check>, found "</check>"`),

		// Next.
		bad("next missing", gate.MissingNext, yes+upd, "", wantNext+atEnd),
		bad("next missing after no", gate.MissingNext, no, "", wantNext+atEnd),
		bad("next twice, agreeing", gate.RepeatedNext, no+cont, cont, `want no second <next>, found "<next>continue</next>"`),
		bad("next twice, not agreeing", gate.RepeatedNext, no+cont, end, `want no second <next>, found "<next>end</next>"`),
		bad("next is stop", gate.BadNext, no+"<next>", "stop</next>", wantNext+`"stop"`),
		bad("next is yes", gate.BadNext, no+"<next>", "yes</next>", wantNext+`"yes"`),
		bad("next with a dotted I", gate.BadNext, no+"<next>", "cont\u0130nue</next>", wantNext+`"contİnue"`),
		bad("next empty", gate.BadNext, no+"<next>", "</next>", wantNext+`""`),
		bad("next unclosed", gate.BadNext, no, "<next>end", `want </next> after this <next>, found "<next>end"`),
		bad("next closed, never opened", gate.StrayClose, no+"end", "</next>", `want no </next> without its <next>, found "</next>"`),

		// Update.
		bad("yes without update", gate.MissingUpdate, yes+end, "", wantUpdate+atEnd),
		bad("yes without update and next", gate.MissingUpdate, yes, "", wantUpdate+atEnd),
		bad("yes with an empty update", gate.BlankUpdate, yes+"<update>", "</update>"+end, wantUpdate+`""`),
		bad("yes with a blank update", gate.BlankUpdate, "<update>", " \r\n\u00a0</update>"+end+yes, wantUpdate+`" \r\n\u00a0"`),
		bad("update twice", gate.RepeatedUpdate, yes+upd, upd+end, `want no second <update>, found "<update>m</update><next>end</next>"`),
		bad("update twice after no", gate.RepeatedUpdate, no+upd+cont, upd, `want no second <update>, found "<update>m</update>"`),
		bad("update opened again", gate.RepeatedUpdate, whole, "<update>", `want no second <update>, found "<update>"`),
		bad("update in update", gate.RepeatedUpdate, yes+"<update>", "<update>m</update></update>"+end, `want no second <update>, found "<update>m</update></update><next>end</ne"...`),
		bad("update in update's body", gate.RepeatedUpdate, yes+"<update>a ", "<update> b</update>"+end, `want no second <update>, found "<update> b</update><next>end</next>"`),
		bad("update unclosed", gate.UnclosedUpdate, yes, "<update>m"+end, `want </update> after this <update>, found "<update>m<next>end</next>"`),
		bad("update unclosed after no", gate.UnclosedUpdate, no+cont, "<update>", `want </update> after this <update>, found "<update>"`),
		bad("update closed, never opened", gate.StrayClose, yes+"m", "</update>"+end, `want no </update> without its <update>, found "</update><next>end</next>"`),
		bad("update closed again after text", gate.StrayClose, yes+upd+"b", "</update>"+end, `want no </update> without its <update>, found "</update><next>end</next>"`),
		bad("update closed again after next", gate.StrayClose, whole, "</update>", `want no </update> without its <update>, found "</update>"`),
		bad("</think> in the update", gate.StrayClose, yes+"<update>a </think> b", "</update>"+end, `want no </update> without its <update>, found "</update><next>end</next>"`),
		bad("</think> and gates in the update", gate.StrayClose, yes+"<update>a </think>"+no+cont, "</update>"+end, `want no </update> without its <update>, found "</update><next>end</next>"`),
	}
}

func TestParseAccepts(t *testing.T) {
	for _, c := range acceptedReplies() {
		t.Run(c.name, func(t *testing.T) {
			got, err := gate.Parse(c.reply)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error("-want +got\n" + diff)
			}
			again, err := gate.Parse(got.Reply())
			if err != nil {
				t.Fatalf("re-rendered %q: %v", got.Reply(), err)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Error("re-rendered, -first +again\n" + diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range refusedReplies() {
		t.Run(c.name, func(t *testing.T) {
			got, err := gate.Parse(c.reply)
			var syntax *gate.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %+v and error %v, want a *SyntaxError", got, err)
			}
			if syntax.Kind != c.kind || syntax.Offset != c.offset {
				t.Errorf("got %s at %d, want %s at %d", syntax.Kind, syntax.Offset, c.kind, c.offset)
			}
			if _, message, _ := strings.Cut(err.Error(), ": "); message != c.message {
				t.Errorf("message\n got %s\nwant %s", message, c.message)
			}
			if diff := cmp.Diff(gate.Decision{}, got); diff != "" {
				t.Error("a Decision came with the error\n" + diff)
			}
		})
	}
}

// TestKinds also proves that the cases above reach every kind that Parse can return.
func TestKinds(t *testing.T) {
	cases := map[gate.Kind]int{gate.Length: 1} // the loop's
	for _, c := range refusedReplies() {
		cases[c.kind]++
	}
	listed := map[gate.Kind]bool{}
	for _, k := range gate.Kinds() {
		if listed[k] {
			t.Errorf("%s is listed twice", k)
		}
		listed[k] = true
		if !k.Known() {
			t.Errorf("%s is not known", k)
		}
		if cases[k] == 0 {
			t.Errorf("%s has no case", k)
		}
	}
	for k := range cases {
		if !listed[k] {
			t.Errorf("%s is not listed", k)
		}
	}
}

func TestErrorText(t *testing.T) {
	check := func(value string) string {
		_, err := gate.Parse("<think>hm</think><check>" + value + "</check>" + end)
		return err.Error()
	}
	for _, c := range []struct{ name, value, found string }{
		{"plain", "maybe", `"maybe"`},
		{"terminal controls", "\x1b[2J\a\u202eno", `"\x1b[2J\a\u202eno"`},
		{"quotes", `"no"`, `"\"no\""`},
		{"40 bytes", strings.Repeat("x", 40), `"` + strings.Repeat("x", 40) + `"`},
		{"41 bytes", strings.Repeat("x", 41), `"` + strings.Repeat("x", 40) + `"...`},
		{"cut between runes", strings.Repeat("x", 38) + "€€", `"` + strings.Repeat("x", 38) + `"...`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "byte 24: " + wantCheck + c.found
			if got := check(c.value); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

func TestReply(t *testing.T) {
	for _, c := range []struct {
		name string
		d    gate.Decision
		want string
	}{
		{"retain", retained, "<check>no</check>\n<next>continue</next>"},
		{"update", wrote, "<check>yes</check>\n<update>m</update>\n<next>end</next>"},
		{"ignored empty candidate", memory(retained, ""), "<check>no</check>\n<update></update>\n<next>continue</next>"},
		{"reasoning", thought(retained, "a\n</think> b"), "<think>a\n</think> b</think>\n<check>no</check>\n<next>continue</next>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.d.Reply()); diff != "" {
				t.Error("-want +got\n" + diff)
			}
		})
	}
}

// TestAMissingCheckIsNeverNo: nor is a missing next one of its values. The loop asks again
// instead; a gate that was made up would be counted as the model's.
func TestAMissingCheckIsNeverNo(t *testing.T) {
	for reply, want := range map[string]gate.Kind{
		"<next>continue</next>":                            gate.MissingCheck,
		"<update>m</update><next>continue</next>":          gate.MissingCheck,
		"<check></check><next>continue</next>":             gate.BadCheck,
		"<check>no</check>":                                gate.MissingNext,
		"<check>yes</check><update>m</update>":             gate.MissingNext,
		"I would say no.<next>continue</next>":             gate.MissingCheck,
		"<think><check>no</check></think><next>end</next>": gate.MissingCheck,
	} {
		d, err := gate.Parse(reply)
		wrong, ok := errors.AsType[*gate.SyntaxError](err)
		if !ok || wrong.Kind != want || d != (gate.Decision{}) {
			t.Errorf("%q is read as %+v, %v; want %s", reply, d, err, want)
		}
	}
}
