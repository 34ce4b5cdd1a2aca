import pino from 'pino';
import { createManagementApp, type ManagementApi } from '../../app/app.ts';
import { openApiDocument } from '../../app/openapi.ts';
import { Contract } from '../../app/test-contract.ts';
import type { SsoSettings } from '../../domain/sso.ts';
import { GuardedPoster } from '../../http/guarded-post.ts';
import type { DashboardEvents } from '../../nouns/deliveries/delivery-routes.ts';
import { SqlDeliveryStore } from '../../nouns/deliveries/delivery-table.ts';
import type { PeopleContext } from '../../nouns/people/people.ts';
import { PasswordHashes, SignInMemory } from '../../nouns/people/sign-in.ts';
import { IdentityProvider } from '../../nouns/sso/identity-provider.ts';
import { SSO_PATHS, type Sso } from '../../nouns/sso/sso.ts';
import { type StateWrite, StateWriters } from '../../nouns/states/state-writers.ts';
import { WebhookSender } from '../../nouns/webhooks/webhook-sender.ts';
import type { Store } from '../../storage/store.ts';
import { openTestStore, type TestEngine, type TestStore } from '../../storage/test-engines.ts';

/** The token that the tests' application takes from its settings. */
export const ADMIN_TOKEN = `hat_${'a'.repeat(43)}`;

/** One request of a test. */
export interface TestRequest {
  /** Sent as it is when it is a text, otherwise as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default {@link ADMIN_TOKEN}; `null` sends none. */
  readonly token?: string | null;
  /** The answer has parts of a newer version, which the OpenAPI document of this one cannot describe. */
  readonly isNewer?: boolean;
}

/** One answer, read to its end. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; a test that uses a member which is not there fails there. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly json: any;
}

/** One operation of the OpenAPI document. */
export interface TestOperation {
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into every member of the description.
  readonly described: any;
}

/** The version of every application of the tests. */
const VERSION = '0.0.0';

/** The document of all applications, which is the same: reading it takes longer than most tests. */
let contract: Contract | undefined;

/** The management interface over a real store, without a listener or a follower. */
export class TestApp {
  readonly #api: ManagementApi;
  readonly home: TestStore;
  /** The behavior and knowledge of the node; tests change it. */
  readonly node = {
    now: Date.now(),
    adminToken: ADMIN_TOKEN,
    isLost: false,
    isBehind: false,
    applied: [] as number[],
    waitForApplied: async () => {},
    /** Runs before each transaction of an operation. */
    beforeCommit: async () => {},
  };
  readonly context: PeopleContext;
  /** Reaches receivers on this machine. */
  readonly webhooks: WebhookSender;
  /** The log, one JSON text per line. */
  readonly logged: string[] = [];
  /** Project and environment of every stream that was opened. */
  readonly streams: string[] = [];
  /** What every dashboard asked to watch. */
  readonly watched: Parameters<DashboardEvents['open']>[0][] = [];
  /** How long each slowed sign-in would have waited, in milliseconds; a test may let it wait for something. */
  readonly pauses: number[] = [];
  pause = async (): Promise<void> => {};
  readonly #log = pino({}, { write: (line: string) => void this.logged.push(line) });
  #projects = 0;
  #sso: Sso | undefined;

