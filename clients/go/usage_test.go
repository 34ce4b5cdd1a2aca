package halyard

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// Counts that were not accepted go into the next report, and some answers end
// the reports until the server asks again. (C7.2, C7.3)
func TestAnswersToReports(t *testing.T) {
	answers := []int{503, 204, 400, 204, 401}
	var reports []map[string]counted
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/usage/v1" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		var report struct {
			Env   string
			Flags map[string]counted
		}
		if err := json.NewDecoder(r.Body).Decode(&report); err != nil || report.Env != "production" {
			t.Errorf("%v %v", report, err)
		}
		reports = append(reports, report.Flags)
		status := http.StatusNoContent
		if len(answers) > 0 {
			status, answers = answers[0], answers[1:]
		}
		w.WriteHeader(status)
	}))
	defer server.Close()

	client := New(Options{APIKey: "proj_live_x", Environment: "production", BaseURL: server.URL, Logger: slog.New(slog.DiscardHandler)})
	defer client.Close()
	flags, _, _ := parseMap([]byte(`{"a":{"enabled":true},"b":{"enabled":false}}`))
	client.usage.count(flags)
	send := func(want string, wantsMore bool) {
		t.Helper()
		flags["a"].count(true)
		flags["b"].count(false)
		if more := client.usage.send(context.Background()); more != wantsMore {
			t.Errorf("more: %v", more)
		}
		if found := fmt.Sprint(reports[len(reports)-1]); found != want {
			t.Errorf("reported %s, want %s", found, want)
		}
	}
	send("map[a:{1 0} b:{0 1}]", true) // 503
	send("map[a:{2 0} b:{0 2}]", true) // 204
	send("map[a:{1 0} b:{0 1}]", true) // 400: it would be refused again
	send("map[a:{1 0} b:{0 1}]", true) // 204
	client.usage.hear("60")
	send("map[a:{1 0} b:{0 1}]", false) // 401
	if client.usage.isAsked.Load() {
		t.Error("the server wants no more reports")
	}
	client.usage.hear("1")
	if !client.usage.isAsked.Load() || client.usage.interval.Load() != int64(leastUsage) {
		t.Error("the server asks again, and reports are a minute apart at least")
	}

	many := flagMap{}
	for i := range 2_500 {
		many[fmt.Sprint(i)] = &flag{enabled: true}
	}
	client.usage.count(many)
	for _, state := range many {
		state.count(true)
	}
	before := len(reports)
	client.usage.send(context.Background())
	sizes := []int{}
	for _, report := range reports[before:] {
		sizes = append(sizes, len(report))
	}
	if !slices.Equal(sizes, []int{1_000, 1_000, 500}) {
		t.Errorf("reports of %v flags", sizes)
	}
}
