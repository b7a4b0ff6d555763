package prompt_test

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/prompt"
)

// fields counts tokens by white space.
type fields struct{}

func (fields) Count(text string) int { return len(strings.Fields(text)) }

func ExampleBuilder() {
	b, err := prompt.New(prompt.Config{Counter: fields{}, Budget: prompt.Budget{Chunk: 8}})
	if err != nil {
		fmt.Println(err)
		return
	}
	question := b.Measure("Which port does Redis listen on?")
	chunk := b.Chunk(prompt.Record{Role: "user", Text: "start it"}, prompt.Record{Role: "tool", Text: "listening on 6380"})
	p, err := b.Assemble(question, nil, chunk)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, values, _ := strings.Cut(p.User, "<next>end</next>.\n")
	fmt.Println(values)
	fmt.Println("tokens of the section:", p.Tokens.Section)

	_, err = b.Assemble(question, nil, b.Chunk(prompt.Record{Role: "tool", Text: strings.Repeat("word ", 20)}))
	fmt.Println(err)
	// Output:
	// <problem> Which port does Redis listen on? </problem>
	// <memory> No previous memory </memory>
	// <section> [user] start it
	//
	// [tool] listening on 6380 </section>
	// tokens of the section: 7
	// section is over budget: 21 tokens, limit 8
}
