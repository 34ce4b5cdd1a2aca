/*
 * A bare loop: the least that answers and frames of this size cost on this kernel.
 * loop FOLDER PORT answers GET /one and GET /all with the bytes of the files `one` and `all`, GET /stream with `stream`,
 * and POST /change by sending `frame` to every stream.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 65536
static struct bytes { char *at; size_t count; } one, all, stream, frame;
static const char changed[] = "HTTP/1.1 204 No Content\r\n\r\n";
static int streams[MOST], open_streams, is_stream[MOST];

static struct bytes file(const char *name) {
  struct stat about;
  struct bytes bytes = {0, 0};
  int in = open(name, O_RDONLY);
  if (in < 0 || fstat(in, &about) < 0) return bytes;
  bytes.at = malloc(about.st_size);
  bytes.count = read(in, bytes.at, about.st_size);
  close(in);
  return bytes;
}

/* Sockets block: a reader that is late makes the loop wait, as it has nothing else to do. */
static int put(int to, const char *at, size_t count) {
  while (count > 0) {
    ssize_t sent = send(to, at, count, MSG_NOSIGNAL);
    if (sent < 0) return -1;
    at += sent;
    count -= sent;
  }
  return 0;
}

static void forget(int reader) {
  for (int i = 0; is_stream[reader] && i < open_streams; i++)
    if (streams[i] == reader) streams[i] = streams[--open_streams];
  is_stream[reader] = 0;
  close(reader);
}

static void answer(int from, const char *request) {
  struct bytes *bytes = &one;
  if (request[0] == 'P') {
    for (int i = 0; i < open_streams; i++) put(streams[i], frame.at, frame.count);
    put(from, changed, sizeof changed - 1);
    return;
  }
  if (!strncmp(request, "GET /all", 8)) bytes = &all;
  if (!strncmp(request, "GET /stream", 11)) {
    bytes = &stream;
    is_stream[from] = 1;
    streams[open_streams++] = from;
  }
  put(from, bytes->at, bytes->count);
}

int main(int count, char **arguments) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  struct epoll_event ready[512], event = {.events = EPOLLIN};
  char request[65536];
  int on = 1, poll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM, 0);
  if (count < 3 || chdir(arguments[1])) return 2;
  one = file("one"), all = file("all"), stream = file("stream"), frame = file("frame");

  address.sin_port = htons(atoi(arguments[2]));
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)) return 1;
  event.data.fd = listener;
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);

  for (;;) {
    int many = epoll_wait(poll, ready, 512, -1);
    for (int i = 0; i < many; i++) {
      int from = ready[i].data.fd;
      if (from == listener) {
        event.data.fd = accept4(listener, 0, 0, SOCK_CLOEXEC);
        if (event.data.fd < 0 || event.data.fd >= MOST) continue;
        setsockopt(event.data.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
        continue;
      }
      ssize_t got = recv(from, request, sizeof request - 1, 0);
      if (got <= 0) {
        forget(from);
        continue;
      }
      request[got] = 0;
      answer(from, request);
    }
  }
}
