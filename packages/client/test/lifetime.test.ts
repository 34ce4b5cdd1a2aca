import { expect, test } from 'bun:test';

const PROGRAM = `
import { createClient } from '${import.meta.dir}/../src/index.ts';
const flags = createClient({ apiKey: 'proj_live_x', environment: 'production', onError: () => {}, logger: null });
await flags.ready();
const print = () => console.log(flags.getValue('a', 'none'));
print();
flags.onChange(print);
`;

/** Runs the program with a server, and gives its output piece by piece. */
function start(url: string) {
  const child = Bun.spawn([process.execPath, '-e', PROGRAM], {
    env: { ...process.env, HALYARD_URL: url },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return { child, output: child.stdout.pipeThrough(new TextDecoderStream()).getReader() };
}

function streamOf(value: string, ends: boolean): Response {
  const frame = `data: {"a":{"enabled":true,"value":"${value}"}}\n\n`;
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(frame);
      if (ends) controller.close();
    },
  });
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
}

test('a program whose stream was lost stays for the next one, with nothing else to keep it', async () => {
  let streams = 0;
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      if (!url.includes('/v1/stream') || [2, 3].includes(++streams))
        return new Response(null, { status: 500 });
      return streamOf(streams === 1 ? 'before' : 'after', streams === 1);
    },
  });
  const { child, output } = start(`http://127.0.0.1:${server.port}`);
  try {
    expect((await output.read()).value).toBe('before\n');
    expect((await output.read()).value).toBe('after\n');
  } finally {
    child.kill();
    await child.exited;
  }
}, 60_000);

test('a program that never had a stream ends', async () => {
  const refused = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const { port } = refused;
  await refused.stop(true);
  const { child, output } = start(`http://127.0.0.1:${port}`);
  expect((await output.read()).value).toBe('none\n');
  expect(await child.exited).toBe(0);
}, 60_000);
