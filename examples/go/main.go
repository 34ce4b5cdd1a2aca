// snippet
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

// read returns the value of a flag for a user, or the fallback if the flag has no value of that type.
func read[T any](flag, user string, fallback T) T {
	context, _ := json.Marshal(map[string]any{"context": map[string]string{"targetingKey": user}})
	url := "http://127.0.0.1:7070/environments/development/ofrep/v1/evaluate/flags/" + flag
	request, err := http.NewRequest("POST", url, bytes.NewReader(context))
	if err != nil {
		return fallback
	}
	request.Header.Set("X-API-Key", os.Getenv("HALYARD_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fallback
	}
	defer response.Body.Close()
	var answer struct{ Value any }
	if response.StatusCode != http.StatusOK || json.NewDecoder(response.Body).Decode(&answer) != nil {
		return fallback
	}
	if value, isType := answer.Value.(T); isType {
		return value
	}
	return fallback
}

func main() {
	fmt.Println("dark-mode", read("dark-mode", "user-1", false))
}

// end of snippet
