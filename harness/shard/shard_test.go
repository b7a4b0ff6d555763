package shard_test

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/shard"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]shard.Shard{"1/1": {1, 1}, "3/7": {3, 7}, "7/7": {7, 7}, "100000/100000": {100000, 100000}} {
		if got, err := shard.Parse(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: found %v, %v, want %v", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"0/4":      "found shard 0 of 4: shards are counted from 1, want 1/4 to 4/4",
		"5/4":      "found shard 5 of 4, want 1/4 to 4/4",
		"-1/4":     "found shard -1 of 4, want 1/4 to 4/4",
		"1/0":      "found 0 shards, want 1 to 100000",
		"1/100001": "found 100001 shards, want 1 to 100000",
		"x":        `found "x", want I/N, such as 3/7 for the third of seven shards, or auto`,
		"3":        "want I/N",
		"3/":       "want I/N",
		"":         "want I/N",
		"1/2/3":    "want I/N",
	} {
		if got, err := shard.Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: found %v, error %v, want %q", text, got, err, says)
		}
	}
}

// TestAuto reads the variables of one engine, and refuses what does not say which shard it is.
func TestAuto(t *testing.T) {
	for _, test := range []struct{ env, want, says string }{
		{env: "CI_NODE_INDEX=3 CI_NODE_TOTAL=7", want: "3/7"},
		{env: "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=8", want: "1/8"},
		{env: "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=8", want: "1/8"},
		{env: "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=8", want: "8/8"},
		{env: "JOB_COMPLETION_INDEX=0 MEM_SHARD_COUNT=8", want: "1/8"},
		{env: "JOB_COMPLETION_INDEX=7 MEM_SHARD_COUNT=8", want: "8/8"},
		{env: "CI_NODE_TOTAL=1", says: "found none of CI_NODE_INDEX (GitLab CI)"},
		{env: "", says: "${{ matrix.shard }}/${{ strategy.job-total }}"},
		{env: "CI_NODE_INDEX=3", says: "GitLab CI: CI_NODE_TOTAL is not set: want parallel: N in the job"},
		{env: "CI_NODE_INDEX=x CI_NODE_TOTAL=7", says: `CI_NODE_INDEX is "x", want a number`},
		{env: "CI_NODE_INDEX=8 CI_NODE_TOTAL=7", says: "found shard 8 of 7"},
		{env: "JOB_COMPLETION_INDEX=0", says: "MEM_SHARD_COUNT is not set: want it in the container's env"},
		{env: "JOB_COMPLETION_INDEX=8 MEM_SHARD_COUNT=8", says: "found shard 9 of 8"},
		{env: "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1", says: "scontrol requeue or say I/N"},
		{env: "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=5 SLURM_ARRAY_TASK_COUNT=3", says: "found tasks 1 to 5, 3 of them"},
		{env: "SLURM_ARRAY_TASK_ID=3", says: "SLURM_ARRAY_TASK_MIN is not set: want sbatch --array=1-N"},
		{env: "CI_NODE_INDEX=3 CI_NODE_TOTAL=7 JOB_COMPLETION_INDEX=0 MEM_SHARD_COUNT=8",
			says: "found CI_NODE_INDEX (GitLab CI) and JOB_COMPLETION_INDEX (a Kubernetes Indexed Job), want the variable of one engine: say I/N"},
	} {
		env := map[string]string{}
		for _, setting := range strings.Fields(test.env) {
			name, value, _ := strings.Cut(setting, "=")
			env[name] = value
		}
		got, err := shard.Auto(func(name string) (string, bool) { value, set := env[name]; return value, set })
		switch {
		case test.says == "" && (err != nil || got.String() != test.want):
			t.Errorf("%s: found %s, %v, want %s", test.env, &got, err, test.want)
		case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
			t.Errorf("%s: found %s, error %v, want %q", test.env, &got, err, test.says)
		}
	}
}

// TestEngineIsReadOnlyWhenAsked: I/N means the same whatever the environment says.
func TestEngineIsReadOnlyWhenAsked(t *testing.T) {
	t.Setenv("CI_NODE_INDEX", "2")
	t.Setenv("CI_NODE_TOTAL", "5")
	var s shard.Shard
	if s.Given() {
		t.Error("a process is a shard unasked")
	}
	if err := s.Set("3/7"); err != nil || s.String() != "3/7" {
		t.Errorf("3/7: found %s, %v", &s, err)
	}
	if err := s.Set("auto"); err != nil || s.String() != "2/5" {
		t.Errorf("auto: found %s, %v, want 2/5", &s, err)
	}
}

func TestPart(t *testing.T) {
	for _, whole := range []int{0, 1, 7, 8, 100} {
		sum, last := 0, whole
		for i := 1; i <= 7; i++ {
			part := shard.Part(whole, i, 7)
			if part > last || part < whole/7 || part > whole/7+1 {
				t.Errorf("part %d of 7 of %d is %d", i, whole, part)
			}
			sum, last = sum+part, part
		}
		if sum != whole {
			t.Errorf("parts of %d are %d together", whole, sum)
		}
	}
}
