package project

import (
	"slices"
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Frameworks whose own commands do more than build and test.

// plainSbt are harmless options of sbt. It has no row of them, because its arguments are whole commands.
const plainSbt = "-batch|--batch|-client|--client|--no-server|-v|--verbose|-d|--debug|--info|--warn|--error|-no-colors|--no-colors|" +
	"--color|--supershell|-mem|-h|-help|--help|-V|-version|--version|--numeric-version|--script-version|--timings|--no-share|--"

// sbt has commands that are code, and commands that publish, also behind the name of a project: core/publishSigned.
func sbt(c *program.Call, args []program.Word) {
	for _, w := range args {
		name, _, _ := strings.Cut(w.Text, "=")
		plain := program.Named(plainSbt, name) || program.ContainsAny(w.Text[:min(5, len(w.Text))], "-J-Xm", "-J-Xs") ||
			strings.HasPrefix(w.Text, "-Dsbt.") && !strings.Contains(w.Text, "/")
		if strings.HasPrefix(w.Text, "-") && !plain {
			c.Unclear("what the option " + name + " does is not known")
		}
	}
	for _, w := range args {
		for line := range strings.SplitSeq(w.Text, ";") {
			head, _, _ := strings.Cut(strings.TrimLeft(line, " +~"), " ")
			head = head[strings.LastIndexAny(head, "/:")+1:]
			switch {
			case program.Named("eval|set|apply", head):
				c.Does |= effect.InlineCode
			case program.Named("console|consoleQuick|consoleProject", head):
				c.RunInput()
			case head == "new":
				c.Does |= effect.Install | effect.Network
			case strings.HasPrefix(head, "publish") && !strings.HasPrefix(head, "publishLocal") && !strings.HasPrefix(head, "publishM2"):
				c.Does |= effect.Publish | effect.Network
			}
		}
	}
	if (c.Input.Document != nil || c.Input.Output != nil || c.Input.File != nil) && len(args) == 0 {
		c.RunInput()
	}
	program.RunProject(c, args)
}

// gradle has settings of its own among the properties.
func gradle(c *program.Call, args []program.Word) {
	scanOwn(c, args)
	for _, o := range c.Options {
		name, value, _ := strings.Cut(o.Value.Text, "=")
		switch {
		case !program.Named("D|P", o.Name):
		case strings.HasSuffix(name, "roxyHost"), strings.HasPrefix(name, "gradle.user") || strings.HasPrefix(name, "gradle.home"),
			strings.HasPrefix(name, "org.gradle.") && program.ContainsAny(value, "/", "agent", "args"),
			strings.HasPrefix(name, "org.gradle.") && program.ContainsAny(name, "agent", "args"):
			c.Unclear("a setting of gradle may say which code runs")
		}
	}
	program.RunProject(c, args)
}

// maven has plugins that run programs, fetch what is not declared, and publish.
func maven(c *program.Call, args []program.Word) {
	scanOwn(c, slices.DeleteFunc(slices.Clone(args), func(w program.Word) bool {
		return len(w.Text) > 2 && w.Text[0] == '-' && strings.IndexByte("DPT", w.Text[1]) >= 0
	}))
	for _, w := range args {
		name, value, _ := strings.Cut(w.Text, "=")
		switch {
		case name == "-Dexec.executable":
			c.RunNested(program.Word{Text: value, Unknown: w.Unknown})
			c.Unclear("which program the build runs with which arguments is not known")
		case program.Named("-Dmaven.ext.class.path|-Dexec.mainClass|-javaagent", name) && strings.Contains(value, "/"):
			c.Role('x', program.Word{Text: value, Unknown: w.Unknown})
		case program.Named("-Dmaven.repo.local|-Dmaven.multiModuleProjectDirectory|-Dmaven.home|-Dmaven.conf|-Dexec.classpath|"+
			"-DadditionalClasspathElements|-Dmaven.user.conf|-Dmaven.settings", name) && program.ContainsAny("/.~", value[:min(1, len(value))]),
			strings.HasPrefix(w.Text, "-D") && strings.HasSuffix(name, "roxyHost"):
			c.Unclear("a setting of Maven may say which code runs")
		}
	}
	for _, w := range c.Operands {
		goal(c, w)
	}
	program.RunProject(c, args)
}

// goal handles one phase or goal of Maven: PHASE, PREFIX:GOAL, or GROUP:ARTIFACT[:VERSION]:GOAL, which names any plugin. A prefix is one that
// the project declares, or of a plugin of Maven's own two groups.
func goal(c *program.Call, w program.Word) {
	text, _, _ := strings.Cut(w.Text, "@")
	parts := strings.Split(text, ":")
	last := parts[len(parts)-1]
	switch {
	case w.Unknown:
		c.Unclear("which goal of Maven runs is not known")
		return
	case len(parts) == 1:
		return
	case len(parts) > 2 && !program.Named("org.apache.maven.plugins|org.codehaus.mojo", parts[0]):
		c.Does |= effect.RemoteCode | effect.Network
		return
	case len(parts) > 2:
		parts[0] = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(parts[1], "-plugin"), "maven-"), "-maven")
	}
	switch prefix := parts[0]; {
	case prefix == "release" && program.Named("perform|prepare|stage", last), prefix == "scm" && last == "checkin", prefix == "jib",
		prefix == "deploy", program.Named("site|nexus-staging|central-publishing", prefix) && last != "site":
		c.Does |= effect.Publish | effect.Network
	case prefix == "dependency" && program.Named("get|copy|unpack", last), program.Named("archetype|wrapper|install|jbang", prefix):
		c.Does |= effect.Install | effect.Network
	case prefix == "versions" && !strings.HasPrefix(last, "display-") && !strings.HasPrefix(last, "dependency-") && last != "help":
		c.Does |= effect.Install
	case program.Named("groovy|gmaven|gmavenplus|antrun|script|beanshell", prefix):
		c.Does |= effect.InlineCode
	case program.Named("sql|flyway|liquibase|hibernate", prefix):
		c.Does |= effect.Database
	case !program.Named(mavenPrefixes, prefix):
		c.Does |= effect.Install | effect.Network
	}
}

