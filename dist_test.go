package mem_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDistIsReproducible builds one target in two folders: the binaries are the same bytes,
// need no library, and know their version.
func TestDistIsReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	if runtime.GOOS != "linux" {
		t.Skip("looks into an ELF file")
	}
	target := runtime.GOOS + "/" + runtime.GOARCH
	name := "mem_v1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH
	first, second := dist(t, target), dist(t, target)
	sums := text(t, filepath.Join(first, "SHA256SUMS"))
	if diff := cmp.Diff(sums, text(t, filepath.Join(second, "SHA256SUMS"))); diff != "" || !strings.HasSuffix(sums, "  "+name+"\n") {
		t.Errorf("checksums (-first +second):\n%s%s", sums, diff)
	}
	bin := filepath.Join(first, name)
	if info, err := os.Stat(bin); err != nil || info.Size() >= 20_000_000 {
		t.Errorf("%v, the binary has %d bytes: want less than 20 MB", err, info.Size())
	}
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary is not static: it names a loader")
		}
	}
	out, err := exec.Command(bin, "--version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "mem version v1.2.3, built with go") {
		t.Errorf("%v, version is %q", err, out)
	}
	if strings.Contains(text(t, bin), filepath.Dir(first)+"/") {
		t.Error("the binary names the folder that it was built in")
	}
}

// dist makes the target in a copy of the checkout and returns the folder of binaries.
func dist(t *testing.T, target string) string {
	t.Helper()
	dir := checkout(t)
	cmd := exec.Command("make", "dist", "TARGETS="+target, "VERSION=v1.2.3")
	cmd.Dir, cmd.Env = dir, withoutCI(os.Environ())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "dist")
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
