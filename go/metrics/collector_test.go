package metrics

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	cuzk "github.com/cuzk-prover/cuzk/go"
)

// fixed gives the same statistics each time.
type fixed struct {
	stats cuzk.Stats
	err   error
}

func (f *fixed) Stats() (cuzk.Stats, error) { return f.stats, f.err }

func TestMetrics(t *testing.T) {
	engine := &fixed{}
	engine.stats.Kinds[3] = cuzk.KindStats{Submitted: 5, Proved: 3, Queued: 2}
	engine.stats.Phases[5] = cuzk.PhaseStats{Count: 4, Sum: 6 * time.Second, Max: 2 * time.Second}
	engine.stats.Counters.SelfCheckFailures = 7
	engine.stats.Pools = []cuzk.PoolStats{{Name: "host", TotalBytes: 100, UsedBytes: 40, PeakBytes: 60}}
	engine.stats.Devices = []cuzk.DeviceStats{{Name: "echo-0", UUID: "u", State: cuzk.DeviceLost, Busy: true}}
	quotient := cuzk.PhaseStats{Count: 2, Sum: time.Second}
	engine.stats.Devices[0].Phases = []cuzk.DevicePhase{{Name: "quotient", PhaseStats: quotient}}
	engine.stats.DriverCalls = 9
	engine.stats.Resident = []cuzk.Circuit{{Kind: cuzk.KindPoRep, SectorSize: 2048}}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(NewCollector(engine))
	expected := `
# HELP cuzk_queue_depth Requests that are accepted and not begun.
# TYPE cuzk_queue_depth gauge
cuzk_queue_depth{kind="porep"} 0
cuzk_queue_depth{kind="update"} 0
cuzk_queue_depth{kind="windowpost"} 0
cuzk_queue_depth{kind="winningpost"} 2
# HELP cuzk_memory_bytes Memory by pool: budget, in use, the most ever in use.
# TYPE cuzk_memory_bytes gauge
cuzk_memory_bytes{pool="host",what="budget"} 100
cuzk_memory_bytes{pool="host",what="peak"} 60
cuzk_memory_bytes{pool="host",what="used"} 40
# HELP cuzk_device_state 0: healthy; 1: quarantined; 2: lost; 3: retired.
# TYPE cuzk_device_state gauge
cuzk_device_state{device="echo-0",reserved="false",uuid="u"} 2
# HELP cuzk_device_phase_seconds Time of the device's proofs by phase.
# TYPE cuzk_device_phase_seconds summary
cuzk_device_phase_seconds_sum{device="echo-0",phase="quotient",uuid="u"} 1
cuzk_device_phase_seconds_count{device="echo-0",phase="quotient",uuid="u"} 2
# HELP cuzk_driver_calls_total Calls that took memory, streams or events from the driver.
# TYPE cuzk_driver_calls_total counter
cuzk_driver_calls_total 9
# HELP cuzk_srs_resident 1 for each circuit that is resident.
# TYPE cuzk_srs_resident gauge
cuzk_srs_resident{kind="porep",sector_bytes="2048"} 1
`
	names := []string{"cuzk_queue_depth", "cuzk_memory_bytes", "cuzk_device_state", "cuzk_srs_resident",
		"cuzk_device_phase_seconds", "cuzk_driver_calls_total"}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(expected), names...); err != nil {
		t.Fatal(err)
	}
	engine.err = cuzk.ErrClosed
	expected = "# HELP cuzk_up 1 while the engine is open.\n# TYPE cuzk_up gauge\ncuzk_up 0\n"
	if err := testutil.GatherAndCompare(registry, strings.NewReader(expected)); err != nil {
		t.Fatal(err)
	}
}

// TestCountersAreComplete finds a counter that isn't shown: each is given a value of its own.
func TestCountersAreComplete(t *testing.T) {
	engine := &fixed{}
	counters := reflect.ValueOf(&engine.stats.Counters).Elem()
	for i := range counters.NumField() {
		counters.Field(i).SetUint(uint64(1000 + i))
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewCollector(engine))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[float64]bool{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			shown[metric.GetCounter().GetValue()] = true
		}
	}
	for i := range counters.NumField() {
		if !shown[float64(1000+i)] {
			t.Errorf("%s isn't shown", counters.Type().Field(i).Name)
		}
	}
}
