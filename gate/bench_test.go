package gate_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/gate"
)

// hostile are replies of a size that shows it if Parse is not linear.
func hostile(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"lt":           fill("<"),
		"think":        fill("<think>"),
		"think close":  fill("</think>"),
		"update":       fill("<update>"),
		"update close": whole + fill("</update>"),
		"closings":     yes + upd + fill("</update> ") + end,
		"half tags":    fill("</update<check<nex"),
		"blank":        fill(" ") + whole,
		"body":         yes + "<update>" + fill("</updat") + "</update>" + end,
	}
}

func TestHostile(t *testing.T) {
	const size = 1 << 20
	want := map[string]gate.Kind{
		"lt": gate.MissingCheck, "think": gate.UnclosedThink, "think close": gate.MissingCheck,
		"update": gate.UnclosedUpdate, "update close": gate.StrayClose, "half tags": gate.MissingCheck,
	}
	for name, reply := range hostile(size) {
		t.Run(name, func(t *testing.T) {
			_, err := gate.Parse(reply)
			var got gate.Kind
			if e := (*gate.SyntaxError)(nil); errors.As(err, &e) {
				got = e.Kind
			}
			if got != want[name] {
				t.Errorf("got kind %q, want %q", got, want[name])
			}
		})
	}
}

// BenchmarkParse reads a reply as a model writes it: 2 KB, half of it reasoning.
func BenchmarkParse(b *testing.B) {
	reply := "<think>" + strings.Repeat("The section names the staging host. ", 28) + "</think>\n" +
		yes + "\n<update>" + strings.Repeat("staging: redis on port 6380, TLS < 1.3. ", 24) + "</update>\n" + cont
	b.SetBytes(int64(len(reply)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gate.Parse(reply); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostile quadruples the size: the MB/s of a case must not fall with it.
func BenchmarkHostile(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(hostile(1))) {
		for _, mb := range []int{1, 4} {
			reply := hostile(mb << 20)[name]
			b.Run(fmt.Sprintf("%s/%dMB", name, mb), func(b *testing.B) {
				b.SetBytes(int64(len(reply)))
				for b.Loop() {
					_, _ = gate.Parse(reply)
				}
			})
		}
	}
}
