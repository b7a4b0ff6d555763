package glossary

const (
	topicReplies = "Replies"
	topicUpdate  = "Update gate"
	topicExit    = "Exit gate"
	topicMemory  = "Memory"
	topicTrials  = "Repetition"
	topicRewards = "The paper's rewards"
	topicAnswers = "Answers"
)

// Denominators that several metrics share.
const (
	allTurns     = "turns with a model reply"
	evidence1    = "turns whose chunk holds evidence"
	evidence0    = "turns whose chunk holds no evidence"
	evidenceRuns = "runs whose session holds evidence"
	answeredRuns = "runs with an answer step and references"
	parsedTable  = "computed from the parsed turns"
)

func replyEntries() []Entry {
	return []Entry{
		{
			Name: "first_try_parse", Topic: topicReplies, Label: "readable at first try",
			Meaning:   "The share of turns whose first reply had the format of the gates.",
			Numerator: "turns parsed at attempt 1", Denominator: allTurns, Failure: "first replies that cannot be parsed",
			Example: Example{Recorded, "one of 24 turns parsed at attempt 2, one never", 22, 24, 0.916666667},
		},
		{
			Name: "parse_after_retries", Topic: topicReplies, Label: "readable in the end",
			Meaning:   "The share of turns that had a reply in the format of the gates, after retries.",
			Numerator: "turns parsed at any attempt", Denominator: allTurns, Failure: "turns none of whose replies can be parsed",
			Example: Example{Recorded, "one of 24 turns never parsed", 23, 24, 0.958333333},
		},
	}
}

func updateEntries() []Entry {
	const missed, noise = "evidence chunks that get a no", "chunks without evidence that get a yes"
	return []Entry{
		{
			Name: "recall_committed", Topic: topicUpdate, Label: "writes evidence",
			Meaning:   "The share of evidence chunks that got into the memory.",
			Numerator: "turns that said yes and were written", Denominator: evidence1, Failure: "evidence chunks that are not written",
			Example: Example{Recorded, "of 6 evidence chunks one got a no, and one a yes that was over budget", 4, 6, 0.666666667},
		},
		{
			Name: "recall_strict", Topic: topicUpdate, Label: "notices evidence",
			Meaning:   "The share of evidence chunks that the update gate called useful, whether or not they were then written.",
			Numerator: "turns that said yes", Denominator: evidence1, Failure: "evidence chunks without a yes",
			Example: Example{Recorded, "one of 6 evidence chunks got a no", 5, 6, 0.833333333},
		},
		{
			Name: "recall_parsed", Topic: topicUpdate, Label: "notices evidence, of readable replies",
			Meaning:   "As recall_strict, without the turns that never parsed.",
			Numerator: "turns that said yes", Denominator: "parsed " + evidence1, Failure: missed,
			Example: Example{Recorded, "one of 6 parsed evidence chunks got a no", 5, 6, 0.833333333},
		},
		{
			Name: "specificity_strict", Topic: topicUpdate, Label: "ignores noise",
			Meaning:   "The share of chunks without evidence that the update gate left out.",
			Numerator: "turns that said no", Denominator: evidence0, Failure: "chunks without evidence that are not left out",
			Example: Example{Recorded, "of 18 chunks without evidence 3 got a yes and one never parsed", 14, 18, 0.777777778},
		},
		{
			Name: "specificity_parsed", Topic: topicUpdate, Label: "ignores noise, of readable replies",
			Meaning:   "As specificity_strict, without the turns that never parsed.",
			Numerator: "turns that said no", Denominator: "parsed " + evidence0, Failure: noise,
			Example: Example{Recorded, "3 of 17 parsed chunks without evidence got a yes", 14, 17, 0.823529412},
		},
		{
			Name: "precision", Topic: topicUpdate, Label: "a yes is right",
			Meaning:   "The share of yes that were on evidence, in sessions with as much evidence as these.",
			Numerator: "parsed turns on evidence that said yes (TP)", Denominator: "parsed turns that said yes (TP + FP)", Failure: noise,
			Example: Example{Recorded, "5 of 8 yes were on evidence: 5/8", 0, 0, 0.625},
		},
		{
			Name: "f1", Topic: topicUpdate, Label: "yes exactly on evidence",
			Meaning:   "The harmonic mean of precision and recall_parsed.",
			Numerator: "2TP, " + parsedTable, Denominator: "2TP + FP + FN", Failure: "wrong updates",
			Example: Example{Recorded, "TP 5, FP 3, FN 1: 10/14", 0, 0, 0.714285714},
		},
		{
			Name: "mcc", Topic: topicUpdate, Label: "agrees with the labels",
			Meaning:   "Matthews' correlation of the update gate and the labels: 1 always right, 0 as by chance, −1 always wrong.",
			Numerator: "TP·TN − FP·FN, " + parsedTable, Denominator: "√((TP+FN)(TP+FP)(TN+FP)(TN+FN))", Failure: "wrong updates",
			Example: Example{Recorded, "TP 5, FN 1, FP 3, TN 14: 67/√(6·8·17·15)", 0, 0, 0.605597528},
		},
		{
			Name: "balanced_accuracy", Topic: topicUpdate, Label: "right on evidence and noise",
			Meaning:   "The mean of recall_parsed and specificity_parsed, so that always yes and always no have 0.5.",
			Numerator: "recall_parsed + specificity_parsed", Denominator: "2", Failure: "wrong updates",
			Example: Example{Recorded, "(5/6 + 14/17)/2", 0, 0, 0.828431373},
		},
		{
			Name: "balanced_accuracy_strict", Topic: topicUpdate, Label: "right on evidence and noise, strictly",
			Meaning:   "The mean of recall_strict and specificity_strict: turns that never parsed are wrong.",
			Numerator: "recall_strict + specificity_strict", Denominator: "2", Failure: "wrong updates",
			Example: Example{Recorded, "(5/6 + 14/18)/2", 0, 0, 0.805555556},
		},
	}
}

