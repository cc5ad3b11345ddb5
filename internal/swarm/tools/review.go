package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/review"
	"mycelium/internal/text"
)

// both is the review type that stands for both.
const both = "both"

// reviewing are the tools that change what is reviewed and verified, and what comes of it.
func reviewing() []row {
	return []row{
		{name: "run_review", run: runReview,
			about: "Have what has landed reviewed now, by one reviewer for the code and one for the architecture. They only read. Refused while " +
				"workers are not done.",
			params: []param{may("reviewTypes", "strings", "code, architecture. Default: those that the session wants."),
				may("forceRerun", "boolean", "Review again what was reviewed.")}},
		{name: "configure_reviews", run: configureReviews,
			about: "Which reviews the session has. What is left out stays. You turn reviews on; only a person takes one away.",
			params: []param{may("enabled", "boolean", "There are reviews. Turned on, they have the defaults of the others."),
				may("skipOnFailure", "boolean", "None where a feature has failed. Default: false."),
				may("codeReviewEnabled", "boolean", "Of the code. Default: true."),
				may("architectureReviewEnabled", "boolean", "Of the architecture. Default: true."),
				may("autoTrigger", "boolean", "They begin by themselves when nothing is left to be done. Default: true.")}},
		{name: "configure_verification", run: configureVerification,
			about: "Commands that each landing must pass, in the sandbox; workers are told them. A program must be a known one, or one that a " +
				"person has allowed. What a person set stays.",
			params: []param{may("commands", "strings", "Commands to add. No shell."),
				may("failOnError", "boolean", "true (default). false is refused: what does not pass does not land."),
				may("clear", "boolean", "Take away first what agents have added.")}},
		{name: "implement_review_suggestions", run: implement,
			about: "Make features of issues that the reviews found, one for each file, and have the session go on with them. Without issueIndices " +
				"and autoSelect the issues are listed.",
			params: []param{{name: "issueIndices", kind: "integers", about: "Numbers of issues, from 0, as get_review_results shows them."},
				may("minSeverity", "string", "The least severity. Default: warning.", string(book.Info), string(book.Warning),
					string(book.Error)),
				may("reviewType", "string", "Of which review. Default: both.", append(review.Names(), both)...),
				may("autoSelect", "boolean", "All that the other parameters leave, and that no feature mends yet.")}},
	}
}

// lookingAtReviews are the tools that show reviews.
func lookingAtReviews() []row {
	return []row{
		{name: "check_reviews", run: checkReviews, about: "How far the reviews are, and the last lines of their reviewers.",
			params: []param{may("includeOutput", "boolean", "Default: true."),
				may("outputLines", "integer", "The last lines of each, at most 100. Default: 30.")}},
		{name: "get_review_results", run: reviewResults, about: "What the last reviews found.",
			params: []param{may("format", "string", "summary (default): how severe; detailed: each issue with its number; json.", "summary",
				"detailed", asJSON)}},
	}
}

// reviewers refuses what has reviewers started whose role this session may not give.
func (c *call) reviewers(s *book.Session) error { return c.mayStart("a review", s.Settings.Role) }

func runReview(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err == nil {
		err = c.reviewers(s)
	}
	if err != nil {
		return "", err
	}
	driven, err := c.Driven(ctx, s.ID)
	if err == nil && (driven || s.State != book.Reviewing) { // else those that are due only lack somebody who drives
		_, err = c.Review(ctx, s.ID, a.ReviewTypes, a.Rerun)
	}
	if err == nil {
		err = c.drive(ctx, s.ID)
	}
	if err != nil {
		return "", err
	}
	return "The reviews begin as soon as reviewers are free. Next: check_reviews.", nil
}

// reviewLines is how many lines of a reviewer are shown (requirements, C50).
const reviewLines = 30

