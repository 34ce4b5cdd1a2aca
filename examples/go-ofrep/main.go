// snippet
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	provider := ofrep.NewProvider(
		"http://127.0.0.1:7070/environments/development",
		ofrep.WithApiKeyAuth(os.Getenv("HALYARD_KEY")),
	)
	if err := openfeature.SetProviderAndWait(provider); err != nil {
		log.Fatal(err)
	}
	flags := openfeature.NewDefaultClient()
	user := openfeature.NewEvaluationContext("user-1", nil)
	isOn := flags.Boolean(context.Background(), "dark-mode", false, user)
	fmt.Println("dark-mode", isOn)
}

// end of snippet
