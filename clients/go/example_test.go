package halyard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	halyard "github.com/halyard-flags/halyard/clients/go"
)

func Example() {
	flags := halyard.New(halyard.Options{APIKey: os.Getenv("HALYARD_KEY"), Environment: "production"})
	defer flags.Close()
	if err := flags.Ready(context.Background()); err != nil {
		slog.Warn("starting with defaults", "error", err)
	}
	if flags.Enabled("new-checkout", halyard.For("user-1")) {
		fmt.Println("new checkout")
	}
}

// offline is a client that answers with a bootstrap.
func offline() *halyard.Client {
	return halyard.New(halyard.Options{
		APIKey: "proj_live_example", Environment: "production", BaseURL: "http://127.0.0.1:1", Logger: quiet,
		Bootstrap: []byte(`{"page-size": {"enabled": true, "value": 50}, "new-checkout": {"enabled": true, "rolloutPct": 50}}`),
	})
}

func ExampleValue() {
	flags := offline()
	defer flags.Close()
	fmt.Println(halyard.Value(flags, "page-size", 10))
	fmt.Println(halyard.Value(flags, "page-size", "a text"))
	// Output:
	// 50
	// a text
}

func ExampleClient_Evaluate() {
	flags := offline()
	defer flags.Close()
	result := flags.Evaluate("new-checkout", halyard.For("user-2"))
	fmt.Println(result.On, result.Reason, result.Stale)
	// Output: true split true
}

func ExampleClient_Ready() {
	flags := halyard.New(halyard.Options{Environment: "production", Logger: quiet})
	defer flags.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := flags.Ready(ctx)
	fmt.Println(errors.Is(err, halyard.InvalidOptions), err)
	// Output: true halyard: invalid_options: the client needs a valid APIKey (proj_live_...)
}

func ExampleClient_Subscribe() {
	flags := offline()
	stop := flags.Subscribe(func(event halyard.Event) {
		switch event.Kind {
		case halyard.StatusChanged:
			fmt.Println("status", event.Status)
		case halyard.FlagsChanged:
			fmt.Println("changed", event.Changed)
		}
	})
	stop()
	_ = flags.Close()
}
