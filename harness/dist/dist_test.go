package dist_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/dist"
)

func TestPercentileIsNearestRank(t *testing.T) {
	ten := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for _, test := range []struct {
		sorted  []int
		p, want int
	}{
		{ten, 50, 5}, {ten, 51, 6}, {ten, 95, 10}, {ten, 90, 9}, {ten, 91, 10}, {ten, 100, 10}, {ten, 1, 1}, {ten, 10, 1}, {hundred, 7, 7}, {hundred, 55, 55}, {hundred, 14, 14},
		{[]int{7}, 1, 7}, {[]int{7}, 99, 7}, {nil, 95, 0}, {[]int{15, 20, 35, 40, 50}, 30, 20},
	} {
		if got := dist.Percentile(test.sorted, test.p); got != test.want {
			t.Errorf("p%d of %v is %d, want %d", test.p, test.sorted, got, test.want)
		}
	}
}

func TestBins(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		want    []dist.Bin
	}{
		{nil, nil},
		{[]int{0}, []dist.Bin{{From: 0, To: 0, Count: 1}}},
		{[]int{3, 5, 3}, []dist.Bin{{From: 3, To: 3, Count: 2}, {From: 4, To: 4}, {From: 5, To: 5, Count: 1}}},
		{[]int{4790, 9, 4800}, []dist.Bin{{From: 0, To: 499, Count: 1}, {From: 500, To: 999}, {From: 1000, To: 1499}, {From: 1500, To: 1999},
			{From: 2000, To: 2499}, {From: 2500, To: 2999}, {From: 3000, To: 3499}, {From: 3500, To: 3999}, {From: 4000, To: 4499}, {From: 4500, To: 4999, Count: 2}}},
		{[]int{19, 20}, []dist.Bin{{From: 19, To: 19, Count: 1}, {From: 20, To: 20, Count: 1}}},
		{[]int{5, 15}, []dist.Bin{{From: 4, To: 5, Count: 1}, {From: 6, To: 7}, {From: 8, To: 9}, {From: 10, To: 11}, {From: 12, To: 13}, {From: 14, To: 15, Count: 1}}},
	} {
		if diff := cmp.Diff(c.want, dist.Bins(c.numbers)); diff != "" {
			t.Errorf("%v: -want +got\n%s", c.numbers, diff)
		}
	}
}
