// Command second-kernel tries the sandbox on other kernels than this machine's: on kernels of Debian and Ubuntu, each in a virtual machine without a
// network. It needs Debian, and installs QEMU if that is absent. Without KVM a kernel takes some minutes.
//
//	go run ./scripts/second-kernel            # all kernels; fails where docs/proofs/escapes.md says something else
//	go run ./scripts/second-kernel -write     # writes the part of the page
//	go run ./scripts/second-kernel -only 6.1  # one kernel, and only prints
//
// In the machine this same program is the first process (guest_linux.go).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// kernel is a kernel that is tried.
type kernel struct {
	name  string
	suite string // of Debian or Ubuntu, the newest kernel of which for virtual machines is taken
	asked bool   // only capabilities is asked, in every state; no attacks are tried
}

// kernels returns the kernels: one that is too old for the sandbox, the oldest long-term one that Debian has beside it and is not, the
// newest, and one of Ubuntu, for a setting of AppArmor that only its kernels have.
func kernels() []kernel {
	return []kernel{{"6.1", "bookworm-security", false}, {"6.12", "bookworm-backports", false}, {"newest", "trixie-backports", false},
		{"ubuntu", ubuntuSuite, true}}
}

func main() {
	if os.Getpid() == 1 {
		guestMain()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == guestArgument {
		os.Exit(work())
	}
	write := flag.Bool("write", false, "write what was found into "+page)
	only := flag.String("only", "", "try only this kernel, and print what it says: 6.1, 6.12, newest, ubuntu")
	quick := flag.Bool("quick", false, "ask capabilities only, try no attacks, and only print")
	cache := flag.String("cache", ".cache/second-kernel", "where the kernels are kept")
	flag.Parse()
	if err := run(context.Background(), *cache, *only, *quick, *write); err != nil {
		fmt.Fprintln(os.Stderr, "second-kernel:", err)
		os.Exit(1)
	}
}

// run tries the kernels, and writes the page or compares with it.
func run(ctx context.Context, cache, only string, quick, write bool) error {
	dir, err := os.MkdirTemp("", "second-kernel-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if cache, err = filepath.Abs(cache); err != nil {
		return err
	}
	emulator, err := fetchQEMU(ctx, cache)
	if err != nil {
		return err
	}
	programs, err := build(ctx, cache)
	if err != nil {
		return err
	}
	var found []*machine
	for _, k := range kernels() {
		if only != "" && only != k.name {
			continue
		}
		began := time.Now()
		asked := quick || k.asked
		m, err := try(ctx, emulator, k, cache, dir, programs, asked)
		if err != nil {
			return fmt.Errorf("kernel %s of %s: %w", k.name, k.suite, err)
		}
		if err := m.whole(!asked); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "second-kernel: %s in %s\n", m.Release, time.Since(began).Round(time.Second))
		found = append(found, m)
	}
	if len(found) == 0 {
		return errors.New("there is no such kernel: 6.1, 6.12, newest, ubuntu")
	}
	return publish(found, quick || only != "", write)
}

// try boots a kernel, and returns what the guest says.
func try(ctx context.Context, emulator []string, k kernel, cache, dir string, programs []file, quick bool) (*machine, error) {
	image, modules, err := fetchKernel(ctx, k, cache)
	if err != nil {
		return nil, err
	}
	initrd := filepath.Join(dir, "initrd-"+k.name)
	if err := writeArchive(initrd, append(modules, programs...)); err != nil {
		return nil, err
	}
	log := filepath.Join(cache, "console-"+k.name)
	words := ""
	if quick {
		words = noAttacks
	}
	m, err := boot(ctx, emulator, image, initrd, log, words)
	if err != nil || strings.HasPrefix(m.Release, "6.1.") {
		return m, err
	}
	// The same kernel without Landlock among its security modules.
	without, err := boot(ctx, emulator, image, initrd, log+"-lsm", "lsm=yama,apparmor "+onlyLook)
	if err != nil {
		return nil, err
	}
	m.Verdicts = append(m.Verdicts, without.Verdicts...)
	return m, nil
}
