import { join } from 'node:path';
import { startPostgres } from '@halyard/testing';
import { type CheckedRequest, writeInput } from '../running.ts';
import { ONE, type PeerFlag, unleashFeatures, unleashImport } from './flags.ts';
import { NPM_SERVER } from './install.ts';
import { checkStates, type RecipeInput } from './peer.ts';

/** Client and frontend token of the environment `development`, in the shapes that Unleash wants. */
const CLIENT_TOKEN = 'default:development.bench-client-secret';
const FRONTEND_TOKEN = 'default:development.bench-frontend-secret';
/** The initial password of the administrator account of Unleash. */
const ADMIN_PASSWORD = 'bench-Admin-4711-secret';

/** Unleash Edge offline: it serves what a file holds. */
export async function edge(
  { program, flags, folder, port, url }: RecipeInput,
  requestsOfApi: typeof clientRequests,
) {
  const features = { version: 2, features: unleashFeatures(flags) };
  const bootstrap = await writeInput(folder, 'bootstrap.json', JSON.stringify(features));
  const listening = ['--port', `${port}`, '--interface', '127.0.0.1', '--workers', '1'];
  const tokens = ['--client-tokens', CLIENT_TOKEN, '--frontend-tokens', FRONTEND_TOKEN];
  const requests = requestsOfApi(url, flags, `?namePrefix=`);
  const command = [program, ...listening, 'offline', '--bootstrap-file', bootstrap, ...tokens];
  return { program: { command, ready: requests.all }, requests };
}

/** The version that cargo has noted beside the program, which does not print it. */
export async function edgeVersion(program: string): Promise<string> {
  const note = Bun.file(join(program, '../../.crates.toml'));
  const text = (await note.exists()) ? await note.text() : '';
  return /unleash-edge (\d[\w.-]*)/.exec(text)?.[1] ?? 'as given';
}

/** `program` is the folder that npm has put it into. */
export async function unleashServer({ program, flags, port, url }: RecipeInput) {
  const postgres = await startPostgres();
  const requests = clientRequests(url, flags, '/');
  return {
    program: {
      command: ['node', join(program, NPM_SERVER, 'dist/server.js')],
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
      ready: { url: `${url}/health` },
      timeoutMs: 120_000,
    },
    requests,
    fill: () => fillUnleash(url, flags, requests.all),
    end: () => postgres.close(),
  };
}

/** As the administrator of a new installation: imports are not for tokens of machines. */
async function fillUnleash(url: string, flags: readonly PeerFlag[], all: CheckedRequest) {
  const post = (path: string, body: object, cookie = '') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(120_000),
    });
  const signedIn = await post('/auth/simple/login', { username: 'admin', password: ADMIN_PASSWORD });
  const cookies = signedIn.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]);
  const content = { project: 'default', environment: 'development', data: unleashImport(flags) };
  const imported = await post('/api/admin/features-batch/import', content, cookies.join('; '));
  if (!imported.ok) throw new Error(`the import was answered ${imported.status}: ${await imported.text()}`);

  // Its clients see an import only when it has looked for new revisions.
  let problem = '';
  for (let attempt = 0; attempt < 100; attempt++) {
    const response = await fetch(all.url, { headers: all.headers });
    const text = await response.text();
    try {
      if (all.check?.(text) === flags.length) return;
    } catch (error) {
      problem = String(error);
    }
    await Bun.sleep(300);
  }
  throw new Error(`it does not show the imported flags: ${problem}`);
}

/** Edge has no address of one feature: `one` is a filter by the beginning of a name there. */
export function clientRequests(url: string, flags: readonly PeerFlag[], one: string) {
  const headers = { Authorization: CLIENT_TOKEN };
  const path = `${url}/api/client/features`;
  type Feature = { name: string; enabled: boolean; features?: Feature[] };
  return {
    one: {
      url: `${path}${one}${(flags[ONE] ?? flags[0])?.key}`,
      headers,
      check: (body: string) => {
        const answer = JSON.parse(body) as Feature;
        return checkStates(answer.features ?? [answer], flags.slice(ONE, ONE + 1));
      },
    },
    all: {
      url: path,
      headers,
      check: (body: string) => checkStates((JSON.parse(body) as Feature).features ?? [], flags),
    },
  };
}

export function frontendRequests(url: string, flags: readonly PeerFlag[]) {
  const headers = { Authorization: FRONTEND_TOKEN };
  const context = '?userId=user-4711';
  type Toggle = { name: string; enabled: boolean; toggles?: Toggle[] };
  return {
    one: {
      url: `${url}/api/frontend/features/${(flags[ONE] ?? flags[0])?.key}${context}`,
      headers,
      check: (body: string) => checkStates([JSON.parse(body) as Toggle], flags.slice(ONE, ONE + 1)),
    },
    all: {
      url: `${url}/api/frontend/all${context}`,
      headers,
      check: (body: string) => checkStates((JSON.parse(body) as Toggle).toggles ?? [], flags),
    },
  };
}
