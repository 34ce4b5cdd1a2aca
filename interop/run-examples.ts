import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type FlagState, isInRollout } from '@halyard/protocol';
import { guardProcess, type Management, until, within } from '@halyard/testing';
import { launchBrowser } from '@halyard/testing/browser';
import type { Page } from 'playwright-core';
import { CACHE, toolEnvironment } from './languages.ts';

const ROOT = join(import.meta.dir, '..');
const EXAMPLES = join(ROOT, 'examples');
/** The address in the examples. */
const ADDRESS = 'http://127.0.0.1:7070';

/** The folders of the examples. */
export function exampleNames(): readonly string[] {
  return readdirSync(EXAMPLES)
    .filter((each) => existsSync(join(EXAMPLES, each, 'README.md')))
    .toSorted();
}

/** The commands without which an example is skipped. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  curl: ['curl'],
  go: ['go'],
  'go-ofrep': ['go'],
  java: ['java', 'mvn'],
  'java-ofrep': ['java', 'mvn'],
  javascript: ['node', 'npm'],
  next: ['npm'],
  node: ['npm'],
  python: ['python3'],
  'python-ofrep': ['python3'],
  react: ['npm'],
  web: ['npm'],
  rust: ['cargo'],
};

/** Makes a project like the demo project. Gives its key. */
export async function openDemo(management: Management): Promise<string> {
  await management.createProject('demo');
  return (await management.createKey('demo', ['development'])).key;
}

/**
 * Runs an example in a copy of its folder, with the address of the node in place of the usual one, by the commands of its
 * README, and compares what it prints. Gives why it was skipped, if it was. Rejects with what is wrong.
 */
export async function runExample(
  name: string,
  { management, url, key }: { readonly management: Management; readonly url: string; readonly key: string },
): Promise<string | undefined> {
  const missing = NEEDS[name]?.find((command) => Bun.which(command) === null);
  if (missing !== undefined) return `${missing} is not on this machine`;
  await management.putState('demo', 'development', 'dark-mode', { enabled: true });
  const folder = copyExample(name, url);
  if (name === 'react' || name === 'web') await runPage(folder, key, management);
  else if (name === 'next') await runRenderedPage(folder, key, management);
  else await runProgram(folder, key);
  if (name === 'curl') await followStream(folder, key, management);
  return undefined;
}

