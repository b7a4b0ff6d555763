//go:build unix

package token

import (
	"syscall"
	"testing"
)

// CPU is the processor seconds that this process has used: other processes slow it less
// than they slow a clock.
func CPU() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// Inside the package: from outside a vocabulary is loaded once.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"cl100k_base", "o200k_base", "qwen2.5"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			start := CPU()
			for b.Loop() {
				if _, _, err := load(name, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(1e3*(CPU()-start)/float64(b.N), "cpu-ms/op")
		})
	}
}
