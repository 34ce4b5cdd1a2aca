# snippet
curl -N 'http://127.0.0.1:7070/v1/stream?env=development' \
  -H "X-Service-Key: $HALYARD_KEY"
# end of snippet
