package main

import "fmt"

// vocabulary is what a source says: the bytes of each token by its id, which is also
// its rank, and the added tokens that text may hold.
type vocabulary struct {
	tokens []string
	added  []string
}

// pair is the ids of the two tokens that a merge joins.
type pair struct{ left, right int }

// ids is the inverse of tokens.
func (v vocabulary) ids() map[string]int {
	ids := make(map[string]int, len(v.tokens))
	for id, token := range v.tokens {
		ids[token] = id
	}
	return ids
}

// pairs finds the pair whose merge makes each token; single bytes have none. A token
// that no merge makes, or one made from later ones, is an error: the packed form has
// no place for it.
func (v vocabulary) pairs() (map[int]pair, error) {
	ids, pairs := v.ids(), make(map[int]pair, len(v.tokens))
	for id, token := range v.tokens {
		if len(token) == 1 {
			continue
		}
		last, ok := lastMerge(token, ids)
		if !ok || last.left >= id || last.right >= id {
			return nil, fmt.Errorf("token %d, %q: want a merge of two earlier tokens that makes it", id, token)
		}
		pairs[id] = last
	}
	if bytes := len(v.tokens) - len(pairs); bytes != 256 {
		return nil, fmt.Errorf("%d single bytes in the vocabulary: want all 256", bytes)
	}
	return pairs, nil
}

// lastMerge runs byte pair encoding on token as its definition says: join the adjacent
// parts whose joint token has the lowest id, leftmost first, as long as there are any.
// It returns the last pair joined, and whether one token remained.
func lastMerge(token string, ids map[string]int) (last pair, ok bool) {
	parts := make([]string, len(token))
	for i := range len(token) {
		parts[i] = token[i : i+1]
	}
	for len(parts) > 1 {
		best, at := -1, 0
		for i := range len(parts) - 1 {
			if id, found := ids[parts[i]+parts[i+1]]; found && (best < 0 || id < best) {
				best, at = id, i
			}
		}
		if best < 0 {
			return pair{}, false
		}
		last = pair{ids[parts[at]], ids[parts[at+1]]}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	return last, true
}
