package chains

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/go-json-experiment/json"

	"mycelium/test/scratch"
)

// Each chain has a world of its own (package scratch). This very test program plays it: [firstProcess] makes it, and [worker] has no
// privilege any more and does the job.

// The folders of every world.
const (
	home       = scratch.Home
	projectDir = home + "/shop"
	binDir     = home + "/go/bin"
	runDir     = scratch.RunDir
)

const (
	stageVar   = "CHAINS_STAGE"
	firstStage = "first"
	workStage  = "work"

	programsVar = "CHAINS_PROGRAMS" // the folder with our programs, outside
	snapshotFD  = 3                 // the tar file of the home, in the worker
)

// world is a running world, from outside. It does one job after the other.
type world struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer
}

// newWorld starts a world with a prepared home: an empty one where the tar file is empty.
func newWorld(ctx context.Context, snapshot, programs string) (*world, error) {
	w := &world{cmd: exec.CommandContext(ctx, "/proc/self/exe")} // not by its name: the world's user may not enter every folder above it
	w.cmd.Stderr = &w.said
	w.cmd.Env = []string{stageVar + "=" + firstStage, programsVar + "=" + programs, "GORACE=" + os.Getenv("GORACE")}
	f, err := os.Open(snapshot)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w.cmd.ExtraFiles = []*os.File{f}
	w.cmd.SysProcAttr = scratch.Attr()
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	return w, w.cmd.Start()
}

// does gives the world a job, one line of JSON, and returns its answer, another line.
func (w *world) does(j job) ([]byte, error) {
	line, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		return nil, errors.Join(err, w.end())
	}
	answer, err := w.out.ReadBytes('\n')
	if err != nil {
		return nil, errors.Join(err, w.end())
	}
	return answer, nil
}

// end ends the world and everything in it.
func (w *world) end() error {
	_ = w.in.Close()
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("the world ended: %w: %s", err, w.said.Bytes())
	}
	return nil
}

// stage plays the part that the environment names.
func stage(name string) error {
	if name == firstStage {
		return firstProcess()
	}
	return worker(os.Stdin, os.Stdout)
}

// firstProcess makes the world and starts the worker.
func firstProcess() error {
	if err := scratch.Make(os.Getenv(programsVar), binDir); err != nil {
		return fmt.Errorf("make a world: %w", err)
	}
	return scratch.Work("chains", []string{stageVar + "=" + workStage, "GORACE=" + os.Getenv("GORACE")}, []uintptr{0, 1, 2, snapshotFD})
}

// worker does one job after the other and writes what came of each.
func worker(in io.Reader, out io.Writer) error {
	m, err := newMachine()
	if err != nil {
		return err
	}
	jobs := bufio.NewReader(in)
	for {
		line, err := jobs.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var j job
		if err := json.Unmarshal(line, &j); err != nil {
			return err
		}
		answer, err := m.does(j)
		if err != nil {
			return err
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
}
