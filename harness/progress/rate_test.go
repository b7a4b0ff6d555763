package progress

import (
	"testing"
	"time"
)

// TestTimeLeftIsThatOfLateTurns: a burst of turns that a journal answered does not promise a
// quick end for longer than a minute.
func TestTimeLeftIsThatOfLateTurns(t *testing.T) {
	var r rate
	start := time.Unix(0, 0)
	said := map[int]string{}
	for second := range 91 {
		turns := second // one a second
		if second > 0 {
			turns += 500 // a burst at first
		}
		said[second] = r.left(start.Add(time.Duration(second)*time.Second), turns, 1000)
	}
	for second, want := range map[int]string{0: "", 4: "", 5: ", at most 5s left", 90: ", at most 6m50s left"} {
		if said[second] != want {
			t.Errorf("after %d s: %q, want %q", second, said[second], want)
		}
	}
	if got := r.left(start.Add(100*time.Second), 1000, 1000); got != "" {
		t.Errorf("at the end: %q", got)
	}
}
