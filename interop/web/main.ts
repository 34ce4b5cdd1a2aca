import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { launchBrowser } from '@halyard/testing/browser';
import provider from '../../node_modules/@openfeature/ofrep-web-provider/package.json' with { type: 'json' };

// The page's server passes everything else on to the node, so that the page needs no rule for other origins.
let node = '';
/** How often each status answered a request for all flags. */
const statuses: Record<string, number> = {};
const script = await Bun.build({ entrypoints: [join(import.meta.dir, 'page.mjs')], target: 'browser' });
const code = await script.outputs[0]?.text();
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname === '/')
      return html('<!doctype html><link rel=icon href=data:,><script type=module src=/page.js></script>');
    if (pathname === '/page.js')
      return new Response(code, { headers: { 'Content-Type': 'text/javascript' } });
    const { method, headers, body, signal } = request;
    const init = { method, headers, body, signal, decompress: false }; // the bytes as they came, as their headers say
    const response = await fetch(node + pathname + search, init);
    if (method === 'POST') statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    return response;
  },
});

function html(text: string): Response {
  return new Response(text, { headers: { 'Content-Type': 'text/html; charset=utf-8' } });
}

function answer(data: unknown): void {
  process.stdout.write(`${JSON.stringify(data)}\n`);
}

const browser = await launchBrowser();
try {
  const page = await browser.newPage();
  await page.goto(server.url.href);
  await page.waitForFunction('window.ask');
  answer({ provider: provider.version, runtime: `Chromium ${browser.version()}` });
  for await (const line of createInterface({ input: process.stdin })) {
    const step = JSON.parse(line);
    if (step.do === 'connect') {
      const url = new URL(step.url);
      node = url.origin;
      step.path = url.pathname.replace(/\/$/, '');
    }
    answer(step.do === 'statuses' ? statuses : await page.evaluate(`ask(${JSON.stringify(step)})`));
  }
} finally {
  await browser.close();
  await server.stop(true);
}
