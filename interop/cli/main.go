package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"halyard/interop/cli/flags"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	provider := ofrep.NewProvider(os.Getenv("BASE_URL"), ofrep.WithApiKeyAuth(os.Getenv("HALYARD_KEY")))
	if err := openfeature.SetProviderAndWait(provider); err != nil {
		panic(err)
	}
	ctx := context.Background()
	user := openfeature.NewEvaluationContext("user-4", nil)
	values, err := json.Marshal([]any{
		flags.Half.Value(ctx, user),
		flags.Text.Value(ctx, user),
		flags.Integer.Value(ctx, user),
		flags.Float.Value(ctx, user),
		flags.Object.Value(ctx, user),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(values))
}
