package halyard_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-feature/go-sdk/openfeature"

	halyard "github.com/halyard-flags/halyard/clients/go"
	"github.com/halyard-flags/halyard/clients/go/provider"
)

// serverInput keeps the contract server alive: a pipe without a reference is
// closed when garbage is collected.
var serverInput io.Closer

// contractServer starts the server of broken behaviors, and gives its address.
// HALYARD_CONTRACT_URL names one that runs already.
var contractServer = sync.OnceValues(func() (string, error) {
	if running := os.Getenv("HALYARD_CONTRACT_URL"); running != "" {
		return running, nil
	}
	server := exec.Command("bun", "../../conformance/clients/serve.ts")
	server.Stderr = os.Stderr
	input, err := server.StdinPipe() // it ends when this process does
	if err != nil {
		return "", err
	}
	serverInput = input
	output, err := server.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := server.Start(); err != nil {
		return "", err
	}
	var said struct{ URL string }
	err = json.NewDecoder(bufio.NewReader(output)).Decode(&said)
	return said.URL, err
})

// ask sends a request to the contract server and decodes the answer.
func ask(t *testing.T, method, path string, answer any) (status int) {
	t.Helper()
	base, err := contractServer()
	if err != nil {
		t.Fatalf("the contract server did not start (it needs bun): %v", err)
	}
	request, _ := http.NewRequest(method, base+path, nil)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, _ := io.ReadAll(response.Body)
	if err := json.Unmarshal(data, answer); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, data)
	}
	return response.StatusCode
}

type step struct {
	Do      string
	Name    string
	Options struct {
		TimeScale     float64
		TargetingKey  *string
		StatePath     bool
		StateMaxAgeMs int64
		ReportUsage   *bool
		Bootstrap     json.RawMessage
		APIKey        *string
		Environment   *string
		BaseURL       *string
		Insecure      bool
	}
	Expect       json.RawMessage
	WithinMs     int64
	ForMs        int64
	Read         *step
	Key          string
	Type         string
	Default      any
	TargetingKey *string
}

type scenario struct {
	Name, Clause, Sentence string
	Steps                  []step
}

func TestContract(t *testing.T) {
	var scenarios []scenario
	ask(t, "GET", "/scenarios", &scenarios)
	slots := make(chan struct{}, 8) // some scenarios wait, so more than there are processors
	for _, s := range scenarios {
		t.Run(s.Clause+" "+s.Name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Log(s.Sentence)
			r := &run{t: t, domain: s.Name, state: filepath.Join(t.TempDir(), "flags")}
			if ask(t, "POST", "/scenarios/"+s.Name+"/runs", r) != http.StatusCreated {
				t.Fatal("the scenario does not start")
			}
			defer r.close()
			for i, step := range s.Steps {
				if problem := r.do(step); problem != "" {
					text, _ := json.Marshal(step)
					t.Fatalf("step %d, %s %s: %s\n%s", i+1, step.Do, step.Name, problem, text)
				}
			}
		})
	}
}

// run is one run of a scenario.
type run struct {
	ID, BaseURL, APIKey, Environment string

	t        *testing.T
	domain   string
	state    string
	provider *provider.Provider
	client   *halyard.Client
	flags    *openfeature.Client
	began    chan struct{} // closed when the provider's initialization has ended
	mu       sync.Mutex
	events   []openfeature.EventDetails
	kinds    []openfeature.EventType
}

