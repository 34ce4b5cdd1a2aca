// snippet
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	halyard "github.com/halyard-flags/halyard/clients/go"
	"github.com/halyard-flags/halyard/clients/go/provider"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	err := openfeature.SetProviderAndWait(provider.New(halyard.Options{
		BaseURL:     "http://127.0.0.1:7070",
		APIKey:      os.Getenv("HALYARD_KEY"),
		Environment: "development",
	}))
	if err != nil {
		log.Print(err) // reads give defaults until the cause has passed
	}
	flags := openfeature.NewDefaultClient()
	user := openfeature.NewEvaluationContext("user-1", nil)
	isOn := flags.Boolean(context.Background(), "dark-mode", false, user)
	fmt.Println("dark-mode", isOn)
}

// end of snippet
