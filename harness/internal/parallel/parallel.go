// Package parallel runs independent steps at the same time.
package parallel

import "sync"

// Do calls do(0) … do(n-1), at most width at a time, and returns when all have returned.
// A width under 1 is 1.
func Do(width, n int, do func(int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(width, 1))
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wg.Wait()
}
