// The flags of a node in flagd's own core: its HTTP source, its store and its evaluator, without the ports of the daemon.
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

	"github.com/open-feature/flagd/core/pkg/evaluator"
	"github.com/open-feature/flagd/core/pkg/logger"
	"github.com/open-feature/flagd/core/pkg/model"
	"github.com/open-feature/flagd/core/pkg/store"
	"github.com/open-feature/flagd/core/pkg/sync"
	"github.com/open-feature/flagd/core/pkg/sync/http"
	"go.uber.org/zap"
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
}

type object = map[string]any

var log = logger.NewLogger(zap.NewNop(), false)

// everySecond is how often the source asks. The daemon takes the interval from its configuration.
type everySecond struct{}

func (everySecond) Start(ctx context.Context, ask func()) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			ask()
		}
	}
}

func (everySecond) Offset() uint32 { return 0 }

var (
	flags *evaluator.JSON
	stop  = func() {}
)

// connect follows a source as `flagd start --sources` does; where the daemon would not start, the answer says so.
func connect(s step) object {
	stop()
	config := sync.SourceConfig{URI: s.URL, Provider: "http", Headers: s.Headers, TimeoutS: 10}
	source := http.NewHTTP(config, log, everySecond{}, 1)
	memory, err := store.NewStore(log, []string{s.URL})
	must(err)
	flags = evaluator.NewJSON(log, memory)

	ctx, cancel := context.WithCancel(context.Background())
	stop = cancel
	updates := make(chan sync.DataSync)
	failed := make(chan error, 1)
	go func() { failed <- source.Sync(ctx, updates) }()
	select {
	case err := <-failed:
		return object{"failed": err.Error()}
	case first := <-updates:
		if err := flags.SetState(first); err != nil {
			return object{"failed": err.Error()}
		}
	}

	go func(flags *evaluator.JSON) {
		for {
			select {
			case <-ctx.Done():
				return
			case update := <-updates:
				// What flagd refuses leaves its flags as they were.
				_ = flags.SetState(update)
			}
		}
	}(flags)
	return object{}
}

func evaluate(s step, targetingKey *string) object {
	ctx := context.Background()
	user := object{}
	for name, value := range s.Attributes {
		user[name] = value
	}
	if targetingKey != nil {
		user["targetingKey"] = *targetingKey
	}
	switch s.Type {
	case "boolean":
		value, variant, reason, metadata, err := flags.ResolveBooleanValue(ctx, "", s.Key, user)
		return s.answer(value, variant, reason, metadata, err)
	case "string":
		value, variant, reason, metadata, err := flags.ResolveStringValue(ctx, "", s.Key, user)
		return s.answer(value, variant, reason, metadata, err)
	case "integer":
		value, variant, reason, metadata, err := flags.ResolveIntValue(ctx, "", s.Key, user)
		return s.answer(value, variant, reason, metadata, err)
	case "float":
		value, variant, reason, metadata, err := flags.ResolveFloatValue(ctx, "", s.Key, user)
		return s.answer(value, variant, reason, metadata, err)
	default:
		value, variant, reason, metadata, err := flags.ResolveObjectValue(ctx, "", s.Key, user)
		return s.answer(value, variant, reason, metadata, err)
	}
}

// answer gives the caller's default where flagd has no value, as its providers do.
func (s step) answer(value any, variant, reason string, metadata model.Metadata, err error) object {
	if err != nil {
		return object{"value": s.Default, "errorCode": err.Error()}
	}
	if reason == model.DisabledReason || reason == model.FallbackReason {
		value = s.Default
	}
	return object{"value": value, "variant": variant, "reason": reason, "metadata": metadata}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func say(answer object) {
	text, err := json.Marshal(answer)
	must(err)
	fmt.Println(string(text))
}

func main() {
	provider := "unknown"
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if strings.HasSuffix(module.Path, "/flagd/core") {
				provider = strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	say(object{"provider": provider, "runtime": "Go " + strings.TrimPrefix(runtime.Version(), "go")})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s step
		must(json.Unmarshal(lines.Bytes(), &s))
		switch s.Do {
		case "connect":
			say(connect(s))
		case "evaluate":
			say(evaluate(s, s.TargetingKey))
		default:
			values := []any{}
			for _, key := range s.TargetingKeys {
				values = append(values, evaluate(s, &key)["value"])
			}
			say(object{"values": values})
		}
	}
}
