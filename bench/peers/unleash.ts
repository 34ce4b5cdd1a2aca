import { join } from 'node:path';
import { startPostgres, temporaryFolder } from '@halyard/testing';
import { freePort } from '../free-port.ts';
import { ONE, type PeerFlag, unleashFeatures } from './flags.ts';
import { expectRight, type Peer, type PeerRequest, startProgram, writeInput } from './peer.ts';

/** Client and frontend token of the environment `development`, in the shapes that Unleash wants. */
const CLIENT_TOKEN = 'default:development.bench-client-secret';
const FRONTEND_TOKEN = 'default:development.bench-frontend-secret';
/** The initial password of the administrator account. */
const ADMIN_PASSWORD = 'bench-Admin-4711-secret';

/** The answer of the client API. */
interface Features {
  readonly features: readonly { readonly name: string; readonly enabled: boolean }[];
}

/** The answer of the frontend API. */
interface Toggles {
  readonly toggles: readonly { readonly name: string; readonly enabled: boolean }[];
}

/** Unleash Edge, offline: it serves what a file holds. `program` is its path. */
export function unleashEdge(program: string): Peer[] {
  return [edge(program, 'client API'), edge(program, 'frontend API')];
}

function edge(program: string, api: 'client API' | 'frontend API'): Peer {
  return {
    name: `Unleash Edge, ${api}`,
    remark:
      api === 'client API'
        ? 'token check, filters and serializes, body hashed for the ETag'
        : 'token check, evaluation for a context (all: disabled flags too)',
    serves: ['rest'],
    version: () => installedVersion(program),
    start: async (machine, flags) => {
      const folder = temporaryFolder();
      const features = { version: 2, features: unleashFeatures(flags) };
      const bootstrap = await writeInput(folder, 'bootstrap.json', JSON.stringify(features));

      const port = freePort();
      const url = `http://127.0.0.1:${port}`;
      const listening = ['--port', String(port), '--interface', '127.0.0.1', '--workers', '1'];
      const tokens = ['--client-tokens', CLIENT_TOKEN, '--frontend-tokens', FRONTEND_TOKEN];
      const started = await startProgram(machine, {
        command: [program, ...listening, 'offline', '--bootstrap-file', bootstrap, ...tokens],
        readyUrl: `${url}/internal-backstage/health`,
      });

      return {
        pids: started.pids,
        ...(api === 'client API' ? edgeRequests(url, flags) : frontendRequests(url, flags)),
        [Symbol.asyncDispose]: async () => {
          await started[Symbol.asyncDispose]();
          folder.remove();
        },
      };
    },
  };
}

/** The version that cargo has noted beside the program, which does not print it. */
async function installedVersion(program: string): Promise<string> {
  const note = Bun.file(join(program, '../../.crates.toml'));
  const text = (await note.exists()) ? await note.text() : '';
  return /unleash-edge (\d[\w.-]*)/.exec(text)?.[1] ?? 'unknown version';
}

/** The Unleash server on a PostgreSQL of its own. `folder` has it under `node_modules`. */
export function unleashServer(folder: string): Peer {
  const program = join(folder, 'node_modules/unleash-server/dist/server.js');
  return {
    name: 'Unleash server, client API',
    remark: 'token check, query of its store (PostgreSQL, not in the figures)',
    serves: ['rest'],
    version: async () =>
      (await Bun.file(join(folder, 'node_modules/unleash-server/package.json')).json()).version,
    start: async (machine, flags) => {
      const postgres = await startPostgres();
      try {
        const port = freePort();
        const url = `http://127.0.0.1:${port}`;
        const started = await startProgram(machine, {
          command: ['node', program],
          env: {
            DATABASE_URL: await postgres.createDatabase(),
            DATABASE_SSL: 'false',
            HTTP_HOST: '127.0.0.1',
            HTTP_PORT: String(port),
            UNLEASH_DEFAULT_ADMIN_USERNAME: 'admin',
            UNLEASH_DEFAULT_ADMIN_PASSWORD: ADMIN_PASSWORD,
            INIT_CLIENT_API_TOKENS: CLIENT_TOKEN,
            CHECK_VERSION: 'false',
            SEND_TELEMETRY: 'false',
            LOG_LEVEL: 'error',
            SDK_API_RATE_LIMIT_PER_MINUTE: '100000000',
            NODE_ENV: 'production',
          },
          readyUrl: `${url}/health`,
          timeoutMs: 120_000,
        });

        try {
          await importFlags(url, flags);
          const requests = clientRequests(url, flags);
          await untilFilled(requests.all, flags.length);

          return {
            pids: started.pids,
            ...requests,
            [Symbol.asyncDispose]: async () => {
              await started[Symbol.asyncDispose]();
              await postgres.close();
            },
          };
        } catch (error) {
          await started[Symbol.asyncDispose]();
          throw error;
        }
      } catch (error) {
        await postgres.close();
        throw error;
      }
    },
  };
}