// do does a step, and says what does not hold.
func (r *run) do(s step) string {
	within := time.Duration(s.WithinMs) * time.Millisecond
	switch s.Do {
	case "open":
		r.open(s)
	case "ready":
		return r.ready(text(s.Expect), within)
	case "read":
		return until(within, func() string { return r.read(s) })
	case "steady":
		for end := time.Now().Add(time.Duration(s.ForMs) * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if problem := r.read(*s.Read); problem != "" {
				return problem
			}
		}
	case "status":
		return until(within, func() string {
			if status := r.client.Status().String(); status != text(s.Expect) {
				return "the status is " + status
			}
			return ""
		})
	case "event":
		return until(within, func() string { return r.event(s) })
	case "act":
		var answer struct{ Reason string }
		if status := ask(r.t, "POST", "/runs/"+r.ID+"/acts/"+url.PathEscape(s.Name), &answer); status != http.StatusOK {
			return fmt.Sprintf("%d %s", status, answer.Reason)
		}
	case "close":
		r.close()
	case "verdict":
		var verdict struct {
			OK       bool
			Problems []string
		}
		if ask(r.t, "GET", "/runs/"+r.ID+"/verdict", &verdict); !verdict.OK {
			return fmt.Sprintf("%q", verdict.Problems)
		}
	default:
		return "no such step"
	}
	return ""
}

func text(expect json.RawMessage) (text string) {
	_ = json.Unmarshal(expect, &text)
	return text
}

// until tries until there is no problem or the time is up.
func until(within time.Duration, try func() string) string {
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		if problem := try(); problem == "" || !time.Now().Before(end) {
			return problem
		}
	}
}

