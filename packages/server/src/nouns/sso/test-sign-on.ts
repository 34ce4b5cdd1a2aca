import { afterAll, beforeAll, beforeEach, expect } from 'bun:test';
import type { ProviderPerson, TestIdentityProvider } from '@halyard/testing/identity-provider';
import { type SsoSettings, ssoLengths } from '../../domain/sso.ts';
import { openTestApp, type TestAnswer, type TestApp } from '../../management/api/test-app.ts';
import { join, ORIGIN, TestBrowser } from '../../management/api/test-browser.ts';
import type { TestEngine } from '../../storage/test-engines.ts';

/** The client as provider and server know it. */
export const CLIENT = {
  clientId: 'halyard',
  clientSecret: 'the-client-secret-of-the-tests',
  publicUrl: ORIGIN,
} as const;

/** The settings of most tests. */
export function settingsOf(provider: TestIdentityProvider, changes: Partial<SsoSettings> = {}): SsoSettings {
  return {
    issuer: `${provider.issuer}/`,
    clientId: CLIENT.clientId,
    clientSecret: CLIENT.clientSecret,
    scopes: 'openid profile email',
    groupClaim: 'groups',
    groupRoles: [
      { group: 'flags-admins', role: 'admin' },
      { group: 'release', role: 'editor+protected' },
      { group: 'devs', role: 'editor' },
      { group: 'staff', role: 'viewer' },
      { group: 'shop-devs', role: 'editor', project: 'shop' },
      { group: 'shop-leads', role: 'editor+protected', project: 'shop' },
      { group: 'deck-ops', role: 'admin', project: 'deck' },
      { group: 'lost', role: 'admin', project: 'no-such-project' },
    ],
    trustEmail: false,
    label: 'Example ID',
    only: false,
    ...ssoLengths({ sessionMinutes: 720, idleMinutes: 120, absenceDays: 30 }),
    ...changes,
  };
}

/** A person in these groups, with a verified e-mail. */
export function personIn(
  name: string,
  groups: readonly string[] = ['devs'],
  claims: object = {},
): ProviderPerson {
  const email = `${name}@example.com`;
  return { sub: `sub-${name}`, claims: { name, email, email_verified: true, groups, ...claims } };
}

/** A browser with the cookies of both servers. */
export class SsoBrowser {
  readonly #app: TestApp;
  readonly #provider: TestIdentityProvider;
  readonly #atProvider = new Map<string, string>();
  readonly browser: TestBrowser;
  /** The address of its requests, as the proxy reports it. */
  ip = '192.0.2.7';
  /** The cookie of the sign-on in progress. */
  begun: string | undefined;

  constructor(app: TestApp, provider: TestIdentityProvider) {
    this.#app = app;
    this.#provider = provider;
    this.browser = new TestBrowser(app);
  }

  /** Signs in as the person; resolves with the last answer of this server. */
  async signIn(person: ProviderPerson | undefined, from?: string): Promise<TestAnswer> {
    return this.finish(await this.reachCallback(person, from));
  }

  /** Signs in at the provider; resolves with the address of this server that the browser is sent to. */
  async reachCallback(person: ProviderPerson | undefined, from?: string): Promise<string> {
    this.#provider.person = person;
    const query = from === undefined ? '' : `?from=${encodeURIComponent(from)}`;
    const started = await this.visit(`/api/sso/start${query}`);
    let url = started.headers.get('Location') ?? '';
    while (url.startsWith(this.#provider.issuer)) url = await this.#visitProvider(url);
    return url;
  }

  /** Visits the callback; the session's cookie is kept in the browser. */
  finish(url: string): Promise<TestAnswer> {
    return this.visit(url.replace(ORIGIN, ''));
  }

  /** Visits an address of this server, as a link of another site leads there. */
  async visit(path: string): Promise<TestAnswer> {
    const { id } = this.browser;
    const cookies = [
      ...(id === undefined ? [] : [`__Host-halyard_session=${id}`]),
      ...(this.begun === undefined ? [] : [`__Host-halyard_sso=${this.begun}`]),
    ];
    const headers = {
      Cookie: cookies.join('; '),
      'Sec-Fetch-Site': 'cross-site',
      'X-Forwarded-For': this.ip,
    };
    const answer = await this.#app.call('GET', path, { token: null, headers });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value = ''] = /^__Host-(\w+)=([^;]*);/.exec(cookie) ?? [];
      if (name === 'halyard_sso') this.begun = value === '' ? undefined : value;
      if (name === 'halyard_session') this.browser.id = value === '' ? undefined : value;
    }
    return answer;
  }

  async #visitProvider(url: string): Promise<string> {
    const headers = { Cookie: [...this.#atProvider].map((pair) => pair.join('=')).join('; ') };
    const answer = await fetch(url, { redirect: 'manual', headers });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#atProvider.set(name, value);
    }
    const location = answer.headers.get('Location');
    if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    return new URL(location, url).href;
  }
}

/** The path that the browser is redirected to, with the problem for the sign-in page; or the status of any other answer. */
export function outcome({ status, headers }: TestAnswer): string {
  const location = headers.get('Location') ?? '';
  return status === 303 ? location.replace(ORIGIN, '') : `status ${status}`;
}

/** What the server says of the browser's session. */
export async function sessionOf({ browser }: SsoBrowser): Promise<TestAnswer['json']> {
  return (await browser.call('GET', '/api/session')).json;
}

/** An application on the engine that signs in with the provider, for the tests of a `describe`. */
export function sharedApp(engine: TestEngine | undefined, provider: () => TestIdentityProvider) {
  let app: TestApp;
  beforeAll(async () => {
    if (engine === undefined) throw new Error('the tests have no engine');
    app = await openTestApp(engine);
    await join(app, { email: 'root@example.com', role: 'admin' });
  });
  afterAll(() => app.close());
  beforeEach(() => {
    app.useSso(settingsOf(provider()));
    provider().tampering.clear();
    provider().onlyInUserInfo.clear();
    app.node.now = Date.now();
  });
  const newBrowser = () => new SsoBrowser(app, provider());
  return {
    get app() {
      return app;
    },
    newBrowser,
    operatorOf: async (email: string) =>
      (await app.call('GET', '/api/operators')).json.operators.find(
        (one: { email: string }) => one.email === email,
      ),
    auditOf: async (email: string) =>
      (await app.call('GET', '/api/audit?limit=100')).json.entries.filter(
        (one: { target: string }) => one.target === email,
      ),
    signedIn: async (person: ProviderPerson) => {
      const browser = newBrowser();
      expect(outcome(await browser.signIn(person))).toBe('/');
      return browser;
    },
  };
}
