package token

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// Parse returns the counter of a tokenizer.json of Hugging Face's tokenizers: a
// byte-level BPE model without byte fallback, whose ids follow its merges, with no
// normalizer or NFC, and split by the pattern of cl100k_base (also Llama 3's), Qwen or
// o200k_base (also gpt-oss's). Any other is refused, with the reason. Tokens that a
// post-processor sets around a text are not counted: they are not of the text.
//
// Its name is the file's, without its folder, and the start of its SHA-256, so that two
// vocabularies never go by one name.
func Parse(path string, data []byte) (*Counter, error) {
	if n := bytes.Count(data, []byte(",")); n > maxCommas {
		return nil, fmt.Errorf("%s: found %d commas, want at most %d: no vocabulary has so many tokens and merges", path, n, maxCommas)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: want the JSON of a tokenizer.json: %w", path, err)
	}
	e, err := f.encoding()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	name := fmt.Sprintf("%s@%x", filepath.Base(path), sha256.Sum256(data))
	return &Counter{name: name[:len(filepath.Base(path))+1+12], count: e.count}, nil
}

// maxCommas bounds the values of a tokenizer.json, and with them the memory that reading it
// takes. The largest published vocabularies, of 262,144 tokens, have 1.4 million.
const maxCommas = 3_000_000

// file is what a tokenizer.json says that decides over counts.
type file struct {
	Added        []addedToken  `json:"added_tokens"`
	Normalizer   *normalizer   `json:"normalizer"`
	PreTokenizer *preTokenizer `json:"pre_tokenizer"`
	Model        model         `json:"model"`
}

type addedToken struct {
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
}

type normalizer struct {
	Type string `json:"type"`
}

type preTokenizer struct {
	Type           string         `json:"type"`
	PreTokenizers  []preTokenizer `json:"pretokenizers"`
	Pattern        splitPattern   `json:"pattern"`
	Behavior       string         `json:"behavior"`
	Invert         bool           `json:"invert"`
	AddPrefixSpace bool           `json:"add_prefix_space"`
	UseRegex       *bool          `json:"use_regex"` // true where it is missing
}

type splitPattern struct{ Regex string }

func (f file) encoding() (*encoding, error) {
	split, err := f.splitter()
	if err != nil {
		return nil, err
	}
	special, err := f.special()
	if err != nil {
		return nil, err
	}
	v, err := f.Model.vocab()
	if err != nil {
		return nil, err
	}
	e, err := newEncoding(v, split)
	if err != nil {
		return nil, err
	}
	e.nfc, e.added = f.Normalizer != nil, newAdded(special)
	return e, nil
}

// splitter is the scanner of the file's split pattern.
func (f file) splitter() (splitter, error) {
	if f.Normalizer != nil && f.Normalizer.Type != "NFC" {
		return nil, fmt.Errorf("normalizer %q: want none or NFC", f.Normalizer.Type)
	}
	want := errors.New("pre_tokenizer: want a Sequence of Split (by a Regex, Isolated, not inverted) and ByteLevel (no prefix space, no regex)")
	if f.PreTokenizer == nil || f.PreTokenizer.Type != "Sequence" || len(f.PreTokenizer.PreTokenizers) != 2 {
		return nil, want
	}
	cut, level := f.PreTokenizer.PreTokenizers[0], f.PreTokenizer.PreTokenizers[1]
	if cut.Type != "Split" || cut.Behavior != "Isolated" || cut.Invert {
		return nil, want
	}
	if level.Type != "ByteLevel" || level.AddPrefixSpace || level.UseRegex == nil || *level.UseRegex {
		return nil, want
	}
	split, ok := splitters()[cut.Pattern.Regex]
	if !ok {
		return nil, fmt.Errorf("split pattern %q: want that of cl100k_base, o200k_base or Qwen", cut.Pattern.Regex)
	}
	return split, nil
}

// special lists the added tokens.
func (f file) special() ([]string, error) {
	var special []string
	for _, a := range f.Added {
		switch {
		case a.Content == "":
			return nil, errors.New("an added token is empty: want a text")
		case a.SingleWord || a.LStrip || a.RStrip:
			return nil, fmt.Errorf("added token %q: want one without single_word, lstrip and rstrip", a.Content)
		case a.Normalized && f.Normalizer != nil:
			return nil, fmt.Errorf("added token %q: want one that is not normalized", a.Content)
		case a.Normalized != f.Added[0].Normalized:
			return nil, fmt.Errorf("added tokens %q and %q: want both normalized, or neither", f.Added[0].Content, a.Content)
		}
		special = append(special, a.Content)
	}
	return special, nil
}