func exitEntries() []Entry {
	return []Entry{
		{
			Name: "exit_useful", Topic: topicExit, Label: "exits after the evidence",
			Meaning:   "The share of runs in which the exit gate said end, and not before the last evidence chunk.",
			Numerator: "runs whose first end is at the last evidence chunk or later", Denominator: evidenceRuns, Failure: "exits that are early or never",
			Example: Example{Recorded, "of 3 runs with evidence one says end at chunk 3 and has evidence in chunk 5", 2, 3, 0.666666667},
		},
		{
			Name: "exit_safe", Topic: topicExit, Label: "loses no evidence by an exit",
			Meaning:   "The share of runs that no exit ends before the last evidence chunk; a gate that never says end has 1.",
			Numerator: "runs that stop at the last evidence chunk or later, or never say end", Denominator: evidenceRuns, Failure: "early exits",
			Example: Example{Recorded, "one of 3 runs with evidence says end too early", 2, 3, 0.666666667},
		},
		{
			Name: "exit_premature", Topic: topicExit, Label: "exits too early",
			Meaning:   "The share of runs whose first end comes before the last evidence chunk: 1 − exit_safe.",
			Numerator: "runs whose first end is before the last evidence chunk", Denominator: evidenceRuns, Failure: "early exits",
			Example: Example{Recorded, "one of 3 runs with evidence says end too early", 1, 3, 0.333333333},
		},
		{
			Name: "exit_exact", Topic: topicExit, Label: "exits at the last evidence",
			Meaning:   "The share of runs that stop exactly at the last evidence chunk.",
			Numerator: "runs that stop at the last evidence chunk", Denominator: evidenceRuns, Failure: "exits that are early, late or never",
			Example: Example{Recorded, "one run stops at its last evidence, one a chunk later, one too early", 1, 3, 0.333333333},
		},
		{
			Name: "exit_timely", Topic: topicExit, Label: "exits soon after the evidence",
			Meaning:   "The share of runs that stop at the last evidence chunk or at most 2 chunks later.",
			Numerator: "runs that stop 0 to 2 chunks after the last evidence", Denominator: evidenceRuns, Failure: "exits that are early or more than 2 chunks late",
			Example: Example{Recorded, "one run stops at its last evidence, one a chunk later, one too early", 2, 3, 0.666666667},
		},
		{
			Name: "exit_delay", Topic: topicExit, Label: "chunks read after the last evidence",
			Meaning:   "How many chunks are read after the last evidence, in the runs that do not stop before it.",
			Numerator: "sum of chunks from the last evidence to the stop", Denominator: "runs with evidence that exit safely", Failure: "late exits",
			Example: Example{Recorded, "two safe runs stop 0 and 1 chunks after the last evidence", 1, 2, 0.5},
		},
		{
			Name: "exit_lead", Topic: topicExit, Label: "chunks by which an early exit is early",
			Meaning:   "How many chunks before the last evidence the early exits come.",
			Numerator: "sum of chunks from the first end to the last evidence", Denominator: "runs with evidence that exit early", Failure: "early exits",
			Example: Example{Recorded, "the one early exit is at chunk 3, the last evidence in chunk 5", 2, 1, 2},
		},
		{
			Name: "exit_on_no_evidence", Topic: topicExit, Label: "exits without any evidence",
			Meaning:   "The share of runs over sessions without evidence in which the exit gate said end.",
			Numerator: "runs without evidence that say end", Denominator: "runs whose session holds no evidence", Failure: "exits of runs without evidence",
			Example: Example{Recorded, "the one run without evidence says end at chunk 4", 1, 1, 1},
		},
	}
}