// mavenPrefixes are prefixes of plugins that builds, checks and tests have. Source: the lists of plugins of Apache Maven and MojoHaus, and
// the documentation of the others.
const mavenPrefixes = "acr|ant|antlr4|assembly|bnd|buildnumber|build-helper|changelog|changes|checkstyle|clean|clirr|compiler|dependency|" +
	"dependency-check|detect|docbkx|doap|ear|eclipse|ejb|enforcer|failsafe|formatter|flatten|fmt|gpg|help|idea|invoker|jacoco|jar|jarsigner|" +
	"javadoc|javacc|jaxb2|jdeprscan|jdeps|jlink|jmod|jxr|kotlin|ktlint|license|linkcheck|micronaut|modernizer|mn|native|openapi-generator|" +
	"patch|pdf|pit|pitest|plugin|pmd|project-info-reports|properties|protobuf|quarkus|rar|remote-resources|resources|rewrite|scala|shade|" +
	"site|sonar|sortpom|source|spotbugs|spotless|spring-boot|stage|surefire|surefire-report|taglist|templating|toolchain|" +
	"toolchains|tidy|versions|war|xml|scm|release|exec|io.spring.javaformat|spring-javaformat|git-commit-id|findbugs|cobertura|animal-sniffer"

// rails runs code and shows secrets with some of its commands.
func rails(c *program.Call, args []program.Word) {
	if len(args) == 0 {
		program.RunProject(c, args)
		return
	}
	name, _, _ := strings.Cut(args[0].Text, ":")
	switch rest := args[1:]; {
	case program.Named("runner|r", name):
		railsCode(c, rest)
	case program.Named("console|c", name):
		c.RunInput()
	case program.Named("dbconsole|db", args[0].Text):
		c.Does |= effect.Database
		c.Unclear("it asks for what it runs")
	case program.Named("credentials|encrypted|secrets", name):
		c.Does |= effect.Secrets
	case program.Named("app:template|new|plugin", args[0].Text):
		c.Does |= effect.Install | effect.Network
	}
	c.Scan(args[1:])
	if v, ok := c.Value("b"); ok && !program.Named("localhost|127.0.0.1|::1|[::1]", v.Text) {
		c.Does |= effect.Listen
	}
	dropsData(c, args)
	program.RunProject(c, args)
}

// railsCode runs the code or the file that rails runner is given.
func railsCode(c *program.Call, args []program.Word) {
	for i := 0; i < len(args); i++ {
		switch s := args[i].Text; {
		case s == "-":
			c.RunInput()
		case program.Named("-e|--environment", s):
			i++
		case strings.HasPrefix(s, "-"):
		case strings.HasSuffix(s, ".rb") && !args[i].Unknown:
			c.RunFile(args[i])
			return
		default:
			c.Does |= effect.InlineCode
			return
		}
	}
}

// dropsData looks for tasks that lose the data of a database.
func dropsData(c *program.Call, args []program.Word) {
	for _, w := range args {
		if strings.HasPrefix(w.Text, "db:") && program.ContainsAny(w.Text, "drop", "reset", "purge", "truncate", "rollback", "redo", "down",
			"replant") {
			c.Does |= effect.Database
		}
	}
}

// rake has options that are code, and options that name it.
func rake(c *program.Call, args []program.Word) {
	c.Scan(args)
	dropsData(c, args)
	program.RunProject(c, args)
}

// mixRun runs a file, or the code that mix run -e and mix eval are given.
func mixRun(c *program.Call) {
	c.Does |= effect.ProjectCode
	if c.Words[1].Text == "eval" {
		c.Does |= effect.InlineCode
	} else if len(c.Operands) > 0 {
		c.RunFile(c.Operands[0])
	}
}
