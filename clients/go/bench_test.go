package halyard_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/open-feature/go-sdk/openfeature"

	halyard "github.com/halyard-flags/halyard/clients/go"
	"github.com/halyard-flags/halyard/clients/go/provider"
)

// manyFlags is a map of so many flags.
func manyFlags(count int) string {
	flags := make([]string, count)
	for i := range flags {
		flags[i] = fmt.Sprintf(`"flag-number-%d":{"enabled":true,"value":"value %d","rolloutPct":50}`, i, i)
	}
	return "{" + strings.Join(flags, ",") + `,"on":{"enabled":true,"value":7}}`
}

func BenchmarkRead(b *testing.B) {
	options, _ := service(b, manyFlags(1_000))
	client := open(b, options)
	plain := map[string]*bool{}
	for i := range 1_001 {
		plain[fmt.Sprintf("flag-number-%d", i)] = new(bool)
	}
	user := halyard.For("user-1")
	of := provider.Wrap(client)
	if err := openfeature.SetNamedProviderWithContextAndWait(context.Background(), "bench", of); err != nil {
		b.Fatal(err)
	}
	flags := openfeature.NewClient("bench")
	context, evaluation := context.Background(), openfeature.NewEvaluationContext("user-1", nil)

	isOn := false
	for name, read := range map[string]func(){
		"map":         func() { isOn = *plain["flag-number-500"] },
		"Enabled":     func() { isOn = client.Enabled("on") },
		"Enabled/for": func() { isOn = client.Enabled("flag-number-500", user) },
		"Value":       func() { isOn = halyard.Value(client, "on", 1) == 7 },
		"OpenFeature": func() { isOn = flags.Int(context, "on", 1, evaluation) == 7 },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				read()
			}
		})
	}
	b.Run("Enabled/parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				client.Enabled("on")
			}
		})
	})
	_ = isOn
}

// BenchmarkMemory says how much 10,000 flags take.
func BenchmarkMemory(b *testing.B) {
	options, _ := service(b, manyFlags(10_000))
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		client := open(b, options)
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
		runtime.KeepAlive(client)
		_ = client.Close()
	}
}
