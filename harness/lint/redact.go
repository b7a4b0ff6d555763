package lint

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/secret"
)

// RedactFile is Redact into a file.
func RedactFile(ctx context.Context, cfg corpus.Config, path string) (n int, err error) {
	err = atomicfile.Write(path, func(w io.Writer) (err error) {
		b := bufio.NewWriter(w)
		if n, err = Redact(ctx, cfg, b); err != nil {
			return err
		}
		return b.Flush()
	})
	return n, err
}

// Redact writes a corpus as JSONL with [redacted] in place of each secret, and returns how
// many there were. Fields of records other than role, text and id are left out, because they
// are not searched for secrets.
func Redact(ctx context.Context, cfg corpus.Config, out io.Writer) (int, error) {
	sources, err := cfg.Sources(ctx)
	if err != nil {
		return 0, err
	}
	sum := 0
	enc := corpus.NewEncoder(out)
	err = corpus.Join(sources).Each(ctx, func(r *corpus.Record) error {
		if r.Skipped != "" {
			return nil
		}
		text, n := secret.Redact(r.Text)
		id, m := secret.Redact(r.ID)
		if sum += n + m; m > 0 {
			id = fmt.Sprintf("redacted-%d", sum) // ids stay unique
		}
		return enc.Encode(r.Role, text, id)
	})
	return sum, err
}