func exitCostEntries() []Entry {
	return []Entry{
		{
			Name: "would_exit", Topic: topicExit, Label: "says end at all",
			Meaning:   "The share of runs in which the exit gate said end.",
			Numerator: "runs that say end", Denominator: "runs",
			Example: Example{Recorded, "all 4 runs say end", 4, 4, 1},
		},
		{
			Name: "turns_saved", Topic: topicExit, Label: "chunks that an exit would save",
			Meaning:   "The mean share of a session that is left unread where the exit gate said end, right or wrong.",
			Numerator: "sum over runs of the share of chunks after the stop", Denominator: "runs", Failure: "late exits",
			Example: Example{Recorded, "2/6 + 1/6 + 3/6 + 2/6 of the sessions are left", 1.333333333, 4, 0.333333333},
		},
		{
			Name: "safe_turns_saved", Topic: topicExit, Label: "chunks saved without loss",
			Meaning:   "The share of chunks that safe exits save.",
			Numerator: "chunks after the stop, in runs with evidence that exit safely", Denominator: "chunks of runs with evidence", Failure: "early or late exits",
			Example: Example{Recorded, "the safe runs leave 2 and 1 of 18 chunks", 3, 18, 0.166666667},
		},
		{
			Name: "exit_instability", Topic: topicExit, Label: "takes an end back",
			Meaning:   "The share of turns after the first end that say continue.",
			Numerator: "parsed turns after the first end that say continue", Denominator: "parsed turns after the first end", Failure: "replies of continue after an end",
			Example: Example{Recorded, "of 8 turns after a first end one says end again", 7, 8, 0.875},
		},
		{
			Name: "evidence_lost", Topic: topicExit, Label: "evidence lost to an exit",
			Meaning:   "The share of evidence chunks that an enforced exit left unread; 0 where exits are recorded only.",
			Numerator: "evidence chunks after an enforced exit", Denominator: "evidence chunks", Failure: "enforced exits that are early",
			Example: Example{Enforced, "one of 2 evidence chunks is not read", 1, 2, 0.5},
		},
	}
}

func memoryEntries() []Entry {
	return []Entry{
		{
			Name: "over_budget", Topic: topicMemory, Label: "candidates over budget",
			Meaning:   "The share of yes whose candidate memory was longer than the budget, so that nothing was written.",
			Numerator: "parsed turns that said yes and were over budget", Denominator: "parsed turns that said yes", Failure: "candidates over budget",
			Example: Example{Recorded, "one of 8 yes was over budget", 1, 8, 0.125},
		},
		{
			Name: "retain_violations", Topic: topicMemory, Label: "memory changed without a write",
			Meaning:   "The turns that should have kept the memory and changed its bytes: an error of the loop, not of the model.",
			Numerator: "turns without a write whose memory changed", Denominator: "turns without a write", Failure: "turns that change a memory that they retain",
			Example: Example{Recorded, "none of 17 turns without a write changed the memory", 0, 17, 0},
		},
		{
			Name: "retain_drift", Topic: topicMemory, Label: "a no with another memory",
			Meaning:   "The share of no that came with a candidate memory and had another text in it than the memory; it is ignored.",
			Numerator: "parsed turns that said no with a candidate that differs", Denominator: "parsed turns that said no with a candidate", Failure: "replies of no with another memory",
			Example: Example{Recorded, "two turns said no with a candidate, one of them with another text", 1, 2, 0.5},
		},
		{
			Name: "memory_slope", Topic: topicMemory, Label: "growth of the memory, tokens a turn",
			Meaning:   "By how many tokens the memory grows with each turn: the least-squares slope of a run of at least 3 turns, averaged per query, then over queries.",
			Numerator: "sum over queries of the mean slope of their runs", Denominator: "queries", Failure: "writes that make the memory longer",
			Example: Example{Recorded, "slopes of the queries port 2.714, host 3.714 and none 2.286", 0, 0, 2.904761905},
		},
	}
}

