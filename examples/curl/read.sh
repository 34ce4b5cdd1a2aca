# snippet
curl 'http://127.0.0.1:7070/v1/flags/dark-mode?env=development' \
  -H "X-Service-Key: $HALYARD_KEY"
# end of snippet

echo

# snippet: evaluate
curl 'http://127.0.0.1:7070/environments/development/ofrep/v1/evaluate/flags/dark-mode' \
  -H "X-API-Key: $HALYARD_KEY" -H 'Content-Type: application/json' \
  -d '{"context":{"targetingKey":"user-1"}}'
# end of snippet

echo
