package telemetry

// The names of metrics, spans and attributes. Names that begin with mcp, gen_ai, error, network and service are the semantic conventions of
// OpenTelemetry for MCP and generative AI (status: development, read in November 2026); those that begin with mycelium are ours. In
// Prometheus they have underscores, the unit and "_total".
const (
	// Attributes.
	attrMethod    = "mcp.method.name"
	attrTool      = "gen_ai.tool.name"
	attrPrompt    = "gen_ai.prompt.name"
	attrOperation = "gen_ai.operation.name"
	attrError     = "error.type"
	attrTransport = "network.transport"
	attrServer    = "mycelium.server"
	attrSurface   = "mycelium.surface"
	attrEffect    = "mycelium.effect"
	attrOutcome   = "mycelium.outcome"
	attrReason    = "mycelium.reason"
	attrLimit     = "mycelium.limit"
	attrRole      = "mycelium.role"
	attrSession   = "mycelium.session.id"
	attrCall      = "mycelium.call.id"
	attrState     = "mycelium.state"

	// Values.
	operationTool = "execute_tool"
	errorOther    = "_OTHER"
	errorTool     = "tool_error"
	other         = "other" // label of the series beyond the bound

	// Metrics.
	metricServer   = "mcp.server.operation.duration"
	metricClient   = "mcp.client.operation.duration"
	metricCalls    = "mycelium.calls"
	metricDenials  = "mycelium.denials"
	metricLimits   = "mycelium.limits.hit"
	metricSwitches = "mycelium.role.switches"
	metricDropped  = "mycelium.telemetry.dropped"

	// Spans.
	spanDecide = "policy.decide"
)

// The gauges that the function of [Meter.Observe] reports.
const (
	Sessions        = "mycelium.sessions"
	BackendState    = "mycelium.backend.state" // 1 for the current state
	BackendRestarts = "mycelium.backend.restarts"
	BackendActive   = "mycelium.backend.calls.active"
	BackendWaiting  = "mycelium.backend.calls.waiting"
	BackendRefused  = "mycelium.backend.calls.refused"
	CatalogTools    = "mycelium.catalog.tools"
	CatalogHeld     = "mycelium.catalog.quarantined"
	Concealment     = "mycelium.concealment"     // share of the catalog that is hidden from a role
	AskRate         = "mycelium.asks.rate"       // questions to people per active hour of agents, in the last 7 days
	AuditOwed       = "mycelium.audit.owed"      // outcomes that are not in the log yet
	AuditIndexLag   = "mycelium.audit.index.lag" // bytes of the log that are not in its index
	Goroutines      = "go.goroutine.count"
	HeapMemory      = "go.memory.used"
	HeapLive        = "mycelium.memory.live" // what the last collection found in use: a leak shows here, and not in the memory that is kept
)

// instrument describes a metric.
type instrument struct{ name, unit, help, kind string }

const (
	kindCounter   = "counter"
	kindGauge     = "gauge"
	kindHistogram = "histogram"
)

// instruments are all metrics, in the order of the output.
var instruments = []instrument{
	{metricServer, "s", "How long requests took from the client's side of the gateway.", kindHistogram},
	{metricClient, "s", "How long servers behind the gateway took.", kindHistogram},
	{metricCalls, "", "Calls by what was decided and what came of them.", kindCounter},
	{metricDenials, "", "Calls that were refused, by the kind of the reason.", kindCounter},
	{metricLimits, "", "Calls that a limit refused.", kindCounter},
	{metricSwitches, "", "Role switches, by the role that was taken.", kindCounter},
	{metricDropped, "", "Spans that were not exported.", kindCounter},
	{Sessions, "", "Sessions that are alive.", kindGauge},
	{BackendState, "", "1 for the state that a server is in.", kindGauge},
	{BackendRestarts, "", "Starts of a server after the first one.", kindCounter},
	{BackendActive, "", "Calls that a server is at work on.", kindGauge},
	{BackendWaiting, "", "Calls that wait for a server.", kindGauge},
	{BackendRefused, "", "Calls that found a server's queue full.", kindCounter},
	{CatalogTools, "", "Tools of all servers.", kindGauge},
	{CatalogHeld, "", "Definitions in quarantine.", kindGauge},
	{Concealment, "", "The share of the catalog that the default role does not see.", kindGauge},
	{AskRate, "", "Questions to people per active hour of agents, in the last 7 days.", kindGauge},
	{AuditOwed, "", "Outcomes that the audit log has not taken yet: nothing runs until it has.", kindGauge},
	{AuditIndexLag, "By", "Bytes of the audit log that its index has not read yet.", kindGauge},
	{Goroutines, "", "Goroutines.", kindGauge},
	{HeapMemory, "By", "Memory that the Go runtime uses.", kindGauge},
	{HeapLive, "By", "Memory of the objects that the last garbage collection found in use.", kindGauge},
}

// naming are the attributes whose values may be hidden names.
var naming = []string{attrTool, attrServer, attrRole, attrLimit}

// bounds are the upper bounds of the histograms in seconds: those of the conventions for MCP, and finer ones for fast calls.
var bounds = [...]float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
