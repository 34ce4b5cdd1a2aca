import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lastingPort, Management } from '@halyard/testing';
import { ENVIRONMENT, fill, openNode, requestsOf } from '../node.ts';
import type { ChangeRequest } from '../raw-request.ts';
import { nginxRecipe } from '../references.ts';
import { expectRight, writeInput } from '../running.ts';
import { executableOf, nodeProgram } from '../start.ts';
import {
  changed,
  flagdFile,
  goFeatureFlagFile,
  growthBookPayload,
  mapText,
  oneOf,
  type PeerFlag,
} from './flags.ts';
import { mercure, nchan } from './hubs.ts';
import { NPM_SERVER, peerFolder } from './install.ts';
import {
  checkKeys,
  checkStates,
  ofrepRequests,
  type Peer,
  type Places,
  type RecipeInput,
  versionOf,
} from './peer.ts';
import { clientRequests, edge, edgeVersion, frontendRequests, unleashServer } from './unleash.ts';

/** The key of GO Feature Flag and of GrowthBook's proxy. */
const KEY = 'bench-key';

/** Everything that can be measured; Halyard first. */
export const PEERS: readonly Peer[] = [
  {
    name: 'Halyard',
    remark: 'key check (SHA-256), state as stored, changes on disk; whole maps keep their bytes',
    find: ({ bench }) => ({ program: existsSync(executableOf(bench)) ? 'executable' : 'source' }),
    version: (program) => Promise.resolve(program === 'source' ? '(this tree, from source)' : '(this tree)'),
    recipe: halyard,
  },
  {
    name: 'nginx',
    remark: 'constant bytes, those of our answers, without a check; the map is a file',
    find: ({ bench }) => found(bench.machine.nginx, 'nginx is not installed'),
    version: (program) => versionOf([program, '-v']),
    recipe: nginx,
  },
  {
    name: 'nginx with nchan',
    remark: 'the whole map is posted to a channel in memory; nothing is kept on disk',
    find: (places) => inFolder(places, 'nchan', places.bench.machine.nginx),
    version: (program) => versionOf([program.split(' ')[0] ?? '', '-v']),
    recipe: nchan,
  },
  {
    name: 'Unleash Edge, client API',
    remark: 'token check, filters and serializes, body hashed for the ETag',
    find: (places) => inFolder(places, 'unleashEdge'),
    version: edgeVersion,
    recipe: (input) => edge(input, clientRequests),
  },
  {
    name: 'Unleash Edge, frontend API',
    remark: 'token check, evaluation for a context (all: disabled flags too)',
    find: (places) => inFolder(places, 'unleashEdge'),
    version: edgeVersion,
    recipe: (input) => edge(input, frontendRequests),
  },
  {
    name: 'Unleash server, client API',
    remark: 'token check, query of its store (PostgreSQL, not in the figures)',
    find: (places) => inFolder(places, 'unleashServer'),
    version: async (program) => (await Bun.file(join(program, NPM_SERVER, 'package.json')).json()).version,
    recipe: unleashServer,
  },
  {
    name: 'flagd',
    remark: 'no access check; OFREP evaluation for a context, of enabled flags; no event streams over HTTP',
    ...given('flagd', 'version'),
    recipe: async ({ program, flags, folder, port, url }) => {
      const uri = await writeInput(folder, 'flags.json', flagdFile(flags));
      const ports = ['--port', lastingPort(), '--ofrep-port', port, '--management-port', lastingPort()];
      const sources = ['--sources', JSON.stringify([{ uri, provider: 'file' }])];
      const requests = ofrepRequests(url, flags, 'enabled');
      const command = [program, 'start', ...ports.map(String), ...sources];
      return { program: { command, ready: requests.ofrepOne }, requests };
    },
  },
  {
    name: 'GO Feature Flag relay',
    remark:
      'API key check, OFREP evaluation for a context; a change is a file and a request, its event has no flags',
    ...given('go-feature-flag', '--version'),
    recipe: goFeatureFlag,
  },
  {
    name: 'mercure',
    remark: 'a hub that knows no flags: the whole map is published; kept in its bolt history',
    ...given('mercure', 'version'),
    recipe: mercure,
  },
  {
    name: 'GrowthBook proxy',
    remark: 'SDK key in the path; the kept payload, serialized for each answer and each event',
    ...given('growthbook-proxy'),
    recipe: growthBookProxy,
  },
];

/** The options that take a path. */
export const PEER_PATHS: readonly string[] = ['folder', ...PEERS.flatMap(({ option }) => option ?? [])];

function found(program: string | undefined, missing: string) {
  return program === undefined ? { missing } : { program };
}

/** A peer that no package registry has: its program is named by an option. */
function given(option: string, ...version: readonly string[]): Pick<Peer, 'option' | 'find' | 'version'> {
  return {
    option,
    find: ({ paths }) => {
      const path = paths[option];
      if (path === undefined) return { missing: `name its program with --${option}` };
      return existsSync(path) ? { program: path } : { missing: `there is no ${path}` };
    },
    version: (program) =>
      version.length === 0 ? Promise.resolve('as given') : versionOf([program, ...version]),
  };
}

/** A peer that `--install` fetches. `program` is what runs it, if that is not what was fetched. */
function inFolder({ paths, bench }: Places, name: keyof ReturnType<typeof peerFolder>, program?: string) {
  if (paths.folder === undefined) return { missing: 'name the folder it is in with --folder' };
  const { path, root } = peerFolder(paths.folder)[name];
  if (!existsSync(path)) return { missing: `there is no ${path} (--install fetches it)` };
  if (name === 'nchan') return found(bench.machine.nginx && `${program} ${path}`, 'nginx is not installed');
  return { program: root ?? path };
}

