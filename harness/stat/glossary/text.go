package glossary

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/stat"
)

const textWidth = 80 // columns of a help text

// Overview is all entries for a terminal: names, labels and meanings.
func Overview() string {
	var b strings.Builder
	b.WriteString("Metrics, by what they are about. mem help metrics NAME shows one,\nwith its formula and an example; docs/metrics.md has all.\n")
	for _, topic := range Topics() {
		fmt.Fprintf(&b, "\n%s\n", topic)
		for _, e := range All() {
			if e.Topic == topic {
				fmt.Fprintf(&b, "  %s: %s\n", e.Name, e.Label)
				paragraph(&b, "      ", e.Meaning)
			}
		}
	}
	return b.String()
}

// Text is an entry for a terminal.
func (e Entry) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", e.Name, e.Label)
	paragraph(&b, "", e.Meaning)
	b.WriteString("\n")
	for _, f := range e.facts() {
		paragraph(&b, "  ", f[0]+": "+f[1])
	}
	b.WriteString("\n")
	paragraph(&b, "", "Example: "+e.Example.Words+": "+e.Ratio()+". It is of "+ExampleTitle(e.Example.Set)+":")
	b.WriteString("\n")
	for _, line := range ExampleLines(e.Example.Set) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	b.WriteString("\n")
	paragraph(&b, "", Notation)
	return b.String()
}

// facts are what an entry says beside its meaning, each with its name.
func (e Entry) facts() [][2]string {
	d := e.Definition()
	list := [][2]string{{"numerator", e.Numerator}, {"denominator", e.Denominator}}
	if d.Better != stat.Neither {
		list = append(list, [2]string{"better", string(d.Better)})
	}
	if e.Failure != "" {
		list = append(list, [2]string{"made worse by", e.Failure})
	}
	return append(list,
		[2]string{"interval", cmp.Or(d.Interval, "none")},
		[2]string{"criterion of a decision", cmp.Or(prefixed("no: ", d.Refused), fmt.Sprintf("yes, with a threshold from %v to less than %v", d.Low, d.High))},
		[2]string{"comparison", cmp.Or(prefixed("no: ", d.Unpaired), "yes, paired")})
}

// prefixed is a text with a prefix; empty if it is.
func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// Markdown is docs/metrics.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Metrics

`)
	markdown(&b, "Every number that `mem` computes of gates and answers, with the label that reports give it, what it is a ratio of, and its value on the example runs at the end. `mem help metrics NAME` shows one entry; `mem report DIR --explain NAME` shows which queries and turns it comes from. How intervals and decisions are computed is in [statistics.md](statistics.md).")
	markdown(&b, "This page is made from the program's glossary: `go test ./harness/stat/glossary -update` writes it. Each example is computed by the program in a test.")
	b.WriteString("A turn is *parsed* if a reply had the format of the gates. The *stop* of a run is its first `end`, else its last chunk.\n\n")
	entry, _ := Find("exit_useful")
	fmt.Fprintf(&b, "```console\n$ mem help metrics %s\n%s```\n", entry.Name, entry.Text())
	for _, topic := range Topics() {
		fmt.Fprintf(&b, "\n## %s\n", topic)
		for _, e := range All() {
			if e.Topic == topic {
				e.markdown(&b)
			}
		}
	}
	b.WriteString("\n## The example runs\n\n")
	markdown(&b, code(Notation))
	for _, set := range []string{Recorded, Enforced, Answers} {
		title := ExampleTitle(set)
		fmt.Fprintf(&b, "%s:\n\n", strings.ToUpper(title[:1])+title[1:])
		for _, line := range ExampleLines(set) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// code sets the letters and marks of the notation in a fixed-width face.
func code(notation string) string {
	notation = strings.Join(strings.Fields(notation), " ")
	for _, mark := range []string{": y ", ", b ", ", n ", ", f ", ": ! ", ", 2 ", ", ~ ", ", = "} {
		letter := strings.Trim(mark, ":, ")
		notation = strings.Replace(notation, mark, strings.Replace(mark, letter, "`"+letter+"`", 1), 1)
	}
	return notation
}

func (e Entry) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n", e.Name)
	markdown(b, "*"+strings.ReplaceAll(e.Label, "*", "")+"*. "+e.Meaning)
	b.WriteString("| | |\n| --- | --- |\n")
	for _, f := range append(e.facts(), [2]string{"example", e.Example.Words + ": " + e.Ratio()}) {
		fmt.Fprintf(b, "| %s | %s |\n", f[0], strings.ReplaceAll(f[1], "|", `\|`))
	}
}

func markdown(b *strings.Builder, text string) {
	const width = 116
	wrap(b, "", text, width)
	b.WriteString("\n")
}

func paragraph(b *strings.Builder, indent, text string) { wrap(b, indent, text, textWidth) }

// wrap writes words on lines of a width, in columns.
func wrap(b *strings.Builder, indent, text string, width int) {
	line := indent
	for _, word := range strings.Fields(text) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}