  constructor(home: TestStore) {
    this.home = home;
    const app = this;
    const store = this.#store();
    const poster = new GuardedPoster({ networks: ['127.0.0.0/8'] });
    this.context = {
      get sso() {
        return app.#sso;
      },
      store,
      stateWriters: this.#stateWriters(store),
      waitForApplied: async (seq) => {
        await this.node.waitForApplied();
        this.node.applied.push(seq);
      },
      assertWritable: () => {
        if (this.node.isLost) throw new Error('the log is lost');
      },
      now: () => this.node.now,
      randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
      newId: () => Bun.randomUUIDv7(),
      passwords: new PasswordHashes(),
      signIns: new SignInMemory(),
      get adminToken() {
        return app.node.adminToken;
      },
      publicUrl: 'https://flags.example',
      evaluationUrl: undefined,
      pause: async (ms) => {
        this.pauses.push(ms);
        await this.pause();
      },
      problemOfAddress: (url) => poster.problemOf(url),
    };

    this.webhooks = new WebhookSender({
      poster,
      now: () => this.node.now,
      dashboardUrl: this.context.publicUrl,
      version: VERSION,
    });

    this.#api = createManagementApp({
      context: this.context,
      trustProxy: true,
      docsUrl: 'https://docs.example',
      version: VERSION,
      log: this.#log,
      hasApplied: () => !this.node.isBehind,
      openStream: (project, environment) => {
        this.streams.push(`${project}/${environment}`);
        const headers = { 'Content-Type': 'text/event-stream' };
        return new Response(`data: ${project}/${environment}\n\n`, { headers });
      },
      deliveries: new SqlDeliveryStore(home.database),
      webhooks: this.webhooks,
      events: {
        open: (request) => {
          this.watched.push(request);
          return new Blob(['event: hello\ndata: {}\n\n']).stream();
        },
      },
    });
  }

  #stateWriters(store: Store): StateWriters {
    const { node } = this;
    class Writers extends StateWriters {
      override async add(write: StateWrite) {
        await node.beforeCommit();
        return super.add(write);
      }
    }
    return new Writers(store, this.home.database.engine === 'sqlite' ? 'database' : 'environment');
  }

  #store(): Store {
    const { store } = this.home;
    return {
      query: (text, parameters) => store.query(text, parameters),
      unlogged: async (work, author) => {
        if (author !== undefined) await this.node.beforeCommit();
        return store.unlogged(work, author);
      },
      read: (work) => store.read(work),
      commit: async (actor, work) => {
        await this.node.beforeCommit();
        return store.commit(actor, work);
      },
      commitGroup: (work) => store.commitGroup(work),
    };
  }

  /** Sets up single sign-on from now on, or ends it. */
  useSso(settings: SsoSettings | undefined): void {
    const { publicUrl } = this.context;
    const redirectUri = publicUrl + SSO_PATHS.callback;
    const node = { redirectUri, log: this.#log, now: () => this.node.now };
    this.#sso = settings && { settings, provider: new IdentityProvider({ settings, ...node }) };
  }

  /** The operations. */
  get app(): ManagementApi['app'] {
    return this.#api.app;
  }

  /** Sends one request that need not be described, or whose answer is read piece by piece. */
  request(path: string, init?: RequestInit): Promise<Response> {
    return this.#api.answer(new Request(`http://localhost${path}`, init));
  }

  /** Sends one request. Throws if the OpenAPI document does not describe the exchange. */
  async call(method: string, path: string, request: TestRequest = {}): Promise<TestAnswer> {
    const { body, headers = {}, token = ADMIN_TOKEN, isNewer = false } = request;
    const sent = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const answer = await this.request(path, {
      method,
      headers: { ...(token === null ? {} : { Authorization: `Bearer ${token}` }), ...headers },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await answer.text();
    contract ??= new Contract(openApiDocument(this.app, VERSION));
    const exchange = { method, target: path, sent, answer, text };
    const problems = isNewer ? [] : contract.problemsOf(exchange);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      json: text.startsWith('{') ? JSON.parse(text) : undefined,
    };
  }

  /** The operations of the management API, as the OpenAPI document describes them. */
  async operations(): Promise<readonly TestOperation[]> {
    const { paths } = (await this.call('GET', '/api/openapi.json')).json;
    return Object.entries<object>(paths)
      .filter(([path]) => path.startsWith('/api/') && path !== '/api/openapi.json')
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, described]) => ({
          method: method.toUpperCase(),
          path,
          described,
        })),
      );
  }

  /** Sends one request that must succeed; returns the body of its answer. */
  async done(method: string, path: string, request: TestRequest = {}): Promise<TestAnswer['json']> {
    const { status, text, json } = await this.call(method, path, request);
    if (status >= 300) throw new Error(`${method} ${path}: ${text}`);
    return json;
  }

  /** Creates a project for one test; returns its path. */
  async project(): Promise<{ readonly name: string; readonly path: string }> {
    const name = `p${++this.#projects}`;
    await this.done('POST', '/api/projects', { body: { name } });
    return { name, path: `/api/projects/${name}` };
  }

  close(): Promise<void> {
    return Promise.resolve(this.home[Symbol.asyncDispose]());
  }
}

/** Opens the application over a new place of the engine. */
export async function openTestApp(engine: TestEngine): Promise<TestApp> {
  return new TestApp(await openTestStore(engine));
}
