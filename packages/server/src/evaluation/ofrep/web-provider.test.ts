import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import {
  lastingPort,
  Management,
  type NodeProcess,
  startNode,
  temporaryFolder,
  until,
} from '@halyard/testing';
import { launchBrowser } from '@halyard/testing/browser';
import type { Browser, Page } from 'playwright-core';

setDefaultTimeout(120_000);

const PREFIX = '/halyard';

const folder = temporaryFolder();
const port = lastingPort();
let node: NodeProcess;
let management: Management;
let key: string;
let browser: Browser;
let site: Bun.Server<undefined>;

/** The node, on the same port and the same data each time. Pages of the site may read from it. */
const start = () =>
  startNode({
    dataFolder: folder.path,
    adminToken: node?.adminToken,
    arguments: ['--port', String(port), '--trust-proxy', '--cors-origins', site.url.origin],
  });

beforeAll(async () => {
  browser = await launchBrowser();
  const script = await Bun.build({
    entrypoints: [join(import.meta.dir, 'test-page.mjs')],
    target: 'browser',
  });
  const code = (await script.outputs[0]?.text()) ?? '';
  site = serveSite(code);
  node = await start();
  management = new Management(node);
  await management.createProject('shop');
  ({ key } = await management.createKey('shop', ['production', 'staging']));
  await show('first');
}, 120_000);

afterAll(async () => {
  await browser.close();
  await site.stop(true);
  await node.stop();
  folder.remove();
});

/** A site with the page, and with the node below a path of its own, as a reverse proxy would have it. */
function serveSite(code: string): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search, searchParams } = new URL(request.url);
      if (pathname.startsWith(`${PREFIX}/`)) {
        const headers = new Headers(request.headers);
        headers.set('X-Forwarded-Prefix', PREFIX);
        const address = `http://127.0.0.1:${port}${pathname.slice(PREFIX.length)}${search}`;
        const { method, signal } = request;
        const body = method === 'POST' ? { body: await request.text() } : {};
        return await fetch(address, { method, headers, signal, decompress: false, ...body }).catch(
          () => new Response(null, { status: 502 }),
        );
      }
      if (pathname === '/page.js')
        return new Response(code, { headers: { 'Content-Type': 'text/javascript' } });
      if (pathname !== '/') return new Response(null, { status: 404 });
      const settings = JSON.stringify({ baseUrl: searchParams.get('base'), key });
      return new Response(
        `<!doctype html><link rel=icon href=data:,><p id=flag></p><script>settings=${settings}</script><script type=module src=/page.js></script>`,
        { headers: { 'Content-Type': 'text/html; charset=utf-8' } },
      );
    },
  });
}

/** Changes the flag through the management API; the change is committed when this resolves. */
async function show(value: string): Promise<void> {
  await management.putState('shop', 'production', 'banner', { enabled: true, value });
}

/** A page whose provider has this base address, with what it asked the node for. */
async function openPage(base: string): Promise<{ page: Page; reads: string[]; streams: string[] }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const [reads, streams]: [string[], string[]] = [[], []];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.endsWith('/evaluate/flags') && request.method() === 'POST')
      reads.push(`${pathname}${search}`);
    if (pathname.endsWith('/stream')) streams.push(`${pathname}${search}`);
  });
  await page.goto(`${site.url.origin}/?base=${encodeURIComponent(base)}`);
  return { page, reads, streams };
}

/** Waits for longer than the provider's backoff on a machine where a restart takes long. */
async function untilShown(page: Page, value: string): Promise<void> {
  await page.waitForFunction(
    `document.querySelector('#flag')?.textContent === ${JSON.stringify(value)}`,
    undefined,
    { polling: 'raf', timeout: 45_000 },
  );
}

/** Waits until the node has this many streams open. */
async function untilOpen(streams: number): Promise<void> {
  await until(`${streams} streams are open`, async () => {
    const metrics = await (await fetch(`${node.url}/metrics`)).text();
    return metrics.includes(`halyard_streams_open ${streams}\n`);
  });
}

describe('a page with the published OFREP provider', () => {
  test('shows each change because of one event, behind a proxy with a path prefix', async () => {
    const { page, reads, streams } = await openPage(`${site.url.origin}${PREFIX}/environments/production`);
    await untilShown(page, 'first');
    await untilOpen(1);
    const path = `${PREFIX}/environments/production/ofrep/v1`;
    expect(streams).toEqual([expect.stringMatching(new RegExp(`^${path}/stream\\?ticket=`))]);
    // The first event makes it read once more, as it cannot know what happened before the stream was open.
    await until('the event of the opening', () => reads.length === 2);
    for (const value of ['second', 'third', 'fourth']) {
      await show(value);
      await untilShown(page, value);
    }
    // One read for each event, with its tag, and none besides; one stream, although the answers have addresses.
    expect(reads.slice(2)).toEqual(
      [2, 3, 4].map((revision) => `${path}/evaluate/flags?flagConfigEtag=%22${revision}%22`),
    );
    expect(streams).toHaveLength(1);
    await page.context().close();
    await untilOpen(0);
  });

  test('recovers after the node has been restarted, and learns of the change that it missed', async () => {
    await show('before');
    const { page } = await openPage(`${node.url}/environments/production`);
    await untilShown(page, 'before');
    await untilOpen(1);
    await node.stop();
    node = await start();
    // Before the page is back.
    await show('missed');
    await untilShown(page, 'missed');
    await untilOpen(1);
    await show('after');
    await untilShown(page, 'after');
    await page.context().close();
    await untilOpen(0);
  });

  test('comes back with a new address when the ticket that it kept has ended', async () => {
    await show('kept');
    const { page, streams } = await openPage(`${node.url}/environments/production`);
    await untilShown(page, 'kept');
    await untilOpen(1);
    // What the browser has kept since an earlier hour: the tag of then, and an address with a ticket that has ended.
    await page.evaluate(() => {
      // It runs in the page, whose globals the types of Bun lack.
      const { localStorage } = globalThis as unknown as { localStorage: Record<string, string> };
      for (const [name, text] of Object.entries(localStorage)) {
        const entry = JSON.parse(text);
        const [stream] = entry.eventStreams;
        stream.endpoint.requestUri = stream.endpoint.requestUri.replace(/\.(\d+)\./, '.1700000000000.');
        localStorage[name] = JSON.stringify({ ...entry, etag: '"of-another-hour"' });
      }
    });
    streams.length = 0;
    await page.reload();
    await untilShown(page, 'kept');
    await until('the page has a new address', () => streams.length === 2);
    expect(streams[0]).toContain('.1700000000000.');
    expect(streams[1]).not.toContain('.1700000000000.');
    await untilOpen(1);
    await show('new');
    await untilShown(page, 'new');
    await page.context().close();
    await untilOpen(0);
  });

  test('leaves no ticket and no key in the log of the node', () => {
    expect(node.logs()).not.toContain('ticket=');
    expect(node.logs()).not.toContain(key);
  });
});
