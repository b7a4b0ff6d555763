package eventlog_test

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/loop/eventlog"
)

// A log that was cut in its second turn is interrupted: its first turn verifies, and Bytes is
// where a resume continues.
func ExampleVerify() {
	const log = `{"type":"run_start","schema":1,"level":1,"query_sha":"b50a6cba4fe48c3c5b9e3aba5c9d3e4e7a3f8ae8ef8c1c1fb9bc9d9fd4b9a6a2","use_exit_gate":false,"memory_budget":1024,"tokenizer":"o200k_base"}
{"type":"gate","level":1,"turn":1,"chunk_sha":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","update":false,"exit":false,"attempts":1}
{"type":"gate","level":1,"tu`
	report, err := eventlog.Verify(strings.NewReader(log), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.State, report.Turns, report.Rule)
	// Output: interrupted 1
}
