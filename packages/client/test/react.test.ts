import { expect, test } from 'bun:test';
import { createElement, StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { observeReads } from '../src/index.ts';
import {
  FlagsProvider,
  useFlag,
  useFlagEvaluation,
  useFlags,
  useFlagsStatus,
  useFlagValue,
} from '../src/react.ts';
import { createTestClient } from '../src/testing.ts';
import { harness } from './support/harness.ts';

function Page() {
  const isOn = useFlag('new-checkout');
  const size = useFlagValue('size', 10);
  const { reason, stale } = useFlagEvaluation('size', 10);
  const age = stale ? 'old' : 'fresh';
  return createElement('p', null, `${isOn ? 'new' : 'old'} ${size} ${reason} ${age} ${useFlagsStatus()}`);
}

const render = (client: Parameters<typeof FlagsProvider>[0]['client']) =>
  renderToString(
    createElement(StrictMode, null, createElement(FlagsProvider, { client }, createElement(Page))),
  );

test('a server renders from its client', () => {
  const client = createTestClient({ flags: { 'new-checkout': true, size: { enabled: true, value: 25 } } });
  expect(render(client)).toContain('new 25 static');
});

test('a server renders from a bootstrap without any request, and so does the first rendering of a page', async () => {
  const bootstrap = { environment: 'production', flags: { 'new-checkout': { enabled: true } } };
  const { client, server } = harness({ bootstrap, mode: 'manual' });
  const html = render(client);
  expect(html).toContain('new 10');
  expect(html).toContain('old stale');
  expect(server.requests).toHaveLength(0);
  // The page’s own load has moved on before it was hydrated: the first rendering still agrees with the server’s.
  server.flags = {};
  await client.refresh();
  expect(client.isEnabled('new-checkout')).toBe(false);
  expect(client.status).toBe('ready');
  expect(render(client)).toBe(html);
});

test('a server without a bootstrap renders that the client is connecting, whatever it has loaded', async () => {
  const { client } = harness({ mode: 'manual' });
  expect(render(client)).toContain(' connecting');
  await client.ready();
  expect(render(client)).toContain(' connecting');
});

test('a client that could not load renders the defaults', async () => {
  const { client, server } = harness({ mode: 'manual' });
  server.fail();
  await client.ready();
  expect(render(client)).toContain('old 10 error');
});

function Reads({ own, shown }: { readonly own?: string; readonly shown: unknown[] }) {
  const options = own === undefined ? undefined : { targetingKey: own };
  shown.push([
    useFlag('new-checkout', options),
    useFlagValue('new-checkout', 'old', options),
    useFlagEvaluation('new-checkout', 'old', options).enabled,
    useFlags(options)['new-checkout'],
  ]);
  return null;
}

test('whom hooks read for is said by their options, else by the provider, else by the client', () => {
  const flags = { 'new-checkout': { enabled: true, value: 'new', rolloutPct: 51.93 } };
  const client = createTestClient({ flags, targetingKey: 'user-3' });
  const shown: unknown[] = [];
  const tree = (targetingKey?: string, own?: string) =>
    renderToString(
      createElement(
        FlagsProvider,
        { client, targetingKey },
        createElement(Reads, { shown, ...(own !== undefined && { own }) }),
      ),
    );
  tree();
  tree('user-1');
  tree('user-1', 'user-3');
  const on = [true, 'new', true, { enabled: true, value: 'new' }];
  const off = [false, 'old', false, { enabled: false }];
  expect(shown).toEqual([off, on, off]);
});

function AllFlags() {
  return createElement('p', null, JSON.stringify(useFlags()));
}

test('all flags of a page are those of its bootstrap until it is hydrated', async () => {
  const bootstrap = { environment: 'production', flags: { a: { enabled: true } } };
  const { client, server } = harness({ bootstrap, mode: 'manual' });
  server.flags = { b: { enabled: true } };
  await client.refresh();
  const html = renderToString(createElement(FlagsProvider, { client }, createElement(AllFlags)));
  expect(html.replaceAll('&quot;', '"')).toBe('<p>{"a":{"enabled":true}}</p>');
});

function KillSwitch() {
  return createElement('p', null, useFlag('kill-switch', { fallback: true }) ? 'running' : 'stopped');
}

test('a flag that cannot be resolved has the fallback of its hook', () => {
  const client = createTestClient();
  expect(renderToString(createElement(FlagsProvider, { client }, createElement(KillSwitch)))).toContain(
    'running',
  );
});

test('a hook without a provider says what is missing', () => {
  expect(() => renderToString(createElement(Page))).toThrow('<FlagsProvider');
});

function Status() {
  return createElement('p', null, useFlagsStatus());
}

test('asking for the status is no read', () => {
  const keys: string[] = [];
  const client = observeReads(createTestClient(), ({ key }) => keys.push(key));
  const html = renderToString(createElement(FlagsProvider, { client }, createElement(Status)));
  expect(html).toBe('<p>connecting</p>');
  expect(keys).toEqual([]);
});
