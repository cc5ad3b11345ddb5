package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/audit/index"
	"mycelium/internal/hook/install"
	"mycelium/internal/model/fake"
)

// proveWithin bounds a proof, which takes about two seconds on an idle machine.
const proveWithin = 2 * time.Minute

// UnprovedError means that an agent is not governed where it was to work.
type UnprovedError struct{ Why string }

func (e *UnprovedError) Error() string {
	return "nothing was asked of it, because it is not proved that the policy governs it: " + e.Why +
		"; myc hook check claude says more, and myc doctor what may switch the hook off"
}

// Prove starts the program once in the folder and the environment in which it is to work, with a scripted model that asks for a command
// which every policy denies, and looks whether the gateway was connected and the hook's denial is in the log of the session. Nothing
// reaches a model. The error is an *UnprovedError, or says why nothing was found out.
func (l *Launch) Prove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, proveWithin)
	defer cancel()
	model := fake.New()
	defer model.Close()
	file := filepath.Join(l.files, "proof")                              // in the state, where no agent may write
	tool, input := l.agent.Shell("touch " + file + "; echo proof-r''an") // behind the light wall nothing writes the file
	model.Play(fake.Step{ToolUses: []fake.ToolUse{{Name: tool, Input: input}}}, fake.Step{Text: "done"})
	log, err := l.app.begin(l.Session.ID)
	if err != nil {
		return err
	}
	out, err := l.rehearse(ctx, model.URL())
	if err != nil {
		return err
	}
	if len(model.Turns()) == 0 {
		return fmt.Errorf("%s did not ask the scripted model of the proof:%s", l.agent.Title, tail(string(out)))
	}
	_, missing := os.Lstat(file)
	_ = os.Remove(file)
	if missing == nil || strings.Contains(told(model.Turns()), "proof-ran") {
		return &UnprovedError{"it ran a command that was denied"}
	}
	if status := gatewayOf(out); status != "connected" {
		return &UnprovedError{"the gateway is not connected to it: " + status}
	}
	if !l.Hands { // it has no tools of its own, so that there is nothing for a hook
		return nil
	}
	t, err := index.TallyOf(ctx, log.log, log.from, l.Session.ID)
	if err == nil && t.Denied == 0 {
		err = &UnprovedError{"the hook was not asked about a command"}
	}
	return err
}

// rehearse runs the program with a scripted model, and returns what it prints.
func (l *Launch) rehearse(ctx context.Context, url string) ([]byte, error) {
	settings, err := l.scripted(url)
	if err != nil {
		return nil, fmt.Errorf("write the settings of the proof: %w", err)
	}
	options := slices.Clone(l.Options)
	for i, o := range options {
		if o == filepath.Join(l.files, settingsName) {
			options[i] = settings
		}
	}
	args := []string{"-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence", "--max-turns", "2"}
	if tool, _ := l.agent.Shell(""); l.Hands {
		args = append(args, "--tools", tool, "--allowedTools", tool)
	} else {
		args = append(args, "--tools", "")
	}
	cmd := exec.Command(l.program, slices.Concat(options, args, []string{"--", "Do what the script says."})...) //nolint:noctx,gosec // see begin
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = l.Dir, &out, &out, 5*time.Second
	cmd.Env = slices.Concat(l.Environ, []string{"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"})
	for name, value := range modelOf(url) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	runtime.LockOSThread() // the program dies with the thread that starts it
	defer runtime.UnlockOSThread()
	if err = l.begin(cmd); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	if err = cmd.Wait(); ctx.Err() != nil {
		return nil, fmt.Errorf("%s did not end within %s", l.agent.Title, proveWithin)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("run %s: %w", l.program, err)
	}
	return out.Bytes(), nil
}

// The files of a run with the agent's settings and its MCP servers.
const (
	settingsName = "settings.json"
	mcpName      = "mcp.json"
)

// scripted writes the settings of the run with the address of a scripted model in them, so that no other file names another one.
func (l *Launch) scripted(url string) (file string, err error) {
	b, err := os.ReadFile(filepath.Join(l.files, settingsName))
	if err != nil {
		return "", err
	}
	var settings map[string]any
	if err := json.Unmarshal(b, &settings); err != nil {
		return "", err
	}
	env, _ := settings["env"].(map[string]any)
	if env == nil {
		env = map[string]any{}
	}
	for name, value := range modelOf(url) {
		env[name] = value
	}
	settings["env"] = env
	if b, err = json.Marshal(settings, json.Deterministic(true)); err != nil {
		return "", err
	}
	file = filepath.Join(l.files, "proof.json")
	return file, atomicfile.Note(file, b, 0o600)
}

// modelOf are the variables with which the program asks a scripted model and no other. They stand in its settings, which count before the
// person's, and in its environment, in case it does not read the settings.
func modelOf(url string) map[string]string {
	return map[string]string{"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": fake.Key, "ANTHROPIC_AUTH_TOKEN": "",
		"CLAUDE_CODE_OAUTH_TOKEN": "", "CLAUDE_CODE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": ""}
}

// gatewayOf is the state of the gateway in what the program says when it begins.
func gatewayOf(out []byte) string {
	for line := range bytes.Lines(out) {
		var s struct {
			Subtype string                          `json:"subtype"`
			Servers []struct{ Name, Status string } `json:"mcp_servers"`
		}
		if json.Unmarshal(line, &s, json.MatchCaseInsensitiveNames(true)) != nil || s.Subtype != "init" {
			continue
		}
		for _, server := range s.Servers {
			if server.Name == install.DefaultGateway {
				return server.Status
			}
		}
		return "it has not started it"
	}
	return "it did not begin: " + strings.TrimSpace(strings.ToValidUTF8(string(out[max(0, len(out)-1000):]), "?"))
}
