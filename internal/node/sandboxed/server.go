package sandboxed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/backend"
	"mycelium/internal/config/profiles"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/proxy"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// serverName is the command with which the keeper starts this program for a server in the sandbox; the name of the server's program
// follows, for people who list processes. commandVar has the [sandbox.Command] as JSON: a variable, because other users of the machine see
// arguments, and the environment of a server may have secrets.
const (
	serverName = "sandbox-server"
	commandVar = "MYCELIUM_SANDBOX_COMMAND"
)

// Confine returns how servers of a project are started in the sandbox.
func Confine(find Find, folder string, paths state.Paths, home string) backend.Confine {
	return func(s backend.Confined) (argv, env []string, err error) {
		self, err := os.Executable()
		if err != nil {
			return nil, nil, fmt.Errorf("find this program: %w", err)
		}
		c, err := serverCommand(find, folder, paths, home, s)
		if err != nil {
			return nil, nil, err
		}
		data, err := json.Marshal(handed{*c, c.Masks})
		if err != nil {
			return nil, nil, fmt.Errorf("hand over the command: %w", err)
		}
		return []string{self, serverName, filepath.Base(s.Argv[0])}, []string{commandVar + "=" + string(data)}, nil
	}
}

// serverCommand is the command of the sandbox that runs a server. The server lives as long as it is needed, whatever time the profile gives
// to a command.
func serverCommand(find Find, folder string, paths state.Paths, home string, s backend.Confined) (*sandbox.Command, error) {
	p, err := wallsOf(find, s)
	if err != nil {
		return nil, err
	}
	p.Seconds = 0
	c, err := Command(folder, paths, home, s.Env)
	if err != nil {
		return nil, err
	}
	c.Argv, c.Profile, c.Grace = s.Argv, p, s.Grace.Seconds()
	if c.Dir, err = filepath.EvalSymlinks(s.Dir); err != nil {
		return nil, fmt.Errorf("its folder: %w", err)
	}
	if !c.Shows(c.Dir) {
		return nil, text.Hinted(fmt.Errorf("its folder %s is not in the sandbox", c.Dir), "leave cwd out, or name a folder of the project")
	}
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		if !slices.Contains(s.Own, name) {
			continue
		}
		c.Env = append(c.Env, v)
		if hosts := p.Masks[name]; len(hosts) > 0 {
			c.Masks = append(c.Masks, proxy.Mask{Name: name, Value: value, Hosts: hosts})
		}
	}
	for name := range p.Masks {
		if !slices.Contains(s.Own, name) {
			return nil, text.Hinted(fmt.Errorf("its profile %s masks %s, and its env does not set it", p.Name, name),
				"write env: {"+name+": \"${secret:"+name+"}\"}")
		}
	}
	if !c.Shows(c.Argv[0]) { // the program is what a person accepted, wherever it lies
		program, err := filepath.EvalSymlinks(c.Argv[0])
		if err != nil {
			return nil, fmt.Errorf("its program: %w", err)
		}
		c.Argv = append([]string{program}, c.Argv[1:]...)
		c.Read = append(c.Read, program)
	}
	return &c, nil
}

// wallsOf is the profile with which a server runs: as it was when the entry was read, or that of now for an entry that is only tried.
func wallsOf(find Find, s backend.Confined) (sandbox.Profile, error) {
	if s.Walls != "" {
		return profiles.ReadWalls(s.Walls)
	}
	p, ok := find(s.Profile)
	if !ok {
		return p, text.Hinted(fmt.Errorf("there is no profile %q of the sandbox", s.Profile), "myc sandbox profiles lists them")
	}
	return p, nil
}

// handed is what the program that runs a server is given: the command, and the secrets that it has only while it runs.
type handed struct {
	sandbox.Command
	Secrets []proxy.Mask
}

// IsServer reports whether arguments are those of a server in the sandbox.
func IsServer(args []string) bool { return len(args) == 2 && args[0] == serverName }

// Serve runs a server in the sandbox on the standard streams, until it ends or the context does. It returns its exit code.
func Serve(ctx context.Context) int {
	c, err := given()
	var result *sandbox.Result
	if err == nil {
		var self jail.Self
		if self, err = Self(); err == nil {
			result, err = sandbox.Run(ctx, self, c)
		}
	}
	if result != nil {
		for _, path := range result.Left.Quarantined {
			fmt.Fprintf(os.Stderr, "myc: the server made %s, which would govern agents: it is in %s now\n", path, c.Quarantine)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "myc: "+text.Describe(err))
		return 1
	}
	return result.ExitCode
}

// given is the command that this process was started with.
func given() (*sandbox.Command, error) {
	data := os.Getenv(commandVar)
	if data == "" {
		return nil, errors.New("no server to run (this command is started by Mycelium, not by people)")
	}
	var h handed
	if err := json.Unmarshal([]byte(data), &h); err != nil {
		return nil, fmt.Errorf("read what to run: %w", err)
	}
	c := h.Command
	c.Masks = h.Secrets
	c.In, c.Out, c.Err = os.Stdin, os.Stdout, os.Stderr
	return &c, nil
}
