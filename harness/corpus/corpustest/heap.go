package corpustest

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// PeakHeap is the largest heap while f runs, garbage included, above what was there before.
func PeakHeap(f func()) (bytes uint64) {
	runtime.GC()
	return highest(heap, f)
}

// PeakHeld is the most memory that collections find in use while f runs, above what was in use
// before. Garbage does not count: a busy machine collects less of it. What is allocated during
// a collection counts as in use, so the least of three is taken.
func PeakHeld(f func()) (bytes uint64) {
	return highest(func() uint64 {
		least := uint64(math.MaxUint64)
		for range 3 {
			runtime.GC()
			least = min(least, live())
		}
		return least
	}, f)
}

// live is what the last collection found in use.
func live() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func highest(measure func() uint64, f func()) (bytes uint64) {
	before := measure()
	var stop atomic.Bool
	done := make(chan uint64)
	go func() {
		peak := uint64(0)
		for !stop.Load() {
			peak = max(peak, measure())
			time.Sleep(5 * time.Millisecond)
		}
		done <- peak
	}()
	f()
	stop.Store(true)
	if peak := <-done; peak > before {
		return peak - before
	}
	return 0
}