/** Its own import makes flags, strategies, variants and states in one request. */
async function importFlags(url: string, flags: readonly PeerFlag[]): Promise<void> {
  const features = unleashFeatures(flags) as { name: string; enabled: boolean; variants: object[] }[];
  const data = {
    features: features.map(({ name }) => ({ name, type: 'release', project: 'default', stale: false })),
    featureStrategies: features.map(({ name }) => ({
      name: 'default',
      featureName: name,
      constraints: [],
      parameters: {},
      variants: [],
      segments: [],
    })),
    featureEnvironments: features.map(({ name, enabled, variants }) => ({
      name,
      featureName: name,
      environment: 'development',
      enabled,
      variants,
    })),
    contextFields: [],
    featureTags: [],
    segments: [],
    tagTypes: [],
    dependencies: [],
  };

  const response = await fetch(`${url}/api/admin/features-batch/import`, {
    method: 'POST',
    headers: { cookie: await signIn(url), 'content-type': 'application/json' },
    body: JSON.stringify({ project: 'default', environment: 'development', data }),
    signal: AbortSignal.timeout(120_000),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`the import of flags was answered ${response.status}: ${text.slice(0, 300)}`);
}

/** As the administrator of a new installation: imports are not for tokens of machines. Returns the session's cookie. */
async function signIn(url: string): Promise<string> {
  const response = await fetch(`${url}/auth/simple/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: ADMIN_PASSWORD }),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the sign-in was answered ${response.status}`);
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');
}

/** Its clients see an import only when it has looked for new revisions. */
async function untilFilled(request: PeerRequest, count: number): Promise<void> {
  let problem = '';
  for (let attempt = 0; attempt < 100; attempt++) {
    const response = await fetch(request.url, { headers: request.headers });
    const text = await response.text();
    try {
      if (request.check(text) === count) return;
    } catch (error) {
      problem = String(error);
    }
    await Bun.sleep(300);
  }
  throw new Error(`it does not show the imported flags: ${problem}`);
}

function clientRequests(url: string, flags: readonly PeerFlag[]): { one: PeerRequest; all: PeerRequest } {
  const headers = { Authorization: CLIENT_TOKEN };
  return {
    one: {
      url: `${url}/api/client/features/${flags[ONE]?.key}`,
      headers,
      check: (body) => {
        const { name, enabled } = JSON.parse(body) as Features['features'][number];
        expectRight(name === flags[ONE]?.key && enabled === true, body.slice(0, 100));
        return 1;
      },
    },
    all: {
      url: `${url}/api/client/features`,
      headers,
      check: (body) => matching((JSON.parse(body) as Features).features, flags),
    },
  };
}

/** Edge has no address of one feature; it filters by the beginning of a name. */
function edgeRequests(url: string, flags: readonly PeerFlag[]): { one: PeerRequest; all: PeerRequest } {
  const { one, all } = clientRequests(url, flags);
  return {
    one: {
      ...one,
      url: `${all.url}?namePrefix=${flags[ONE]?.key}`,
      check: (body) => {
        const { features } = JSON.parse(body) as Features;
        expectRight(features.length === 1, `${features.length} flags`);
        return one.check(JSON.stringify(features[0]));
      },
    },
    all,
  };
}

function frontendRequests(url: string, flags: readonly PeerFlag[]): { one: PeerRequest; all: PeerRequest } {
  const headers = { Authorization: FRONTEND_TOKEN };
  return {
    one: {
      url: `${url}/api/frontend/features/${flags[ONE]?.key}?userId=user-4711`,
      headers,
      check: (body) => {
        const { name, enabled } = JSON.parse(body) as Toggles['toggles'][number];
        expectRight(name === flags[ONE]?.key && enabled === true, body.slice(0, 100));
        return 1;
      },
    },
    all: {
      url: `${url}/api/frontend/all?userId=user-4711`,
      headers,
      check: (body) => matching((JSON.parse(body) as Toggles).toggles, flags),
    },
  };
}

/** Every flag, with its state. */
function matching(
  shown: readonly { readonly name: string; readonly enabled: boolean }[],
  flags: readonly PeerFlag[],
): number {
  const states = new Map(shown.map(({ name, enabled }) => [name, enabled]));
  const wrong = flags.find(({ key, enabled }) => states.get(key) !== enabled);
  expectRight(wrong === undefined, `${wrong?.key} is ${states.get(wrong?.key ?? '')}`);
  return shown.length;
}
