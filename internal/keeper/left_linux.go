package keeper

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A keeper that is killed cannot end what it keeps. The kernel kills its children with it; what these started lives on if it left their
// process groups, or if the owner was killed too. It is found again by three marks: the id of the keeper in its environment, which only
// processes of this keeper have got; the keeper's cgroup, where one could be made; and a note on disk of id and cgroup.

// record is the note of one keeper. Its file is locked as long as the keeper or its owner runs.
type record struct {
	id     string   // random, so that no other process has it by accident
	cgroup string   // path of the folder; empty: there is none
	file   *os.File // empty but for the path of the cgroup; nil: there is no file
}

// locking calls f while no other process makes, reads or removes records in a folder.
func locking(dir string, f func() error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // gives the lock back
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	return f()
}

// newRecord makes the record of a keeper that is about to start. Without a folder it has no file.
func newRecord(dir string) (*record, error) {
	r := &record{id: rand.Text()}
	if dir == "" {
		return r, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	err := locking(dir, func() (err error) {
		r.file, err = os.OpenFile(filepath.Join(dir, r.id), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			err = unix.Flock(int(r.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		if err == nil {
			r.cgroup = newCgroup(r.id)
			_, err = r.file.WriteString(r.cgroup)
		}
		return err
	})
	if err != nil {
		r.remove()
		return nil, fmt.Errorf("note the keeper: %w", err)
	}
	return r, nil
}

// remove removes the record of a keeper that has left nothing behind.
func (r *record) remove() {
	r.removeCgroup()
	if r.file != nil {
		_ = os.Remove(r.file.Name())
		_ = r.file.Close()
	}
}

// killWithin is how long killed processes may take to be gone. They take milliseconds, unless they wait for a device.
const killWithin = 5 * time.Second

// end kills everything that carries the id of a keeper that is dead, and what is in its cgroup. It reports whether all of it is gone.
func (r *record) end(logger *slog.Logger) bool {
	if r.cgroup != "" {
		_ = os.WriteFile(filepath.Join(r.cgroup, "cgroup.kill"), []byte("1"), 0)
	}
	killed := map[int]bool{}
	for deadline := time.Now().Add(killWithin); ; time.Sleep(sweepEvery) {
		left := r.processes()
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			logger.Error("processes that a killed keeper left behind do not end", "pids", left)
			return false
		}
		for _, pid := range left {
			killed[pid] = r.kill(pid) || killed[pid]
		}
	}
	if len(killed) > 0 {
		logger.Warn("a killed keeper left processes behind: killed them", "processes", len(killed))
	}
	return true
}

// processes are the processes of this user that carry the id, except this one.
func (r *record) processes() (found []int) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		var st unix.Stat_t
		if err == nil && pid != os.Getpid() && unix.Lstat(name, &st) == nil && int(st.Uid) == os.Geteuid() && r.has(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// has reports whether a process carries the id.
func (r *record) has(pid int) bool { return strings.HasPrefix(markOf(pid), r.id+".") }

// kill kills a process that carries the id. The number may belong to another process by now, so the mark is read again once the process
// is held.
func (r *record) kill(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	return r.has(pid) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// settle is how long EndLeft waits for keepers that are still about to end what they keep.
const settle = 5 * time.Second

// EndLeft ends what keepers with their notes in dir have left behind: keepers that were killed, as was their owner. A keeper that runs, or
// whose owner does, is let alone. It returns when everything is gone, or with ctx.
func EndLeft(ctx context.Context, dir string, logger *slog.Logger) error {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) || len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for what keepers left behind: %w", err)
	}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(settle); len(entries) > 0 && time.Now().Before(deadline); {
		rest := entries[:0]
		for _, e := range entries {
			if !endOne(dir, e.Name(), logger) {
				rest = append(rest, e)
			}
		}
		if entries = rest; len(entries) == 0 {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// endOne ends what one keeper has left behind. It reports false if the keeper or its owner runs.
func endOne(dir, id string, logger *slog.Logger) (dead bool) {
	r := &record{id: id}
	err := locking(dir, func() (err error) {
		if r.file, err = os.OpenFile(filepath.Join(dir, id), os.O_RDWR, 0); err == nil {
			err = unix.Flock(int(r.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		return err
	})
	switch {
	case os.IsNotExist(err): // its owner has removed it
		return true
	case err != nil:
		if r.file != nil {
			_ = r.file.Close()
		}
		return false
	}
	if cgroup, err := os.ReadFile(r.file.Name()); err == nil && filepath.Base(string(cgroup)) == cgroupName(id) {
		r.cgroup = string(cgroup)
	}
	if r.end(logger) {
		r.remove()
	} else {
		_ = r.file.Close() // for the next start
	}
	return true
}

// cgroupName is the name of a keeper's cgroup.
func cgroupName(id string) string { return "myc-" + id }

// newCgroup makes a cgroup for a keeper and everything below it, and returns its folder. It is empty where none may be made: without
// cgroups of version 2, where another program manages them, or before Linux 5.14, which cannot kill one.
func newCgroup(id string) string {
	own := ownCgroup()
	if own == "" {
		return ""
	}
	dir := filepath.Join(own, cgroupName(id))
	if os.Mkdir(dir, 0o700) != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
		_ = os.Remove(dir)
		return ""
	}
	return dir
}

// removeCgroup removes the cgroup if there is no process in it. Without one it does nothing.
func (r *record) removeCgroup() {
	if r.cgroup == "" {
		return
	}
	for range 50 { // a process that was killed leaves its cgroup a moment later
		if err := os.Remove(r.cgroup); err == nil || os.IsNotExist(err) {
			break
		}
		time.Sleep(sweepEvery)
	}
	r.cgroup = ""
}

// ownCgroup is the folder of the cgroup of this process; empty if it is not known.
func ownCgroup() string {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	mount := ""
	for line := range strings.Lines(string(mounts)) { // ID PARENT DEVICE ROOT PLACE OPTIONS … - TYPE …
		fields := strings.Fields(line)
		if _, kind, ok := strings.Cut(line, " - "); ok && strings.HasPrefix(kind, "cgroup2 ") && fields[3] == "/" {
			mount = fields[4]
			break
		}
	}
	paths, err := os.ReadFile("/proc/self/cgroup")
	if err != nil || mount == "" {
		return ""
	}
	for line := range bytes.Lines(paths) {
		if path, ok := bytes.CutPrefix(line, []byte("0::/")); ok {
			return filepath.Join(mount, strings.TrimSuffix(string(path), "\n"))
		}
	}
	return ""
}
