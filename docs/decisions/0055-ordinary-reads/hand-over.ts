// Prints what it costs to hand a connection of a `Bun.listen` socket, bytes and all, to a `Bun.serve` behind it: processor time
// of a small answer in microseconds, median of some rounds in turns. Run with `bun`; it loads itself for half a minute.
import type { Socket, TCPSocketListener } from 'bun';

const ROUNDS = 7;
const SECONDS = 0.7;
const CONNECTIONS = 8;
const UNIX = { unix: `\0hand-over-${crypto.randomUUID()}` };
const HOST = { hostname: '127.0.0.1', port: 0 };

if (process.argv[2] === 'load') await load(Number(process.argv[3]), process.argv[4] === 'new');
else await measure();

async function measure(): Promise<void> {
  const answers = { fetch: () => Response.json({ status: 'ok' }) };
  const direct = Bun.serve({ ...HOST, ...answers });
  const behind = Bun.serve({ ...UNIX, ...answers });
  const places = {
    'Bun.serve': direct.port ?? 0,
    'handed over through a Unix socket': handOver(UNIX).port,
    'handed over through TCP, which can carry the address': handOver({ ...HOST, port: direct.port ?? 0 })
      .port,
  };

  const times = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const life of ['kept', 'new']) {
      for (const [name, port] of Object.entries(places)) {
        const before = process.cpuUsage();
        const child = Bun.spawn([process.execPath, import.meta.path, 'load', String(port), life]);
        const requests = Number(await new Response(child.stdout).text());
        const { user, system } = process.cpuUsage(before);
        const what = `${life} connections, ${name}`;
        // The first round compiles.
        if (round > 0) times.set(what, [...(times.get(what) ?? []), (user + system) / requests]);
      }
    }
  }

  for (const [what, all] of [...times].sort()) {
    const median = all.sort((a, b) => a - b)[all.length >> 1] ?? Number.NaN;
    process.stdout.write(`${median.toFixed(1).padStart(6)} µs  ${what}\n`);
  }
  await behind.stop(true);
  process.exit(0);
}

/** Back-pressure is left out: the requests and answers are small. */
function handOver(place: typeof UNIX | typeof HOST): TCPSocketListener<Promise<Socket>> {
  return Bun.listen<Promise<Socket>>({
    ...HOST,
    socket: {
      open(outer) {
        const socket = {
          data: (_inner: Socket, bytes: Uint8Array) => void outer.write(bytes),
          close: () => void outer.end(),
        };
        // One of the two kinds of places; the types know each alone.
        outer.data = Bun.connect({ ...(place as typeof UNIX), socket });
      },
      data: (outer, bytes) => void outer.data.then((inner) => inner.write(bytes)),
      close: (outer) => void outer.data.then((inner) => inner.end()),
    },
  });
}

async function load(port: number, isNew: boolean): Promise<void> {
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
  let requests = 0;
  const open = (): unknown =>
    Bun.connect({
      ...HOST,
      port,
      socket: {
        open: (socket) => void socket.write(request),
        data(socket) {
          requests++;
          if (!isNew) return void socket.write(request);
          socket.end();
          open();
        },
      },
    });
  for (let n = 0; n < CONNECTIONS; n++) open();
  await Bun.sleep(SECONDS * 1000);
  process.stdout.write(String(requests));
  process.exit(0);
}