func (r *run) open(s step) {
	given := s.Options
	options := halyard.Options{
		APIKey: r.APIKey, Environment: r.Environment, BaseURL: r.BaseURL, AllowInsecureHTTP: given.Insecure,
		Bootstrap: given.Bootstrap, DisableUsage: given.ReportUsage != nil && !*given.ReportUsage,
		StateMaxAge: time.Duration(given.StateMaxAgeMs) * time.Millisecond,
		Logger:      slog.New(slog.NewTextHandler(testWriter{r.t}, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for to, from := range map[*string]*string{
		&options.APIKey: given.APIKey, &options.Environment: given.Environment, &options.BaseURL: given.BaseURL,
	} {
		if from != nil {
			port := r.BaseURL[strings.LastIndex(r.BaseURL, ":")+1:]
			*to = strings.NewReplacer("{key}", r.APIKey, "{port}", port).Replace(*from)
		}
	}
	if given.TargetingKey != nil {
		options.Target = halyard.For(*given.TargetingKey)
	}
	if given.StatePath {
		options.StatePath = r.state
	}

	r.close()
	r.client = halyard.New(halyard.Scaled(options, given.TimeScale))
	r.provider = provider.Wrap(r.client)
	if r.flags == nil {
		r.flags = openfeature.NewClient(r.domain)
		for _, kind := range []openfeature.EventType{
			openfeature.ProviderReady, openfeature.ProviderStale, openfeature.ProviderError, openfeature.ProviderConfigChange,
		} {
			hear := func(details openfeature.EventDetails) { r.hear(kind, details) }
			r.flags.AddHandler(kind, &hear)
		}
	}
	r.began = make(chan struct{})
	began := r.began
	go func() {
		_ = openfeature.SetNamedProviderWithContextAndWait(context.Background(), r.domain, r.provider)
		close(began)
	}()
	// An initialization that waits for nothing is over before the next step.
	select {
	case <-began:
	case <-time.After(50 * time.Millisecond):
	}
}

// testWriter puts log lines into the log of a test.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(line []byte) (int, error) {
	defer func() { _ = recover() }() // a line that comes after the test
	w.t.Logf("%s %s", time.Now().Format("05.000"), bytes.TrimSpace(line))
	return len(line), nil
}

func (r *run) ready(expect string, within time.Duration) string {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	result := "bootstrapped"
	err := r.client.Ready(ctx)
	_, isNumbered := r.client.Revision()
	switch {
	case err != nil && r.client.Status() == halyard.Failed:
		result = "failed"
	case errors.Is(err, halyard.Timeout):
		result = "timeout"
	case err != nil:
		result = "failed"
	case isNumbered || r.client.Status() == halyard.Ready || !r.client.Evaluate("").Cached:
		result = "ready"
	}
	if result != expect {
		return fmt.Sprintf("it is %s: %v", result, err)
	}
	select {
	case <-r.began:
		return ""
	case <-ctx.Done():
		return "the initialization has not ended"
	}
}

func (r *run) hear(kind openfeature.EventType, details openfeature.EventDetails) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kinds = append(r.kinds, kind)
	r.events = append(r.events, details)
}

// event takes the first event that is as expected. The SDK calls each handler
// in a goroutine of its own, so their order says nothing.
func (r *run) event(s step) string {
	var expect struct {
		Type string
		Keys []string
	}
	_ = json.Unmarshal(s.Expect, &expect)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, kind := range r.kinds {
		keys := slices.Sorted(slices.Values(r.events[i].FlagChanges))
		slices.Sort(expect.Keys)
		if string(kind) == expect.Type && (expect.Keys == nil || slices.Equal(keys, expect.Keys)) {
			r.kinds, r.events = slices.Delete(r.kinds, i, i+1), slices.Delete(r.events, i, i+1)
			return ""
		}
	}
	return fmt.Sprintf("there were %v %v", r.kinds, r.events)
}

// read reads once, through OpenFeature.
func (r *run) read(s step) string {
	attributes := map[string]any{}
	if s.TargetingKey != nil {
		attributes[openfeature.TargetingKey] = *s.TargetingKey
	}
	began := time.Now()
	found := evaluate(r.flags, s.Type, s.Key, s.Default, openfeature.NewTargetlessEvaluationContext(attributes))
	if took := time.Since(began); took > time.Second {
		return fmt.Sprintf("the read took %v", took)
	}
	var expect map[string]any
	_ = json.Unmarshal(s.Expect, &expect)
	for member, value := range expect {
		if !reflect.DeepEqual(found[member], value) {
			return fmt.Sprintf("%s is %v: %v", member, found[member], found)
		}
	}
	return ""
}

// evaluate reads a flag of any type; the answer is as JSON would have it.
func evaluate(flags *openfeature.Client, kind, key string, standard any, to openfeature.EvaluationContext) map[string]any {
	ctx := context.Background()
	var value any
	var details openfeature.EvaluationDetails
	var err error
	switch kind {
	case "boolean":
		var answer openfeature.BooleanEvaluationDetails
		answer, err = flags.BooleanValueDetails(ctx, key, standard.(bool), to)
		value, details = answer.Value, answer.EvaluationDetails
	case "string":
		var answer openfeature.StringEvaluationDetails
		answer, err = flags.StringValueDetails(ctx, key, standard.(string), to)
		value, details = answer.Value, answer.EvaluationDetails
	case "integer":
		var answer openfeature.IntEvaluationDetails
		answer, err = flags.IntValueDetails(ctx, key, int64(standard.(float64)), to)
		value, details = float64(answer.Value), answer.EvaluationDetails
	case "float":
		var answer openfeature.FloatEvaluationDetails
		answer, err = flags.FloatValueDetails(ctx, key, standard.(float64), to)
		value, details = answer.Value, answer.EvaluationDetails
	default:
		var answer openfeature.InterfaceEvaluationDetails
		answer, err = flags.ObjectValueDetails(ctx, key, standard, to)
		value, details = answer.Value, answer.EvaluationDetails
	}
	// A read that the SDK itself refuses, as while its provider is fatal, has no details, but an error that begins with its code.
	if err != nil && details.Reason == "" {
		details.Reason = openfeature.ErrorReason
		code, _, _ := strings.Cut(err.Error(), ":")
		details.ErrorCode = openfeature.ErrorCode(code)
	}

	found := map[string]any{
		"value": value, "reason": string(details.Reason), "variant": details.Variant,
		"metadata": map[string]any(details.FlagMetadata), "errorCode": nil,
	}
	if details.ErrorCode != "" {
		found["errorCode"] = string(details.ErrorCode)
	}
	return found
}

func (r *run) close() {
	if r.client != nil {
		_ = r.client.Close()
	}
}
