import { createHmac } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { type TemporaryFolder, temporaryFolder } from '@halyard/testing';
import { freePort } from '../free-port.ts';
import type { Machine } from '../machine.ts';
import {
  flagdFile,
  fliptFile,
  goFeatureFlagFile,
  growthBookPayload,
  mapText,
  ONE,
  type PeerFlag,
} from './flags.ts';
import {
  expectRight,
  type Peer,
  type PeerRequest,
  type Program,
  type RunningPeer,
  startProgram,
  versionOf,
  writeInput,
} from './peer.ts';

/** A peer that no package registry has: its program is given by a path. */
export type GivenPeer = (program: string) => Peer;

/** By the option that names the path: `--flagd /usr/local/bin/flagd`. */
export const GIVEN_PEERS: Readonly<Record<string, GivenPeer>> = {
  flagd,
  'go-feature-flag': goFeatureFlag,
  flipt,
  mercure,
  'growthbook-proxy': growthBookProxy,
};

/** What OpenFeature's providers send. */
const CONTEXT = JSON.stringify({ context: { targetingKey: 'user-4711' } });

/** The key of GO Feature Flag and of GrowthBook's proxy, and the secret of mercure. */
const KEY = 'bench-key';

function flagd(program: string): Peer {
  return {
    name: 'flagd',
    remark: 'no access check; OFREP evaluation for a context, of enabled flags',
    serves: ['rest'],
    version: () => versionOf([program, 'version']),
    start: (machine, flags) =>
      startFrom(machine, async (folder, port, url) => {
        const file = await writeInput(folder, 'flags.json', flagdFile(flags));
        const [management, grpc] = [freePort(), freePort()];
        const sources = JSON.stringify([{ uri: file, provider: 'file' }]);
        return {
          program: {
            command: [
              ...[program, 'start', '--port', String(grpc), '--ofrep-port', String(port)],
              ...['--management-port', String(management), '--sources', sources],
            ],
            readyUrl: `http://127.0.0.1:${management}/readyz`,
          },
          requests: ofrepRequests(url, flags, 'enabled'),
        };
      }),
  };
}

function goFeatureFlag(program: string): Peer {
  return {
    name: 'GO Feature Flag relay',
    remark: 'API key check, OFREP evaluation for a context',
    serves: ['rest'],
    version: () => versionOf([program, '--version']),
    start: (machine, flags) =>
      startFrom(machine, async (folder, port, url) => {
        const path = await writeInput(folder, 'flags.json', goFeatureFlagFile(flags));
        const config = {
          server: { mode: 'http', host: '127.0.0.1', port },
          pollingInterval: 60_000,
          fileFormat: 'json',
          retrievers: [{ kind: 'file', path }],
          authorizedKeys: { evaluation: [KEY], admin: [KEY] },
        };
        return {
          program: {
            command: [program, '--config', await writeInput(folder, 'goff.yaml', JSON.stringify(config))],
            readyUrl: `${url}/health`,
          },
          requests: ofrepRequests(url, flags, 'all', { 'X-API-Key': KEY }),
        };
      }),
  };
}

function flipt(program: string): Peer {
  return {
    name: 'Flipt v2',
    remark: 'no access check; OFREP evaluation of enabled flags',
    serves: ['rest'],
    version: () => versionOf([program, '--version']),
    start: (machine, flags) =>
      startFrom(machine, async (folder, port, url) => {
        mkdirSync(folder.file('flags/default'), { recursive: true });
        await writeInput(folder, 'flags/default/features.yaml', fliptFile(flags));

        const config = {
          version: '2.0',
          log: { level: 'error' },
          server: { host: '127.0.0.1', http_port: port, grpc_port: freePort() },
          storage: { default: { backend: { type: 'local', path: folder.file('flags') } } },
          environments: { default: { name: 'default', storage: 'default', default: true } },
          meta: { check_for_updates: false, telemetry_enabled: false },
        };
        const path = await writeInput(folder, 'flipt.yml', JSON.stringify(config));

        return {
          program: {
            command: [program, 'server', '--config', path],
            readyUrl: `${url}/health`,
          },
          requests: ofrepRequests(url, flags, 'enabled'),
        };
      }),
  };
}

function growthBookProxy(program: string): Peer {
  return {
    name: 'GrowthBook proxy',
    remark: 'SDK key in the path; the kept payload, serialized for each answer',
    serves: ['rest'],
    version: () => Promise.resolve('as given'),
    start: async (machine, flags) => {
      // What the proxy stands before: it asks for the payload once, and keeps it.
      const payload = growthBookPayload(flags);
      const origin = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(payload) });
      try {
        const running = await startFrom(machine, async (_folder, port, url) => ({
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
              NODE_ENV: 'production',
            },
            readyUrl: `${url}/healthcheck`,
          },
          requests: { all: growthBookRequest(url, flags) },
        }));

        const end = running[Symbol.asyncDispose].bind(running);
        return {
          ...running,
          [Symbol.asyncDispose]: async () => {
            await end();
            await origin.stop(true);
          },
        };
      } catch (error) {
        await origin.stop(true);
        throw error;
      }
    },
  };
}

