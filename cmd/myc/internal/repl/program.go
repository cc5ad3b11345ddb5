package repl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/agent/slash"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// Program runs myc with arguments, as main does, and returns the error that main prints. A [base.Exit] has been printed.
type Program func(ctx context.Context, args []string, in io.Reader, out, errs io.Writer, environ []string) error

// page is what a command prints, on a screen of a width.
type page struct {
	bytes.Buffer
	width int
}

// Width is the width of the screen. A table fits into it.
func (p *page) Width() int { return p.width }

// run runs a command of myc for this project.
func (a *app) run(ctx context.Context, now slash.Now, args ...string) (string, error) {
	dir, err := a.ProjectDir()
	if err != nil {
		return "", err
	}
	return a.with(ctx, dir, now.Width, nil, args)
}

func (a *app) with(ctx context.Context, dir string, width int, in io.Reader, args []string) (string, error) {
	paths, err := a.State()
	if err != nil {
		return "", err
	}
	if in == nil {
		in = strings.NewReader("")
	}
	all := append([]string{"-C", dir}, paths.Pin()...)
	if a.Config != "" {
		config, err := filepath.Abs(a.Config)
		if err != nil {
			return "", err
		}
		all = append(all, "--config", config)
	}
	out, errs := &page{width: width}, &bytes.Buffer{}
	err = a.program(ctx, append(all, args...), in, out, errs, a.Environ)
	switch exit := (base.Exit{}); {
	case errors.As(err, &exit):
		return out.String(), errors.New(strings.TrimPrefix(strings.TrimSpace(errs.String()), "myc: "))
	case err != nil:
		return out.String(), text.Hinted(errors.New(errs.String()+text.Visible(failure.Of(err).Error())), text.HintOf(err))
	}
	if out.Len() == 0 {
		return strings.TrimPrefix(errs.String(), "myc: "), nil
	}
	return out.String(), nil
}
