package provider_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/open-feature/go-sdk/openfeature"

	halyard "github.com/halyard-flags/halyard/clients/go"
	"github.com/halyard-flags/halyard/clients/go/provider"
)

func Example() {
	flags := provider.New(halyard.Options{APIKey: os.Getenv("HALYARD_KEY"), Environment: "production"})
	if err := openfeature.SetProviderAndWait(flags); err != nil {
		log.Print(err) // reads give defaults until the cause has passed
	}
	defer openfeature.Shutdown()

	client := openfeature.NewDefaultClient()
	user := openfeature.NewEvaluationContext("user-1", nil)
	fmt.Println(client.Boolean(context.Background(), "new-checkout", false, user))
}

func ExampleWrap() {
	client := halyard.New(halyard.Options{
		APIKey: "proj_live_example", Environment: "production", BaseURL: "http://127.0.0.1:1",
		Bootstrap: []byte(`{"page-size": {"enabled": true, "value": 50}}`),
	})
	defer client.Close()
	if err := openfeature.SetNamedProviderAndWait("shop", provider.Wrap(client)); err != nil {
		log.Print(err)
	}

	flags := openfeature.NewClient("shop")
	found, _ := flags.IntValueDetails(context.Background(), "page-size", 10, openfeature.EvaluationContext{})
	fmt.Println(found.Value, found.Variant, found.Reason)
	// Output: 50 on CACHED
}