/** Copies an example into a folder that looks like the repository, since some examples build the client in it first. */
function copyExample(name: string, url: string): string {
  const mirror = join(CACHE, 'repository');
  mkdirSync(join(mirror, 'examples'), { recursive: true });
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  for (const entry of [
    'package.json',
    'packages',
    'clients',
    'node_modules',
    'dist',
    'bun.lock',
    'tsconfig.json',
    'bunfig.toml',
  ]) {
    if (!existsSync(join(mirror, entry))) symlinkSync(join(ROOT, entry), join(mirror, entry));
  }
  const folder = join(mirror, 'examples', name);
  cpSync(join(EXAMPLES, name), folder, { recursive: true });
  for (const file of readdirSync(join(EXAMPLES, name), { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const copy = join(folder, join(file.parentPath, file.name).slice(join(EXAMPLES, name).length));
    const text = readFileSync(copy, 'utf8');
    if (text.includes(ADDRESS)) writeFileSync(copy, text.replaceAll(ADDRESS, url));
  }
  // What npm remembers of an earlier build of the client.
  rmSync(join(folder, 'package-lock.json'), { force: true });
  rmSync(join(folder, 'node_modules/@halyard'), { recursive: true, force: true });
  return folder;
}

/** The commands of a README, with the key, and what it says they print. */
function readmeOf(folder: string, key: string): { readonly script: string; readonly prints: string } {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const script = /```sh\n([\s\S]*?)```/.exec(readme)?.[1];
  const prints = /^It prints `([^`]+)`/m.exec(readme)?.[1];
  if (script === undefined || prints === undefined)
    throw new Error('its README has no commands or no output');
  return { script: script.replaceAll('proj_live_…', key), prints };
}

/** Starts commands in a process group of their own. `end` ends all of it: a server started by `npx` does not end with that. */
function start(script: string, folder: string) {
  const node = join(ROOT, `node_modules/node-${process.platform}-${process.arch}/bin`);
  const env = toolEnvironment();
  // The client needs a newer Node than some machines have.
  const isOld = Number(/^v(\d+)/.exec(Bun.spawnSync(['node', '--version']).stdout.toString())?.[1]) < 22;
  const path = isOld ? `${node}:${env.PATH}` : env.PATH;
  const child = Bun.spawn(['sh', '-ec', script], {
    cwd: folder,
    env: { ...env, PATH: path ?? '', PORT: '0', NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
  });
  const guard = guardProcess(-child.pid);
  const ended = child.exited.then((code) => {
    guard.release();
    return code;
  });
  const end = async () => {
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch {
      // The group has ended by itself.
    }
    await ended;
  };
  return { stdout: child.stdout, stderr: child.stderr, ended, end };
}

async function runProgram(folder: string, key: string): Promise<void> {
  const { script, prints } = readmeOf(folder, key);
  const child = start(script, folder);
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.ended) !== 0) throw new Error(`it failed:\n${errors}${out}`);
  // Maven writes codes for colors into a pipe, too.
  if (!Bun.stripANSI(out).split('\n').includes(prints))
    throw new Error(`it should print ${prints}, and printed:\n${out}`);
}

async function followStream(folder: string, key: string, management: Management): Promise<void> {
  const child = start(`HALYARD_KEY=${key} sh follow.sh`, folder);
  let text = '';
  const reading = (async () => {
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) text += piece;
  })();
  try {
    await until('the stream sends the map', () => text.includes('data: {"dark-mode":{"enabled":true}}'));
    await management.putState('demo', 'development', 'dark-mode', { enabled: false });
    await until('the stream sends the change', () => text.includes('data: {"dark-mode":{"enabled":false}}'));
  } finally {
    await child.end();
    await reading;
  }
}

async function runPage(folder: string, key: string, management: Management): Promise<void> {
  await withPage(folder, key, async (page, url) => {
    await page.goto(url);
    await page.waitForSelector('text=dark-mode is on');
    await management.putState('demo', 'development', 'dark-mode', { enabled: false });
    await page.waitForSelector('text=dark-mode is off');
  });
}

/** A page that its server renders for one user: what the server decided must stay until the flag changes. */
async function runRenderedPage(folder: string, key: string, management: Management): Promise<void> {
  const put = (state: FlagState) => management.putState('demo', 'development', 'dark-mode', state);
  const half = { enabled: true, rolloutPct: 50 };
  const isInside = (user: string) => isInRollout('dark-mode', user, half.rolloutPct);
  const users = Array.from({ length: 20 }, (_, i) => `user-${i}`);
  const outsider = users.find((user) => !isInside(user)) ?? '';
  await put(half);

  await withPage(folder, key, async (page, url) => {
    for (const user of ['', ...users.map((each) => `?user=${each}`)]) {
      const html = await (await fetch(new URL(user, url))).text();
      const said = `dark-mode is ${user && isInside(user.slice(6)) ? 'on' : 'off'}`;
      if (!html.replaceAll('<!-- -->', '').includes(said))
        throw new Error(`/${user} should say ${said}:\n${html}`);
    }

    const shown: string[] = [];
    await page.exposeFunction('show', (text: string) => shown.push(text));
    await page.addInitScript(`setInterval(() => {
      const text = document.querySelector('p')?.textContent;
      if (text && text !== window.last) window.show(window.last = text);
    }, 1)`);
    await page.goto(new URL(`?user=${outsider}`, url).href);
    await page.waitForResponse((response) => response.url().includes('/v1/stream'));
    // Off for this user before and after; a page that forgot its user would show both changes.
    await put({ enabled: false });
    await put(half);
    await put({ enabled: true });
    await page.waitForSelector('text=dark-mode is on');
    await until('the page has said so', () => shown.at(-1) === 'dark-mode is on');
    if (shown.length !== 2)
      throw new Error(`the page should say off, then on, and said: ${shown.join(', ')}`);
  });
}

/** Starts an example by the commands of its README, and opens a page for it. */
async function withPage(
  folder: string,
  key: string,
  use: (page: Page, url: string) => Promise<void>,
): Promise<void> {
  const { script } = readmeOf(folder, key);
  const child = start(script, folder);
  const errors = new Response(child.stderr).text();
  const browser = await launchBrowser();
  let failure: unknown;
  try {
    const url = await within('the page has an address', addressIn(child.stdout), 300_000);
    await use(await browser.newPage(), url);
  } catch (error) {
    failure = error;
  }
  await browser.close(); // first, as a server may wait for its streams to end
  await child.end();
  if (failure) throw new Error(`${failure}\n${await errors}`);
}

/** The address that a server prints. Reads on until it ends: a server whose output has no reader may end with an error. */
function addressIn(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const read = async () => {
    let text = '';
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const address = /\bhttp:\S+$/m.exec(text)?.[0]; // alone in its line, or after a word
      if (address !== undefined) resolve(address);
    }
    throw new Error(`it ended without an address:\n${text}`);
  };
  read().catch(reject);
  return promise;
}
