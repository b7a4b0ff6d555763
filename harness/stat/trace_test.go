package stat_test

import (
	"fmt"
	"strings"
	"testing"

	stat "github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
)

// trace is a run as the vectors write it.
type trace struct {
	Query, Corpus string
	Trial, T      int
	Gold          []int
	Turns         []struct {
		Attempts     int
		Status       string
		Update, Exit string
		OverBudget   bool   `json:"over_budget"`
		Before       string `json:"mem_before"`
		After        string `json:"mem_after"`
		Tokens       int    `json:"mem_tokens_after"`
	}
	Answer      string
	GoldAnswers []string `json:"gold_answers"`
}

func (tr trace) run() stat.Run {
	score := answer.Compare(tr.Answer, tr.GoldAnswers, false)
	r := stat.Run{Query: tr.Query, Corpus: tr.Corpus, Trial: tr.Trial, Total: tr.T, Answer: &score}
	for i, turn := range tr.Turns {
		parsed := turn.Status == "ok"
		s := stat.Turn{
			Evidence: tr.Gold[i] == 1, Parsed: parsed, FirstTry: parsed && turn.Attempts == 1,
			Update: turn.Update == "yes", Exit: turn.Exit == "end", OverBudget: turn.OverBudget,
			Changed: turn.Before != turn.After, MemoryTokens: turn.Tokens,
		}
		s.Written = s.Update && !s.OverBudget
		r.Turns = append(r.Turns, s)
	}
	return r
}

func traceMetrics(t *testing.T, e example) map[string]any {
	var in struct{ Runs []trace }
	read(t, e, &in)
	var runs []stat.Run
	var counts stat.Counts
	for _, tr := range in.Runs {
		runs = append(runs, tr.run())
		counts = counts.Add(stat.Count(tr.run()))
	}
	s := stat.Collect(runs)
	// The vectors' names of what has another name, or only a denominator, here.
	values := map[string]string{
		"first_try_parse_rate": "first_try_parse", "parse_rate_after_retries": "parse_after_retries",
		"over_budget_rate": "over_budget", "exit_timely_2": "exit_timely", "exit_delay_mean_safe": "exit_delay",
		"premature_lead_mean": "exit_lead", "would_exit_rate": "would_exit", "turns_saved_mean": "turns_saved",
		"safe_turns_saved_pooled": "safe_turns_saved", "r_update_mean": "reward_update", "r_exit_mean": "reward_exit",
		"r_format_mean": "reward_format", "precision_parsed": "precision", "f1_parsed": "f1", "mcc_parsed": "mcc",
		"balanced_accuracy_parsed": "balanced_accuracy", "update_flip_rate": "flip_rate", "memory_slope_macro": "memory_slope",
		"sub_em_token": "sub_em",
	}
	sizes := map[string]string{
		"turns_issued": "first_try_parse", "retained_turns": "retain_violations", "evidence_runs": "exit_safe",
		"no_evidence_runs": "exit_on_no_evidence", "update_flip_cells": "flip_rate", "exit_flip_cells": "exit_flip_rate",
		"pass_1_units": "pass_1", "pass_2_units": "pass_2", "pass_3_units": "pass_3",
	}
	// Two looser readings of sub_em, which the metric is not.
	out := map[string]any{
		"tp": counts.TruePos, "fn": counts.FalseNeg, "fp": counts.FalsePos, "tn": counts.TrueNeg,
		"parse_failed_evidence": counts.FailedPos, "parse_failed_free": counts.FailedNeg, "never_exit_runs": counts.ExitNever,
		"sub_em":                        share(in.Runs, holdsCharacters),
		"sub_em_memagent_bidirectional": share(in.Runs, holdsEitherWay),
	}
	for name := range e.Expected {
		if _, done := out[name]; done {
			continue
		}
		if of, ok := sizes[name]; ok {
			out[name] = measure(t, s, of, stat.Auto).N
			continue
		}
		metric, ok := values[name]
		if !ok {
			metric = name
		}
		out[name] = measure(t, s, metric, stat.Auto).Value
	}
	return out
}

func share(runs []trace, right func(answer string, references []string) bool) float64 {
	n := 0.0
	for _, r := range runs {
		if right(r.Answer, r.GoldAnswers) {
			n++
		}
	}
	return n / float64(len(runs))
}

func holdsCharacters(answer string, references []string) bool {
	for _, ref := range references {
		if strings.Contains(strings.ToLower(answer), ref) {
			return true
		}
	}
	return false
}

func holdsEitherWay(answer string, references []string) bool {
	for _, ref := range references {
		if holdsCharacters(answer, references) || strings.Contains(ref, strings.ToLower(answer)) {
			return true
		}
	}
	return false
}

// consistency makes a run of each success: one evidence turn, committed or not.
func consistency(t *testing.T, e example) map[string]any {
	var in struct{ Success [][]int }
	read(t, e, &in)
	var runs []stat.Run
	for q, trials := range in.Success {
		for i, ok := range trials {
			turn := stat.Turn{Evidence: true, Parsed: true, Update: ok == 1, Written: ok == 1}
			runs = append(runs, stat.Run{Query: fmt.Sprint("q", q), Trial: i, Turns: []stat.Turn{turn}, Corpus: fmt.Sprint("c", q)})
		}
	}
	out := map[string]any{}
	for name := range e.Expected {
		out[name] = measure(t, stat.Collect(runs), name, stat.Auto).Value
	}
	return out
}
