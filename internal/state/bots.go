package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
)

// Bots holds a note of each project for which a Telegram bot asks. The daemon of a project writes its note when it begins, so whoever runs
// a bot watches this folder.
func (r Root) Bots() string { return r.in("telegram", "projects") }

// BotLock is the lock of a bot, held by the daemon that polls it.
func (r Root) BotLock(bot string) string { return r.in("telegram", bot+".lock") }

// BotDatabase is the database of a bot: its messages, and how far it has read. It goes with the bot from one daemon to another.
func (r Root) BotDatabase(bot string) string { return r.in("telegram", bot+".db") }

// MakeBots makes the folders of the bots.
func (r Root) MakeBots() error {
	if err := os.MkdirAll(r.Bots(), 0o700); err != nil {
		return fmt.Errorf("make the folder of the Telegram bots: %w", err)
	}
	return nil
}

// Bot says which Telegram bot asks for a project. A bot is known by the digest of its token.
type Bot struct {
	Folder string `json:"folder"`      // of the project
	ID     string `json:"id,omitzero"` // of the project, if a person chose it
	Own    string `json:"own,omitzero"`
	// Terms is the digest of who may answer through Own, by the files of the project: the chat, the people, the PIN.
	Terms string `json:"terms,omitzero"`
	// Started is the bot through which a person started an agent in the project. It asks for the project unless Own does.
	Started      string `json:"started,omitzero"`
	StartedTerms string `json:"startedTerms,omitzero"` // as Terms, by the files of the project that ran it then
}

// Admits reports whether a bot asks for the project, with its terms.
func (b Bot) Admits(bot, terms string) bool {
	want := b.Terms
	if b.Own == "" {
		want = b.StartedTerms
	}
	return bot != "" && bot == b.Asks() && terms == want
}

// Asks returns the bot that asks for the project; "" if none does.
func (b Bot) Asks() string {
	if b.Own != "" {
		return b.Own
	}
	return b.Started
}

const botNoteSuffix = ".json"

func (p Paths) botNote() string { return filepath.Join(p.Bots(), p.id+botNoteSuffix) }

// ReadBot returns the note of the bot that asks for the project; the zero value if there is none.
func (p Paths) ReadBot() (Bot, error) {
	b, err := readBot(p.botNote())
	if errors.Is(err, fs.ErrNotExist) {
		return Bot{}, nil
	}
	if err == nil && (b.Folder != p.Project || b.ID != p.Chosen()) {
		return Bot{}, nil // of another project, which was here before
	}
	return b, err
}

func readBot(file string) (b Bot, err error) {
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	if err != nil {
		return Bot{}, fmt.Errorf("read which Telegram bot asks for a project: %s: %w", file, err)
	}
	return b, nil
}

// botWait is how long a change of a note waits for another one. A change takes milliseconds.
const botWait = 5 * time.Second

// ChangeBot changes the note of the bot that asks for the project, and writes it also if nothing is different: who watches [Root.Bots] sees
// it. A note without a bot is removed.
func (p Paths) ChangeBot(change func(*Bot)) error {
	if err := p.MakeBots(); err != nil {
		return err
	}
	lock, err := atomicfile.LockWait(p.in("telegram", "projects.lock"), botWait)
	if err != nil {
		return fmt.Errorf("note which Telegram bot asks for the project: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	b, err := p.ReadBot()
	if err != nil {
		return err
	}
	change(&b)
	if b.Asks() == "" {
		if err := os.Remove(p.botNote()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("note that no Telegram bot asks for the project: %w", err)
		}
		return nil
	}
	b.Folder, b.ID = p.Project, p.Chosen()
	data, err := json.Marshal(b)
	if err == nil {
		err = atomicfile.Write(p.botNote(), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("note which Telegram bot asks for the project: %w", err)
	}
	return nil
}

// AskedBy returns the projects for which a bot asks, with their notes. A project that has no state any more is left out. The error names
// the notes that cannot be read; the other projects are returned all the same.
func (r Root) AskedBy(bot string) (projects map[Paths]Bot, err error) {
	files, err := os.ReadDir(r.Bots())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	projects = map[Paths]Bot{}
	problems := []error{err}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), botNoteSuffix) {
			continue
		}
		file := filepath.Join(r.Bots(), f.Name())
		b, err := readBot(file)
		if err == nil && b.Asks() != bot {
			continue
		}
		p := r.Of(b.Folder)
		if err == nil && b.ID != "" {
			p, err = r.Named(b.Folder, b.ID)
		}
		switch {
		case err != nil:
			problems = append(problems, err)
			continue
		case p.botNote() != file:
			problems = append(problems, fmt.Errorf("read which Telegram bot asks for a project: %s is the note of another project, %s", file,
				b.Folder))
			continue
		}
		if _, err := p.ReadNote(); err == nil {
			projects[p] = b
		} else if !errors.Is(err, ErrUnknown) {
			problems = append(problems, err)
		}
	}
	return projects, errors.Join(problems...)
}
