// Command interop is the program of Go's client for interop and for the
// campaign: it reads a step a line as JSON, and answers each with a line.
// interop/README.md of the repository describes the steps.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-feature/go-sdk/openfeature"

	halyard "github.com/halyard-flags/halyard/clients/go"
	"github.com/halyard-flags/halyard/clients/go/provider"
)

type step struct {
	Do            string
	URL           string
	Headers       map[string]string
	Type          string
	Key           string
	Default       any
	TargetingKey  *string
	Attributes    map[string]any
	TargetingKeys []string
	Ms            int
}

type object = map[string]any

var (
	flags  = openfeature.NewDefaultClient()
	client *halyard.Client
	output sync.Mutex
)

func main() {
	// Failures are answers of reads here, and not lines of a log.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	say(object{"provider": "of the repository", "runtime": "Go " + strings.TrimPrefix(runtime.Version(), "go")})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			panic(err)
		}
		switch s.Do {
		case "connect":
			connect(s)
			say(object{})
		case "time":
			say(timeReads(s))
		case "memory":
			say(memory())
		case "watch":
			client.Subscribe(watcher(s.Key))
		case "evaluate":
			say(evaluate(s, s.TargetingKey))
		case "evaluateMany":
			values := []any{}
			for _, key := range s.TargetingKeys {
				values = append(values, evaluate(s, &key)["value"])
			}
			say(object{"values": values})
		default:
			panic("no such step: " + s.Do)
		}
	}
	if client != nil {
		_ = client.Close()
	}
}

// connect sets a new provider for the server, key and environment of a step.
// Reads then say why it has failed, if it has.
func connect(s step) {
	address, err := url.Parse(s.URL)
	if err != nil {
		panic(err)
	}
	options := halyard.Options{BaseURL: address.Scheme + "://" + address.Host, Environment: s.Headers["X-Flags-Environment"]}
	if parts := strings.Split(address.Path, "/"); len(parts) > 2 && parts[1] == "environments" {
		options.Environment = parts[2]
	}
	for name, value := range s.Headers {
		if name != "X-Flags-Environment" {
			options.APIKey = strings.TrimPrefix(value, "Bearer ")
		}
	}
	set := provider.New(options)
	_ = openfeature.SetProviderAndWait(set)
	client = set.Client()
}

// watcher prints a line for the value of now and for each change of a flag.
func watcher(key string) func(halyard.Event) {
	tell := func() {
		revision, _ := client.Revision()
		found := client.Evaluate(key)
		say(object{"key": key, "revision": revision, "enabled": found.On, "value": found.Value})
	}
	tell()
	return func(event halyard.Event) {
		if event.Kind == halyard.FlagsChanged && slices.Contains(event.Changed, key) {
			tell()
		}
	}
}

func evaluate(s step, targetingKey *string) object {
	ctx := context.Background()
	attributes := object{}
	for name, value := range s.Attributes {
		attributes[name] = value
	}
	if targetingKey != nil {
		attributes[openfeature.TargetingKey] = *targetingKey
	}
	user := openfeature.NewTargetlessEvaluationContext(attributes)
	switch s.Type {
	case "boolean":
		answer, err := flags.BooleanValueDetails(ctx, s.Key, s.Default.(bool), user)
		return answerOf(answer.Value, answer.EvaluationDetails, err)
	case "string":
		answer, err := flags.StringValueDetails(ctx, s.Key, s.Default.(string), user)
		return answerOf(answer.Value, answer.EvaluationDetails, err)
	case "integer":
		answer, err := flags.IntValueDetails(ctx, s.Key, int64(s.Default.(float64)), user)
		return answerOf(answer.Value, answer.EvaluationDetails, err)
	case "float":
		answer, err := flags.FloatValueDetails(ctx, s.Key, s.Default.(float64), user)
		return answerOf(answer.Value, answer.EvaluationDetails, err)
	default:
		answer, err := flags.ObjectValueDetails(ctx, s.Key, s.Default, user)
		return answerOf(answer.Value, answer.EvaluationDetails, err)
	}
}

// timeReads reads a boolean again and again, and says how often and how long.
func timeReads(s step) object {
	ctx, user := context.Background(), openfeature.NewEvaluationContext(*s.TargetingKey, nil)
	reads, begun, spent := 0, time.Now(), time.Duration(0)
	for spent < time.Duration(s.Ms)*time.Millisecond {
		for range 100 {
			flags.Boolean(ctx, s.Key, false, user)
		}
		reads += 100
		spent = time.Since(begun)
	}
	return object{"reads": reads, "nanoseconds": spent.Nanoseconds()}
}

// memory says how much is in use on the heap.
func memory() object {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return object{"bytes": stats.HeapAlloc}
}

func answerOf(value any, details openfeature.EvaluationDetails, err error) object {
	// A read that the SDK itself refuses has no details, but an error that begins with its code.
	if err != nil && details.Reason == "" {
		code, _, _ := strings.Cut(err.Error(), ":")
		details.Reason, details.ErrorCode = openfeature.ErrorReason, openfeature.ErrorCode(code)
	}
	answer := object{"value": value, "reason": details.Reason, "metadata": details.FlagMetadata}
	if details.Variant != "" {
		answer["variant"] = details.Variant
	}
	if details.ErrorCode != "" {
		answer["errorCode"] = details.ErrorCode
	}
	return answer
}

func say(answer object) {
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}