/** A node that finds its flags on disk, as the others find theirs. */
async function halyard({ bench, program, flags, folder }: RecipeInput) {
  const filled = await openNode(bench, { dataFolder: folder.file('data') });
  const { adminToken } = filled;
  const headers = await fill(
    new Management(filled),
    flags.map(({ key, ...state }) => ({ key, state })),
  ).finally(() => filled.stop());

  const kind = program === 'source' ? 'source' : 'executable';
  const started = nodeProgram(bench, kind, folder.file('data'), headers);
  const { origin: url } = new URL(started.ready.url);
  const one = oneOf(flags);
  const { requests, stream } = requestsOf({ url, adminToken }, headers, flags.indexOf(one));
  type States = Record<string, { enabled: boolean }>;
  const stateIn = (body: string) => ({ [one.key]: JSON.parse(body) as { enabled: boolean } });
  const statesIn = (body: string) => (JSON.parse(body) as { flags: States }).flags;
  const check = (states: States, expected: readonly PeerFlag[]) =>
    checkStates(
      Object.entries(states).map(([name, { enabled }]) => ({ name, enabled })),
      expected,
    );
  return {
    program: { ...started, env: { HALYARD_ADMIN_TOKEN: adminToken } },
    requests: {
      one: { ...requests.one, check: (body: string) => check(stateIn(body), [one]) },
      all: { ...requests.all, check: (body: string) => check(statesIn(body), flags) },
      ...ofrepRequests(url, flags, 'all', headers),
    },
    stream,
  };
}

/** No flags at all, but the least that an answer of this size costs. */
async function nginx({ program, flags, ...place }: RecipeInput) {
  const { key, ...state } = oneOf(flags);
  const one = JSON.stringify({ environment: ENVIRONMENT, key, ...state });
  const all = `{"environment":"${ENVIRONMENT}","flags":${mapText(flags)}}`;
  const headers = { 'Cache-Control': 'private, no-cache', ETag: '"1"', 'X-Request-Id': crypto.randomUUID() };
  const recipe = await nginxRecipe(place, program, { one, all, headers });
  const same = (expected: string, count: number) => (body: string) => {
    expectRight(body === expected, body.slice(0, 100));
    return count;
  };
  return {
    program: recipe.program,
    requests: {
      one: { ...recipe.requests.one, check: same(one, 1) },
      all: { ...recipe.requests.all, check: same(all, flags.length) },
    },
  };
}

async function goFeatureFlag({ program, flags, folder, port, url }: RecipeInput) {
  const path = await writeInput(folder, 'flags.json', goFeatureFlagFile(flags));
  const config = {
    server: { mode: 'http', host: '127.0.0.1', port },
    pollingInterval: 60_000,
    fileFormat: 'json',
    retrievers: [{ kind: 'file', path }],
    authorizedKeys: { evaluation: [KEY], admin: [KEY] },
  };
  const configPath = await writeInput(folder, 'goff.yaml', JSON.stringify(config));

  const requests = ofrepRequests(url, flags, 'all', { 'X-API-Key': KEY });
  const change = (serial: number): ChangeRequest => ({
    url: `${url}/admin/v1/retriever/refresh`,
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: '',
    file: { path, text: goFeatureFlagFile(changed(flags, serial)) },
  });
  return {
    program: { command: [program, '--config', configPath], ready: requests.ofrepOne },
    requests,
    stream: {
      url: `${url}/stream/v1/sse/flag/change?apiKey=${KEY}`,
      headers: {},
      opensWith: 'head' as const,
      change,
    },
  };
}

async function growthBookProxy({ program, flags, port, url }: RecipeInput) {
  // The server behind the proxy, which asks it for the payload once and keeps the answer.
  const payload = (serial?: number) =>
    growthBookPayload(serial === undefined ? flags : changed(flags, serial));
  const json = { headers: { 'Content-Type': 'application/json' } };
  const origin = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(payload(), json) });

  const all = {
    url: `${url}/api/features/${KEY}`,
    headers: {},
    check: (body: string) => {
      const { features } = JSON.parse(body) as { features: Record<string, unknown> };
      return checkKeys(Object.keys(features), flags);
    },
  };

  return {
    program: {
      command: ['node', program],
      env: {
        PORT: String(port),
        GROWTHBOOK_API_HOST: origin.url.href.replace(/\/$/, ''),
        SECRET_API_KEY: KEY,
        POLL_FOR_CONNECTIONS: '0',
        'CONNECTION.0.API_KEY': KEY,
        'CONNECTION.0.SIGNING_KEY': KEY,
        CACHE_STALE_TTL: '86400',
        CACHE_EXPIRES_TTL: '86400',
        EVENT_STREAM_MAX_DURATION_MS: '3600000',
        NODE_ENV: 'production',
      },
      ready: all,
    },
    requests: { all },
    end: () => origin.stop(true),
    stream: {
      url: `${url}/sub/${KEY}`,
      headers: {},
      opensWith: 'head' as const,
      change: (serial: number): ChangeRequest => {
        const body = payload(serial);
        const signature = createHmac('sha256', KEY).update(body).digest('hex');
        return {
          url: `${url}/proxy/features`,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-growthbook-api-key': KEY,
            'x-growthbook-signature': signature,
          },
          body,
        };
      },
    },
  };
}
