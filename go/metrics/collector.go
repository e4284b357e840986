// Package metrics shows an engine's statistics to Prometheus.
package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

// Engine is what a [Collector] needs of [cuzk.Engine].
type Engine interface {
	Stats() (cuzk.Stats, error)
}

// Collector asks the engine whenever it is collected. Register it once per engine:
//
//	prometheus.MustRegister(metrics.NewCollector(engine))
type Collector struct {
	engine Engine
}

// NewCollector makes a collector. After the engine is closed, cuzk_up is 0 and nothing else is there.
func NewCollector(engine Engine) *Collector { return &Collector{engine: engine} }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("cuzk_"+name, help, labels, nil)
}

var (
	up             = desc("up", "1 while the engine is open.")
	health         = desc("health", "0: all is well; 1: an operator should look; 2: only a restart helps.")
	requests       = desc("requests_total", "Requests by kind and outcome; submitted ones are accepted.", "kind", "outcome")
	queueDepth     = desc("queue_depth", "Requests that are accepted and not begun.", "kind")
	running        = desc("running", "Requests that are begun and not ended.", "kind")
	phaseSeconds   = desc("phase_seconds", "Time in each phase: per request up to check, per partition behind it.", "phase")
	phaseLongest   = desc("phase_longest_seconds", "The longest time in each phase so far.", "phase")
	events         = desc("events_total", "What happened beside the ordinary, and how often.", "event")
	partitionStage = desc("partitions", "Partitions by what is done with them now.", "stage")
	untaken        = desc("completions_untaken", "Completions that nobody has taken yet.")
	poolBytes      = desc("memory_bytes", "Memory by pool: budget, in use, the most ever in use.", "pool", "what")
	deviceState    = desc("device_state", "0: healthy; 1: quarantined; 2: lost; 3: retired.", "device", "uuid", "reserved")
	deviceBusy     = desc("device_busy", "1 while the device's thread is inside the back end.", "device", "uuid")
	deviceSeconds  = desc("device_busy_seconds_total", "Time inside the back end.", "device", "uuid")
	devicePart     = desc("device_partitions_total", "Partitions proved by the device.", "device", "uuid")
	deviceCircuits = desc("device_circuits", "Circuits resident on the device.", "device", "uuid")
	devicePhase    = desc("device_phase_seconds", "Time of the device's proofs by phase.", "device", "uuid", "phase")
	driverCalls    = desc("driver_calls_total", "Calls that took memory, streams or events from the driver.")
	resident       = desc("srs_resident", "1 for each circuit that is resident.", "kind", "sector_bytes")
)

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		up, health, requests, queueDepth, running, phaseSeconds, phaseLongest, events, partitionStage, untaken, poolBytes,
		deviceState, deviceBusy, deviceSeconds, devicePart, deviceCircuits, devicePhase, driverCalls, resident,
	} {
		to <- d
	}
}

// sink sends metrics.
type sink chan<- prometheus.Metric

func (s sink) gauge(d *prometheus.Desc, value float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func (s sink) counter(d *prometheus.Desc, value float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	s := sink(to)
	stats, err := c.engine.Stats()
	if err != nil {
		s.gauge(up, 0)
		return
	}
	s.gauge(up, 1)
	s.gauge(health, float64(stats.Health.Level))
	s.gauge(untaken, float64(stats.EventsWaiting))
	s.gauge(partitionStage, float64(stats.Synthesising), "synthesis")
	s.gauge(partitionStage, float64(stats.WaitingForDevice), "waiting")
	s.gauge(partitionStage, float64(stats.Proving), "proving")
	s.kinds(&stats)
	s.phases(&stats)
	s.counters(&stats.Counters)
	s.counter(driverCalls, float64(stats.DriverCalls))
	s.pools(&stats)
	s.devices(&stats)
	for _, circuit := range stats.Resident {
		s.gauge(resident, 1, circuit.Kind.String(), strconv.FormatUint(circuit.SectorSize, 10))
	}
}

func (s sink) kinds(stats *cuzk.Stats) {
	for i, kind := range cuzk.Kinds {
		of, name := stats.Kinds[i], kind.String()
		s.gauge(queueDepth, float64(of.Queued), name)
		s.gauge(running, float64(of.Running), name)
		s.counter(requests, float64(of.Submitted), name, "submitted")
		s.counter(requests, float64(of.Refused), name, "refused")
		s.counter(requests, float64(of.Proved), name, "proved")
		s.counter(requests, float64(of.Failed), name, "failed")
		s.counter(requests, float64(of.Cancelled), name, "cancelled")
		s.counter(requests, float64(of.Late), name, "late")
	}
}

func (s sink) phases(stats *cuzk.Stats) {
	for i, name := range cuzk.PhaseNames {
		phase := stats.Phases[i]
		s <- prometheus.MustNewConstSummary(phaseSeconds, phase.Count, phase.Sum.Seconds(), nil, name)
		s.gauge(phaseLongest, phase.Max.Seconds(), name)
	}
}

func (s sink) counters(c *cuzk.Counters) {
	for _, counter := range []struct {
		name  string
		value uint64
	}{
		{"partition_proved", c.PartitionsProved}, {"batch", c.Batches}, {"redo", c.Redos},
		{"self_check_failure", c.SelfCheckFailures}, {"unsatisfied", c.Unsatisfied},
		{"internal_error", c.InternalErrors}, {"panic", c.Panics}, {"device_fault", c.DeviceFaults},
		{"out_of_memory", c.OutOfMemory}, {"cpu_fallback", c.CPUFallbacks}, {"interruption", c.Interruptions},
		{"abandoned", c.Abandoned}, {"open", c.Opens}, {"load", c.Loads}, {"unload", c.Unloads},
		{"log_dropped", c.LogsDropped},
	} {
		s.counter(events, float64(counter.value), counter.name)
	}
}

func (s sink) pools(stats *cuzk.Stats) {
	for _, pool := range stats.Pools {
		s.gauge(poolBytes, float64(pool.TotalBytes), pool.Name, "budget")
		s.gauge(poolBytes, float64(pool.UsedBytes), pool.Name, "used")
		s.gauge(poolBytes, float64(pool.PeakBytes), pool.Name, "peak")
	}
}

func (s sink) devices(stats *cuzk.Stats) {
	for _, device := range stats.Devices {
		busy := 0.0
		if device.Busy {
			busy = 1
		}
		s.gauge(deviceState, float64(device.State), device.Name, device.UUID, strconv.FormatBool(device.Reserved))
		s.gauge(deviceBusy, busy, device.Name, device.UUID)
		s.gauge(deviceCircuits, float64(device.Circuits), device.Name, device.UUID)
		s.counter(deviceSeconds, device.BusyTime.Seconds(), device.Name, device.UUID)
		s.counter(devicePart, float64(device.Partitions), device.Name, device.UUID)
		for _, phase := range device.Phases {
			sum := phase.Sum.Seconds()
			s <- prometheus.MustNewConstSummary(devicePhase, phase.Count, sum, nil, device.Name, device.UUID, phase.Name)
		}
	}
}
