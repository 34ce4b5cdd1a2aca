package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

type step struct {
	Do            string
	URL           string
	Headers       map[string]string
	Type          string
	Key           string
	Default       any
	TargetingKey  string
	Attributes    map[string]any
	TargetingKeys []string
	Ms            int
}

type object = map[string]any

var client = openfeature.NewClient("interop")

func connect(s step) object {
	options := []ofrep.Option{}
	for name, value := range s.Headers {
		options = append(options, ofrep.WithHeader(name, value))
	}
	if err := openfeature.SetProviderAndWait(ofrep.NewProvider(s.URL, options...)); err != nil {
		panic(err)
	}
	return object{}
}

func evaluate(s step, targetingKey string) object {
	ctx := context.Background()
	user := openfeature.NewEvaluationContext(targetingKey, s.Attributes)
	switch s.Type {
	case "boolean":
		answer, _ := client.BooleanValueDetails(ctx, s.Key, s.Default.(bool), user)
		return answerOf(answer.Value, answer.EvaluationDetails)
	case "string":
		answer, _ := client.StringValueDetails(ctx, s.Key, s.Default.(string), user)
		return answerOf(answer.Value, answer.EvaluationDetails)
	case "integer":
		answer, _ := client.IntValueDetails(ctx, s.Key, int64(s.Default.(float64)), user)
		return answerOf(answer.Value, answer.EvaluationDetails)
	case "float":
		answer, _ := client.FloatValueDetails(ctx, s.Key, s.Default.(float64), user)
		return answerOf(answer.Value, answer.EvaluationDetails)
	default:
		answer, _ := client.ObjectValueDetails(ctx, s.Key, s.Default, user)
		return answerOf(answer.Value, answer.EvaluationDetails)
	}
}

// timeReads reads a boolean again and again, and says how often and how long.
func timeReads(s step) object {
	ctx, user := context.Background(), openfeature.NewEvaluationContext(s.TargetingKey, nil)
	reads, begun, spent := 0, time.Now(), time.Duration(0)
	for spent < time.Duration(s.Ms)*time.Millisecond {
		for range 100 {
			client.Boolean(ctx, s.Key, false, user)
		}
		reads += 100
		spent = time.Since(begun)
	}
	return object{"reads": reads, "nanoseconds": spent.Nanoseconds()}
}

func answerOf(value any, details openfeature.EvaluationDetails) object {
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
	fmt.Println(string(text))
}

func main() {
	provider := "unknown"
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if strings.HasSuffix(module.Path, "/providers/ofrep") {
				provider = strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	say(object{"provider": provider, "runtime": "Go " + strings.TrimPrefix(runtime.Version(), "go")})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			panic(err)
		}
		switch s.Do {
		case "connect":
			say(connect(s))
		case "time":
			say(timeReads(s))
		case "evaluate":
			say(evaluate(s, s.TargetingKey))
		default:
			values := []any{}
			for _, key := range s.TargetingKeys {
				values = append(values, evaluate(s, key)["value"])
			}
			say(object{"values": values})
		}
	}
}