function growthBookRequest(url: string, flags: readonly PeerFlag[]): PeerRequest {
  return {
    url: `${url}/api/features/${KEY}`,
    headers: {},
    check: (body) => {
      const { features } = JSON.parse(body) as { features: Record<string, { defaultValue: string }> };
      const wrong = flags.find(
        ({ key, enabled, value }) => features[key]?.defaultValue !== (enabled ? value : ''),
      );
      expectRight(wrong === undefined, String(wrong?.key));
      return Object.keys(features).length;
    },
  };
}

/** A hub of events, which knows no flags: it is given the whole map of a change. */
function mercure(program: string): Peer {
  return {
    name: 'mercure',
    remark: 'the whole map is published; kept in its bolt history',
    serves: ['streams'],
    version: () => versionOf([program, 'version']),
    start: (machine, flags) =>
      startFrom(machine, async (folder, port, url) => {
        const caddyfile = `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  mercure {
    publisher_jwt ${KEY.repeat(4)}
    subscriber_jwt ${KEY.repeat(4)}
    anonymous
    write_timeout 0
    transport bolt {
      path ${folder.file('mercure.db')}
    }
  }
  respond /healthz 200
}
`;

        const token = jwt({ mercure: { publish: ['*'] } }, KEY.repeat(4));
        return {
          program: {
            command: [program, 'run', '--config', await writeInput(folder, 'Caddyfile', caddyfile)],
            readyUrl: `${url}/healthz`,
          },
          stream: {
            url: `${url}/.well-known/mercure?topic=flags`,
            headers: { Accept: 'text/event-stream' },
            opensWith: 'head' as const,
            change: (serial: number) => ({
              url: `${url}/.well-known/mercure`,
              method: 'POST' as const,
              headers: {
                authorization: `Bearer ${token}`,
                'content-type': 'application/x-www-form-urlencoded',
              },
              body: new URLSearchParams({ topic: 'flags', data: mapText(flags, serial) }).toString(),
            }),
          },
        };
      }),
  };
}

function jwt(claims: object, secret: string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** The two OFREP requests. Some answer for enabled flags only. */
function ofrepRequests(
  url: string,
  flags: readonly PeerFlag[],
  shows: 'all' | 'enabled',
  keyHeaders: Readonly<Record<string, string>> = {},
): { one: PeerRequest; all: PeerRequest } {
  const headers = { 'Content-Type': 'application/json', ...keyHeaders };
  const path = `${url}/ofrep/v1/evaluate/flags`;
  return {
    one: {
      url: `${path}/${flags[ONE]?.key}`,
      headers,
      body: CONTEXT,
      check: (body) => {
        const { value } = JSON.parse(body) as { value: unknown };
        expectRight(value === flags[ONE]?.value || value === 'text', body.slice(0, 100));
        return 1;
      },
    },
    all: {
      url: path,
      headers,
      body: CONTEXT,
      check: (body) => {
        const answers = (JSON.parse(body) as { flags: { key: string; value?: unknown }[] }).flags;
        const shown = new Map(answers.map(({ key, value }) => [key, value]));
        const wrong = flags.find(({ key, enabled }) => (enabled || shows === 'all') && !shown.has(key));
        expectRight(wrong === undefined, `${wrong?.key} is missing`);
        return shown.size;
      },
    },
  };
}

/** What to start, once there are a folder and a port for it. */
interface Recipe extends Pick<RunningPeer, 'stream'> {
  readonly program: Program;
  readonly requests?: Pick<RunningPeer, 'one' | 'all'>;
}

async function startFrom(
  machine: Machine,
  recipe: (folder: TemporaryFolder, port: number, url: string) => Promise<Recipe>,
): Promise<RunningPeer> {
  const folder = temporaryFolder();
  try {
    const port = freePort();
    const { program, requests, stream } = await recipe(folder, port, `http://127.0.0.1:${port}`);
    const started = await startProgram(machine, program);
    return {
      pids: started.pids,
      ...requests,
      ...(stream && { stream }),
      [Symbol.asyncDispose]: async () => {
        await started[Symbol.asyncDispose]();
        folder.remove();
      },
    };
  } catch (error) {
    folder.remove();
    throw error;
  }
}
