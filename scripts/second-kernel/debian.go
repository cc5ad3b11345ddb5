package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// command runs a program and returns what it prints.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the arguments are ours
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, errs.Bytes())
	}
	return out, nil
}

// archive is a suite of Debian with lists of its own, so that the machine's sources stay what they are.
type archive struct{ dir, suite string }

func (a archive) options() []string {
	return []string{"-o", "Dir::Etc::sourcelist=" + a.dir + "/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
		"-o", "Dir::State::lists=" + a.dir + "/lists", "-o", "Dir::Cache=" + a.dir + "/cache", "-o", "APT::Sandbox::User=root",
		"-o", "APT::Architecture=amd64", "-o", "APT::Default-Release="}
}

// openArchive fetches the list of packages of a suite.
func openArchive(ctx context.Context, cache, suite string) (archive, error) {
	a := archive{filepath.Join(cache, suite), suite}
	for _, name := range []string{"lists/partial", "cache/archives/partial", "debs"} {
		if err := os.MkdirAll(filepath.Join(a.dir, name), 0o755); err != nil { //nolint:gosec // public packages
			return a, err
		}
	}
	host, keys := "http://deb.debian.org/debian", "/usr/share/keyrings/debian-archive-keyring.gpg"
	switch {
	case strings.HasSuffix(suite, "-security"):
		host += "-security"
	case suite == ubuntuSuite:
		var err error
		if host, keys, err = ubuntuKeys(ctx, a.dir); err != nil {
			return a, err
		}
	}
	line := "deb [signed-by=" + keys + "] " + host + " " + suite + " main\n"
	if err := os.WriteFile(filepath.Join(a.dir, "sources.list"), []byte(line), 0o644); err != nil { //nolint:gosec // as above
		return a, err
	}
	_, err := command(ctx, "", "apt-get", append(a.options(), "update", "-qq")...)
	return a, err
}

// ubuntuSuite is the release of Ubuntu whose kernel is asked: the first long-term one that has AppArmor's setting against user namespaces
// switched on.
const ubuntuSuite = "noble-updates"

// ubuntuKeys fetches the keys of Ubuntu's archive, which Debian does not have, over TLS.
func ubuntuKeys(ctx context.Context, dir string) (host, keys string, err error) {
	const of = "https://archive.ubuntu.com/ubuntu"
	deb, root := filepath.Join(dir, "keys.deb"), filepath.Join(dir, "keys")
	if _, err := os.Stat(deb); err != nil {
		if _, err := command(ctx, "", "curl", "-sSf", "-o", deb, of+"/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb"); err != nil {
			return "", "", err
		}
	}
	_, err = command(ctx, "", "dpkg-deb", "-x", deb, root)
	return of, filepath.Join(root, "usr/share/keyrings/ubuntu-archive-keyring.gpg"), err
}

// fetch downloads packages that are not in the cache, and unpacks them into a folder of their own. It returns that folder.
func (a archive) fetch(ctx context.Context, packages ...string) (string, error) {
	uris, err := command(ctx, a.dir, "apt-get", append(append(a.options(), "download", "--print-uris", "-qq"), packages...)...)
	if err != nil {
		return "", err
	}
	root := filepath.Join(a.dir, "root-"+packages[0])
	if err := os.RemoveAll(root); err != nil {
		return "", err
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(uris)), "\n") {
		fields := strings.Fields(line) // 'URI' name size digest
		if len(fields) < 2 {
			return "", fmt.Errorf("apt-get download --print-uris says %q", line)
		}
		deb := filepath.Join(a.dir, "debs", fields[1])
		if _, err := os.Stat(deb); err != nil {
			name, _, _ := strings.Cut(fields[1], "_") // the order is apt's
			if _, err := command(ctx, filepath.Dir(deb), "apt-get", append(a.options(), "download", "-qq", name)...); err != nil {
				return "", err
			}
		}
		if _, err := command(ctx, "", "dpkg-deb", "-x", deb, root); err != nil {
			return "", err
		}
	}
	return root, nil
}

// fetchQEMU returns how QEMU is started. It is unpacked from packages, as it is not for this machine: the QEMU of bookworm (7.2) computes
// wrong flags for kernels from 6.12 on, which then end in faults. Its libraries are those of the machine's own package, which is installed
// if it is absent.
func fetchQEMU(ctx context.Context, cache string) ([]string, error) {
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		fmt.Fprintln(os.Stderr, "second-kernel: apt-get install qemu-system-x86")
		if _, err := command(ctx, "", "apt-get", "install", "-y", "-qq", "--no-install-recommends", "qemu-system-x86"); err != nil {
			return nil, err
		}
	}
	a, err := openArchive(ctx, cache, "bookworm-backports")
	if err != nil {
		return nil, err
	}
	root, err := a.fetch(ctx, "qemu-system-x86", "qemu-system-data", "seabios")
	share := filepath.Join(root, "usr", "share")
	return []string{filepath.Join(root, "usr/bin/qemu-system-x86_64"), "-L", filepath.Join(share, "qemu"),
		"-L", filepath.Join(share, "seabios")}, err
}

// kernelPackages returns the packages of the newest kernel of the suite for virtual machines: the image, and where they are packages of their own the binary and the
// modules.
func (a archive) kernelPackages(ctx context.Context) ([]string, error) {
	meta := "linux-image-cloud-amd64"
	if a.suite == ubuntuSuite {
		meta = "linux-image-virtual"
	}
	next, all := []string{meta}, []string{}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		out, err := command(ctx, "", "apt-cache", append(a.options(), "depends", "--no-recommends", "--no-suggests", "--no-breaks",
			"--no-conflicts", "--no-replaces", name)...)
		if err != nil {
			return nil, err
		}
		for _, word := range strings.Fields(string(out)) {
			part := strings.HasPrefix(word, "linux-image-") || strings.HasPrefix(word, "linux-binary-") || strings.HasPrefix(word, "linux-modules-")
			if part && word != name && word != "linux-modules-cloud-amd64" && !slices.Contains(all, word) {
				all, next = append(all, word), append(next, word)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no package %s", a.suite, meta)
	}
	return all, nil
}

// fetchKernel returns the image of a kernel, and the modules that the attacks need: the sockets to the hypervisor.
func fetchKernel(ctx context.Context, k kernel, cache string) (image string, modules []file, err error) {
	a, err := openArchive(ctx, cache, k.suite)
	if err != nil {
		return "", nil, err
	}
	packages, err := a.kernelPackages(ctx)
	if err != nil {
		return "", nil, err
	}
	root, err := a.fetch(ctx, packages...)
	if err != nil {
		return "", nil, err
	}
	// Where they lie changes from one release of Debian to the next.
	var images, found []string
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil || !d.Type().IsRegular():
		case strings.HasPrefix(name, "vmlinuz"):
			images = append(images, path)
		case name == "vsock.ko", name == "vsock.ko.xz", name == "vsock.ko.zst":
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
	if len(images) != 1 || len(found) != 1 {
		return "", nil, fmt.Errorf("%v: one kernel and one module vsock were expected: %v %v", packages, images, found)
	}
	for ending, program := range map[string]string{".xz": "xz", ".zst": "zstd"} {
		if plain, ok := strings.CutSuffix(found[0], ending); ok {
			if _, err := command(ctx, "", program, "-d", "-f", found[0]); err != nil {
				return "", nil, err
			}
			found[0] = plain
		}
	}
	return images[0], []file{{path: "vsock.ko", from: found[0], mode: 0o644}}, nil
}
