import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { guardProcess, within } from '@halyard/testing';

const MODULE = join(import.meta.dir, 'stop-signals.ts');

/** Runs `start` under `untilStopped` in a process of its own; its first line on standard output is `ready`. */
function runProgram(start: string) {
  const program = `
    import { untilStopped } from ${JSON.stringify(MODULE)};
    const shell = { writeError: (text) => void process.stderr.write(text) };
    await untilStopped(shell, async () => {
      const node = (${start})();
      setTimeout(() => console.log('ready'));
      return node;
    });
    console.log('stopped');
    setInterval(() => {}, 1000);
  `;
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe', stderr: 'pipe' });
  const guard = guardProcess(child.pid);
  void child.exited.then(() => guard.release());
  return child;
}

async function firstText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const { value } = await within('the program writes', reader.read());
  reader.releaseLock();
  return new TextDecoder().decode(value);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`a second ${signal} ends a process at once that is still stopping`, async () => {
    const child = runProgram('() => ({ closed: new Promise(() => {}), stop: () => new Promise(() => {}) })');
    expect(await firstText(child.stdout)).toBe('ready\n');
    child.kill(signal);
    expect(await firstText(child.stderr)).toBe(`${signal}: stopping. Once more ends it at once.\n`);
    // Signals within a second count as one, so this one is repeated until it counts as another.
    const again = setInterval(() => child.kill(signal), 100);
    expect(await within('the program ends', child.exited)).toBe(1);
    clearInterval(again);
  }, 30_000);

  test(`${signal} that a wrapper passes on a second time does not end the process at once`, async () => {
    const child = runProgram(`() => {
      const closed = Promise.withResolvers();
      process.on('SIGUSR2', () => closed.resolve());
      return { closed: closed.promise, stop: () => closed.promise };
    }`);
    expect(await firstText(child.stdout)).toBe('ready\n');
    child.kill(signal);
    expect(await firstText(child.stderr)).toBe(`${signal}: stopping. Once more ends it at once.\n`);
    child.kill(signal);
    child.kill('SIGUSR2');
    expect(await within('the program ends', child.exited)).toBe(0);
  }, 30_000);
}

test('one signal stops in order, and what was left running does not keep the process', async () => {
  const child = runProgram(`() => {
    const closed = Promise.withResolvers();
    return { closed: closed.promise, stop: async () => closed.resolve() };
  }`);
  expect(await firstText(child.stdout)).toBe('ready\n');
  child.kill('SIGTERM');
  expect(await within('the program ends', child.exited)).toBe(0);
  expect(await firstText(child.stdout)).toBe('stopped\n');
}, 30_000);

test('a stop that fails is said, and ends the process with 1', async () => {
  const child = runProgram(`() => ({
    closed: new Promise(() => {}),
    stop: async () => { throw new Error('the disk is gone'); },
  })`);
  expect(await firstText(child.stdout)).toBe('ready\n');
  child.kill('SIGTERM');
  expect(await within('the program ends', child.exited)).toBe(1);
  expect(await new Response(child.stderr).text()).toContain('error: Stopping failed: the disk is gone\n');
}, 30_000);
