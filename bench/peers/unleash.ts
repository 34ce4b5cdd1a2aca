import { join } from 'node:path';
import { startPostgres, until } from '@halyard/testing';
import { type CheckedRequest, fetchChecked, writeInput } from '../running.ts';
import { oneOf, type PeerFlag, unleashFeatures, unleashImport } from './flags.ts';
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
  await until('it shows the imported flags', async () => {
    const { text } = await fetchChecked({ url: all.url, headers: all.headers });
    try {
      return all.check?.(text) === flags.length;
    } catch {
      // Not all of them yet.
      return false;
    }
  });
}

/** An answer of either API: one feature, or a list of them. */
interface Feature {
  readonly name: string;
  readonly enabled: boolean;
  readonly features?: readonly Feature[];
  readonly toggles?: readonly Feature[];
}

/** The reads of an API, and the features that an answer shows. */
function requestsOf(flags: readonly PeerFlag[], token: string, urls: { one: string; all: string }) {
  const headers = { Authorization: token };
  const check = (expected: readonly PeerFlag[]) => (body: string) => {
    const answer = JSON.parse(body) as Feature;
    return checkStates(answer.features ?? answer.toggles ?? [answer], expected);
  };
  return {
    one: { url: urls.one, headers, check: check([oneOf(flags)]) },
    all: { url: urls.all, headers, check: check(flags) },
  };
}

/** Edge has no address of one feature: `one` is a filter by the beginning of a name there. */
export function clientRequests(url: string, flags: readonly PeerFlag[], one: string) {
  const all = `${url}/api/client/features`;
  return requestsOf(flags, CLIENT_TOKEN, { one: `${all}${one}${oneOf(flags).key}`, all });
}

export function frontendRequests(url: string, flags: readonly PeerFlag[]) {
  const [path, context] = [`${url}/api/frontend`, '?userId=user-4711'];
  const one = `${path}/features/${oneOf(flags).key}${context}`;
  return requestsOf(flags, FRONTEND_TOKEN, { one, all: `${path}/all${context}` });
}