func trialEntries() []Entry {
	return []Entry{
		{
			Name: "flip_rate", Topic: topicTrials, Label: "update gate changes between trials",
			Meaning:   "The chance that two trials of the same turn differ in their yes or no.",
			Numerator: "sum over turns of 2y(K−y)/(K(K−1)), y of K parsed trials said yes", Denominator: "turns that parsed in 2 trials or more", Failure: "turns whose trials disagree",
			Example: Example{Recorded, "the two trials of port differ in 2 of 5 turns that both parsed", 2, 5, 0.4},
		},
		{
			Name: "exit_flip_rate", Topic: topicTrials, Label: "exit gate changes between trials",
			Meaning:   "The chance that two trials of the same turn differ in their continue or end.",
			Numerator: "sum over turns of 2y(K−y)/(K(K−1)), y of K parsed trials said end", Denominator: "turns that parsed in 2 trials or more", Failure: "turns whose trials disagree",
			Example: Example{Recorded, "the two trials of port differ in 2 of 5 turns that both parsed", 2, 5, 0.4},
		},
		{
			Name: PassK, Topic: topicTrials, Label: "all right in k trials",
			Meaning:   "The chance that k trials of a query all write every evidence chunk and exit not too early.",
			Numerator: "sum over queries and sessions of C(c,k)/C(n,k), c of n trials succeed", Denominator: "queries and sessions with evidence and at least k trials", Failure: "trials that miss evidence or exit early",
			Example: Example{Recorded, "k = 2: one query has two trials, and one of them misses evidence", 0, 1, 0},
		},
	}
}

func rewardEntries() []Entry {
	return []Entry{
		{
			Name: "reward_update", Topic: topicRewards, Label: "reward of the update gate",
			Meaning:   "The paper's training signal of the update gate: +1 for a right turn, −1 for one that is wrong or did not parse.",
			Numerator: "turns that are right", Denominator: allTurns, Failure: "wrong updates",
			Example: Example{Recorded, "19 of 24 turns are right: (19 − 5)/24", 19, 24, 0.583333333},
		},
		{
			Name: "reward_exit", Topic: topicRewards, Label: "reward of the exit gate",
			Meaning:   "The paper's training signal of the exit gate: −0.75 for an early exit, 0 for one at the last evidence, −0.5 for a late one.",
			Numerator: "sum over runs of (reward + 0.75)/0.75", Denominator: evidenceRuns, Failure: "early or late exits",
			Example: Example{Recorded, "rewards of 0, −0.5 and −0.75", 1.333333333, 3, -0.416666667},
		},
		{
			Name: "reward_format", Topic: topicRewards, Label: "runs readable throughout",
			Meaning:   "The paper's training signal of the format: the share of runs whose every turn parsed at the first try.",
			Numerator: "runs whose every turn parsed at attempt 1", Denominator: "runs", Failure: "first replies that cannot be parsed",
			Example: Example{Recorded, "one of 4 runs has replies that did not parse", 3, 4, 0.75},
		},
	}
}

func answerEntries() []Entry {
	return []Entry{
		{
			Name: "sub_em", Topic: topicAnswers, Label: "answers hold the reference",
			Meaning:   "The share of answers that hold a reference, case, punctuation and articles aside; where all references belong to the answer, the share of them that it holds; of a question that has no answer, those that say so.",
			Numerator: "sum of the shares held", Denominator: answeredRuns, Failure: "answers without the reference",
			Example: Example{Answers, "two of 3 answers hold 6380", 2, 3, 0.666666667},
		},
		{
			Name: "answer_em", Topic: topicAnswers, Label: "answers are the reference",
			Meaning:   "The share of answers that are a reference and nothing else, normalised as for sub_em.",
			Numerator: "answers that are a reference", Denominator: answeredRuns, Failure: "answers that are not just the reference",
			Example: Example{Answers, "one of 3 answers is 6380", 1, 3, 0.333333333},
		},
		{
			Name: "answer_f1", Topic: topicAnswers, Label: "words shared with the reference",
			Meaning:   "The mean F1 of the answer's words and those of the reference that fits best.",
			Numerator: "sum of F1", Denominator: answeredRuns, Failure: "words that the reference does not have",
			Example: Example{Answers, "1, then 1 of 4 words (F1 0.4), then 0", 1.4, 3, 0.466666667},
		},
	}
}
