package render_test

import (
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/dist"
	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
)

// tables are forecasts of tables alone.
func tables(of []check.BudgetTable) (list []forecast.Forecast) {
	for _, t := range of {
		list = append(list, forecast.Forecast{BudgetTable: t})
	}
	return list
}

// forecasts are of a corpus that other packings would serve better, and of one that fails.
func forecasts() []forecast.Forecast {
	list := tables([]check.BudgetTable{rendertest.BudgetTable("staging"), rendertest.BudgetTable("hotpot")})
	list[0].Sizes = []dist.Bin{{From: 0, To: 999, Count: 1}, {From: 1000, To: 1999}, {From: 2000, To: 2999, Count: 60}}
	list[0].Packings = []forecast.Packing{
		{Records: 3, Limit: 5000, Chunks: 61, Mean: 2100, Max: 2900, Filled: 0.124},
		{Tokens: 5000, Limit: 5000, Chunks: 27, Mean: 4800, Max: 4999, Filled: 0.2},
		{Tokens: 29040, Limit: 29040, Chunks: 5, Mean: 28000, Max: 29040, Filled: 0.97},
	}
	list[1].Percentile = 90
	list[1].Sizes = []dist.Bin{{From: 7, To: 7, Count: 1}}
	list[1].Packings = []forecast.Packing{{Tokens: 4800, Limit: 5000, Chunks: 1, Mean: 7, Max: 7}}
	list[1].Verdict = check.Result{Check: "budget", Subject: "hotpot", Status: check.Fail, Detail: "section is over budget"}
	return list
}
