package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

// promptAsked is what `mem prompt` was asked for.
type promptAsked struct {
	project, query   string
	chunk            int
	answer           bool
	spec             string
	memory, run, out string
	tokenizer        string
	chunkTokens      int
}

func promptCommand() *cobra.Command {
	var p promptAsked
	cmd := &cobra.Command{
		Use:   "prompt --project CORPUS --query QUERY --chunk N",
		Short: "Print the exact prompt of one turn",
		Long: `prompt prints the exact bytes that a model is sent at one turn, with nothing before or
after them, and on stderr what they take in tokens.

With --spec, CORPUS is the id of a corpus (of an import: CORPUS/SAMPLE), and QUERY the id of
a query or, if it cannot be one, the text of another question. Without it CORPUS is a JSONL
file and QUERY the question. From chunk 2 on there is a memory to show: one in a file, or
the one that the model of an earlier run saw. With --answer in place of a chunk it is the
prompt that asks for the answer from the final memory, as the spec's answer: has it.`,
		Example: `  mem prompt --project session.jsonl --query "Which port does Redis listen on?" --chunk 1
  mem prompt --spec experiments/first.yaml --project staging --query redis-port --chunk 1
  mem prompt --spec experiments/first.yaml --project staging --query redis-port --chunk 2 \
      --run staging/redis-port/L1/oracle/record
  mem prompt --spec experiments/first.yaml --project staging --query redis-port --chunk 2 \
      --memory memory.txt >prompt.txt
  mem prompt --spec experiments/answers.yaml --project ten-turns --query redis-port --answer \
      --memory memory.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.print(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&p.project, "project", "", "the session, `CORPUS`")
	flags.StringVar(&p.query, "query", "", "the question, `QUERY`")
	flags.IntVar(&p.chunk, "chunk", 0, "the turn, whose chunk is shown: `N` from 1")
	flags.BoolVar(&p.answer, "answer", false, "the prompt that asks for the answer, in place of a turn's")
	flags.StringVar(&p.spec, "spec", "", "the spec `FILE` in which the ids stand")
	flags.StringVar(&p.memory, "memory", "", "the memory before the turn, a `FILE` or - for stdin")
	flags.StringVar(&p.run, "run", "", "the `RUN` whose memory is shown, by its name")
	flags.StringVar(&p.out, "out", "reports", "folder `DIR` where the spec's runs are")
	flags.StringVar(&p.tokenizer, "tokenizer", "o200k_base", "what counts tokens: a vocabulary's `NAME`, or a tokenizer.json")
	flags.IntVar(&p.chunkTokens, "chunk-tokens", 4800, "how full chunks are packed, in tokens `N`")
	cmd.MarkFlagRequired("project")
	cmd.MarkFlagRequired("query")
	cmd.MarkFlagsOneRequired("chunk", "answer")
	cmd.MarkFlagsMutuallyExclusive("chunk", "answer")
	cmd.MarkFlagsMutuallyExclusive("memory", "run")
	cmd.MarkFlagsMutuallyExclusive("spec", "tokenizer")
	cmd.MarkFlagsMutuallyExclusive("spec", "chunk-tokens")
	p.complete(cmd)
	return cmd
}

func (p promptAsked) print(cmd *cobra.Command) error {
	s, err := p.specified()
	if err != nil {
		return err
	}
	memory, err := p.before(s, cmd.InOrStdin())
	if err != nil {
		return err
	}
	e, err := harness.Prepare(cmd.Context(), harness.Config{Counter: counter}, s)
	if err != nil {
		return err
	}
	shown, err := e.Prompt(harness.PromptAt{Session: p.project, Query: p.query, Turn: p.chunk, Memory: memory})
	if _, over := errors.AsType[*prompt.OverBudget](err); over {
		return &exit{exitFailed, fmt.Errorf("%w (%s)", err, e.Tokenizer())}
	}
	if err != nil {
		return err
	}
	if err := p.measure(cmd.ErrOrStderr(), e, shown); err != nil {
		return err
	}
	_, err = io.WriteString(cmd.OutOrStdout(), shown.User)
	return err
}

// measure shows what a prompt takes.
func (p promptAsked) measure(w io.Writer, e *harness.Experiment, shown prompt.Prompt) error {
	t, b := shown.Tokens, e.Budget()
	rows := []render.TokenRow{
		{Component: string(prompt.System), Tokens: t.System, Limit: b.Template - t.Template},
		{Component: string(prompt.Template), Tokens: t.Template, Limit: b.Template},
		{Component: string(prompt.Problem), Tokens: t.Problem, Limit: b.Question},
		{Component: string(prompt.Memory), Tokens: t.Memory, Limit: b.Memory},
		{Component: string(prompt.Section), Tokens: t.Section, Limit: b.Chunk},
		{Component: string(prompt.Whole), Tokens: t.Prompt(), Limit: b.Prompt()},
	}
	title := fmt.Sprintf("%s, chunk %d, tokens of %s", p.project, p.chunk, e.Tokenizer())
	if p.answer {
		title = fmt.Sprintf("%s, the answer, tokens of %s", p.project, e.Tokenizer())
		rows = slices.DeleteFunc(rows, func(r render.TokenRow) bool { return r.Component == string(prompt.Section) })
	}
	if err := terminal(w, false).Tokens(w, title, rows); err != nil {
		return err
	}
	if note := e.Template().Note; note != "" {
		fmt.Fprintf(w, "This is %s.\n", note)
	}
	if shown.System != "" {
		fmt.Fprintf(w, "The spec's system message (%d bytes) is sent as the system message, it is not among the bytes shown.\n", len(shown.System))
	}
	return nil
}

// specified is a spec of what the prompt needs and nothing more, so that a mistake
// elsewhere, such as a label that is not found, does not hide what the model sees.
func (p *promptAsked) specified() (*spec.Spec, error) {
	if p.spec == "" {
		return p.adHoc()
	}
	s, err := spec.Load(p.spec)
	if err != nil {
		return nil, err
	}
	if p.answer && s.Answer == nil {
		return nil, fmt.Errorf("--answer: %s has no answer: section, so no model is asked for one", p.spec)
	}
	if err := p.keepCorpus(s); err != nil {
		return nil, err
	}
	if !id.MatchString(p.query) {
		s.Queries = append(s.Queries, literal(p.query, s.Corpora[0].ID))
	}
	withoutRuns(s)
	return s, nil
}

// withoutRuns leaves of a spec what its prompts are made of.
func withoutRuns(s *spec.Spec) {
	s.Models, s.Golden, s.Expect, s.Compare, s.Decision = nil, nil, nil, nil, nil
	for i := range s.Queries {
		s.Queries[i].Evidence = nil
	}
}

// id is what the id of a query looks like.
var id = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (p promptAsked) keepCorpus(s *spec.Spec) error {
	name, _, _ := strings.Cut(p.project, "/")
	var known []string
	for _, c := range s.Corpora {
		known = append(known, c.ID.Value)
	}
	i := slices.Index(known, name)
	if i < 0 {
		return fmt.Errorf("--project: %s", yamlpos.OneOf(name, known))
	}
	s.Corpora = s.Corpora[i : i+1]
	return nil
}

// adHoc is the spec of a session in a file and a literal question.
func (p promptAsked) adHoc() (*spec.Spec, error) {
	tokenizer, err := tokenizerFlag(p.tokenizer)
	if err != nil {
		return nil, err
	}
	file := yamlpos.Place{Pos: yamlpos.Pos{File: p.project}}
	c := spec.Corpus{At: file}
	c.ID.Value = p.project
	c.Path = yamlpos.At[string]{Value: p.project, Place: file}
	c.Chunk.Tokens.Value = p.chunkTokens
	return &spec.Spec{
		File: p.project, At: file, Tokenizer: tokenizer, Answer: &spec.Answer{At: file},
		Corpora: []spec.Corpus{c}, Queries: []spec.Query{literal(p.query, c.ID)},
	}, nil
}

// literal is a question that is its own id.
func literal(text string, corpus yamlpos.At[string]) spec.Query {
	q := spec.Query{Corpora: []yamlpos.At[string]{corpus}}
	q.ID.Value, q.Text.Value = text, text
	return q
}

// before is the memory that the prompt shows, nil for none.
func (p promptAsked) before(s *spec.Spec, stdin io.Reader) (*string, error) {
	switch {
	case p.answer && p.run == "" && p.memory == "": // none was written
		return nil, nil
	case p.chunk < 1 && !p.answer:
		return nil, fmt.Errorf("--chunk: found %d, want a chunk's number from 1", p.chunk)
	case p.run != "":
		return p.ofRun(s)
	case p.memory != "" && p.chunk == 1:
		return nil, errors.New("--memory: found a memory at chunk 1, where there is none yet")
	case p.memory != "":
		return readMemory(p.memory, stdin)
	case p.chunk > 1:
		return nil, fmt.Errorf("chunk %d is read with a memory: want --memory FILE, or --run RUN with a run that read it", p.chunk)
	}
	return nil, nil
}

// readMemory trims as a candidate is trimmed: a file's last newline is its editor's.
func readMemory(file string, stdin io.Reader) (*string, error) {
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("--memory: %s: %v", file, reason(err))
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return nil, fmt.Errorf("--memory: %s is blank, and no model can write such a memory", file)
	}
	return &text, nil
}

// ofRun is the memory before the turn in an earlier run's log.
func (p promptAsked) ofRun(s *spec.Spec) (*string, error) {
	if p.spec == "" {
		return nil, errors.New("--run: want --spec too, whose run it is")
	}
	if of := p.project + "/" + p.query + "/"; !strings.HasPrefix(p.run, of) || !fs.ValidPath(p.run) {
		return nil, fmt.Errorf("--run: found %s, want a run of this corpus and query, named %s…", p.run, of)
	}
	path := filepath.Join(p.out, s.Experiment.Value, "runs", filepath.FromSlash(p.run), "events.jsonl")
	if p.answer {
		return memoryAtEnd(path)
	}
	return memoryBefore(path, p.chunk)
}
