// Prints what the parts of a request cost in Bun.serve, in nanoseconds: the first look at its headers, each further
// one, its address, and an answer with and without header fields. Run with `bun`; it loads itself for three seconds.
const SECONDS = 3;
const CONNECTIONS = 16;

const body = new TextEncoder().encode('{"environment":"production","key":"new-checkout","enabled":true}');
const fields = new Headers({
  'Content-Type': 'application/json',
  'Cache-Control': 'private, no-cache',
  Vary: 'X-Service-Key',
  ETag: '"0123456789abcdef0123456789abcdef"',
  'X-Request-Id': 'abcdef12-1',
});

if (process.argv[2] === 'load') await load(Number(process.argv[3]));
else await measure();

async function measure(): Promise<void> {
  const times = new Map<string, number[]>();
  let kept: unknown;
  const time = (name: string, part: () => unknown) => {
    const start = Bun.nanoseconds();
    kept = part();
    const taken = Bun.nanoseconds() - start;
    times.get(name)?.push(taken) ?? times.set(name, [taken]);
  };

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    routes: {
      '/flags/:key': (request) => {
        time('nothing (the clock itself)', () => kept);
        time('request.headers, first', () => request.headers);
        time('headers.get, a field that is there', () => request.headers.get('X-Service-Key'));
        time('headers.get, a field that is not', () => request.headers.get('If-None-Match'));
        time('request.url, first', () => request.url);
        time('new Response(bytes)', () => new Response(body));
        time('new Response(bytes, { headers })', () => new Response(body, { headers: fields }));
        return kept as Response; // the last part
      },
    },
  });

  const child = Bun.spawn([process.execPath, import.meta.path, 'load', String(server.port)]);
  await child.exited;
  await server.stop(true);
  for (const [name, all] of times) {
    // The first requests ran before the code was compiled.
    const sorted = all.slice(all.length / 4).sort((a, b) => a - b);
    process.stdout.write(`${String(sorted[sorted.length >> 1]).padStart(6)} ns  ${name}\n`);
  }
}

async function load(port: number): Promise<void> {
  const request = `GET /flags/new-checkout?env=production HTTP/1.1\r\nHost: localhost:${port}\r\nX-Service-Key: ${'k'.repeat(58)}\r\n\r\n`;
  const ask = (socket: Bun.Socket) => void socket.write(request);
  for (let n = 0; n < CONNECTIONS; n++)
    await Bun.connect({ port, hostname: '127.0.0.1', socket: { open: ask, data: ask } });
  await Bun.sleep(SECONDS * 1000);
  process.exit();
}