func checkReviews(ctx context.Context, c *call, a args) (string, error) {
	n := or(a.OutputLines, reviewLines)
	if err := between("outputLines", n, 1, mostTail); err != nil {
		return "", err
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "reviews: %s\n", review.Settings(s.Settings.Reviews))
	over := true
	for _, r := range review.Last(s).Reviews {
		over = over && r.Over()
		if r.Folder == "" {
			fmt.Fprintf(&b, "%s#%d: %s\n", review.Label(r.Type), r.N, r.State.Words())
			continue
		}
		said, err := c.worker(s, review.Label(r.Type), &r.Attempt, n, 0, or(a.IncludeOutput, true))
		if err != nil {
			return "", err
		}
		b.WriteString(said)
	}
	driver, err := c.Driver(ctx, s.ID)
	switch {
	case err != nil:
		return "", err
	case len(s.Reviews) == 0:
		b.WriteString("Nothing was reviewed. Next: run_review, when nothing is left to be done.")
	case over:
		b.WriteString("The reviews are over. Next: get_review_results.")
	case driver == "":
		b.WriteString("Nobody drives the session. Next: resume_session if it is paused, else run_review has them go on.")
	default:
		b.WriteString("Next: check_reviews again.")
	}
	return b.String(), nil
}

func reviewResults(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	all := review.Last(s)
	if len(all.Reviews) == 0 {
		return "", text.Hinted(errors.New("nothing was reviewed"), "run_review begins it")
	}
	if a.Format == asJSON {
		said, err := jsonText(all)
		if err == nil && len(said) > maxAnswer {
			err = text.Hinted(errors.New("the results are too large for one answer"), "the format detailed shows their beginning and end")
		}
		return said, err
	}
	var issues []review.Found
	if a.Format == "detailed" {
		if issues, err = review.Issues(s, review.Choice{Min: book.Info}); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	for _, r := range all.Reviews {
		head, body := review.Told(r, issues)
		b.WriteString(head + "\n" + body)
	}
	b.WriteString("Next: implement_review_suggestions lists the issues and makes features of them.")
	return b.String(), nil
}

func configureReviews(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err == nil {
		err = c.reviewers(s)
	}
	if err == nil {
		s, err = c.Configure(ctx, s.ID, review.Change{Enabled: a.Enabled, SkipOnFailure: a.SkipFailed, Code: a.Code,
			Architecture: a.Architecture, AutoTrigger: a.AutoTrigger})
	}
	if err != nil {
		return "", err
	}
	return "The reviews: " + review.Settings(s.Settings.Reviews) + ".", nil
}

func configureVerification(ctx context.Context, c *call, a args) (string, error) {
	if !or(a.FailOnError, true) {
		return "", errors.New("failOnError: what does not pass the verification does not land, so nothing else would be obeyed")
	}
	s, err := c.session(ctx)
	if err == nil {
		s, err = c.Verification(ctx, s.ID, a.Commands, a.Clear)
	}
	if err != nil {
		return "", err
	}
	return "Each landing must pass: " + ops.Verifies(s) + ". Next: run_verification tries one.", nil
}

func implement(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	choice := review.Choice{Indices: a.Indices, All: a.AutoSelect, Min: book.Level(a.MinSeverity), Type: a.ReviewType}
	if choice.Type == both {
		choice.Type = ""
	}
	if !choice.All && len(choice.Indices) == 0 {
		found, err := review.Issues(s, choice)
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "No issue is that severe.", nil
		}
		var b strings.Builder
		for _, f := range found {
			b.WriteString(f.Told())
		}
		return b.String() + "Nothing was changed. Next: issueIndices makes features of some, autoSelect of all of these.", nil
	}
	if err := c.mayStart("what mends an issue", s.Settings.Role); err != nil {
		return "", err
	}
	ids, err := c.Implement(ctx, s.ID, choice)
	if err != nil {
		return "", err
	}
	return strings.Join(ids, ", ") + " were added. Next: auto_orchestrate has them worked off, start_worker one.", nil
}
