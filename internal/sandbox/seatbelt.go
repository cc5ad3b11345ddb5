package sandbox

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/text"
)

// names are the names of base constraints that a command of Seatbelt does not make in its folders. Names that only rules of the policy
// close, and parts of new repositories, are looked for after the command, as with every back end.
func (c *Command) names() (out []jail.Guard) {
	if !c.guards() {
		return nil
	}
	for _, b := range policy.BasePaths() {
		first, rest, _ := strings.Cut(b.Path, "/")
		for _, root := range c.roots() {
			g := jail.Guard{Folder: root, Name: rest, Hidden: !b.ChangeOnly}
			switch first {
			case "**":
				g.Anywhere = true
			case ".":
				if root != c.Project {
					continue
				}
			default:
				path := b.Path
				if first == "~" {
					path = filepath.Join(c.Home, rest)
				}
				var inside bool
				if g.Name, inside = strings.CutPrefix(path, root+"/"); !inside {
					continue
				}
			}
			out = append(out, g)
		}
	}
	return out
}

// SeatbeltText returns the profile that sandbox-exec of macOS would get for a command, on any system. Nothing runs. The folders of a run have
// names of their own each time; here they are "run" and "seatbelt", and the port of the proxy is 1.
func SeatbeltText(ctx context.Context, c *Command) (string, error) {
	c, err := c.named()
	if err != nil {
		return "", err
	}
	c.Profile.Backend = jail.Seatbelt
	if err := c.seats(); err != nil {
		return "", err
	}
	w := &work{guarded: &Guarded{}, folder: filepath.Join(cmp.Or(c.Scratch, os.TempDir()), "run")}
	if c.Quarantine != "" {
		w.objects = c.closedObjects(ctx)
		if w.guarded, err = c.look(ctx, nil); err != nil {
			return "", err
		}
	}
	if c.guards() {
		for _, path := range w.guarded.Configs {
			w.copies = append(w.copies, copied{original: path, link: filepath.Join(inside, "git", "config")})
		}
	}
	spec, err := c.describe(w, nil)
	if err != nil {
		return "", err
	}
	port := 0
	if len(c.Hosts)+len(c.Registries) > 0 {
		port = 1
	}
	seat, err := spec.Seatbelt(filepath.Join(w.folder, string(jail.Seatbelt)), port)
	if err != nil {
		return "", err
	}
	return seat.Text, nil
}

// seats says whether a command can be run by Seatbelt. Its proxy listens on the loopback of the machine, so other programs would use the
// secrets of masks.
func (c *Command) seats() error {
	if c.Profile.Backend != jail.Seatbelt || len(c.Masks) == 0 {
		return nil
	}
	return text.Hinted(errors.New("the back end seatbelt has no masks: every program of this machine reaches the proxy of the command"),
		"nothing was run; leave the mask out, or give the command the variable itself")
}

// unseen are the characters without a width and those that set a direction. HFS+ ignores most of them, so that .g\u200cit is .git there
// (hfs_isignorable in git's utf8.c).
func unseen() string {
	var all []rune
	for r := rune(0x2000); r <= 0xfeff; r++ {
		switch text.KindOf(r) {
		case text.ZeroWidth, text.Joiner, text.Direction, text.Bidi:
			all = append(all, r)
		default:
		}
	}
	return string(all)
}
