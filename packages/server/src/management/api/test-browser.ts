import { SESSION_COOKIE } from '../../nouns/people/sessions.ts';
import type { TestAnswer, TestApp, TestRequest } from './test-app.ts';

/** The public address of the tests' application. */
export const ORIGIN = 'https://flags.example';

/** A password that the rules accept. */
export const PASSWORD = 'correct horse battery';

/** A browser of a test: it keeps the session's cookie and sends the origin of its page. */
export class TestBrowser {
  readonly #app: TestApp;
  /** The address of its requests, as the proxy reports it. */
  readonly ip: string;
  /** The cookie's value; a test may put another one in its place. */
  id: string | undefined;

  constructor(app: TestApp, ip = '192.0.2.1') {
    this.#app = app;
    this.ip = ip;
  }

  /** Sends one request as a page of this server would. */
  async call(method: string, path: string, { body, headers = {} }: TestRequest = {}): Promise<TestAnswer> {
    const answer = await this.#app.call(method, path, {
      token: null,
      ...(body === undefined ? {} : { body }),
      headers: {
        Origin: ORIGIN,
        'X-Forwarded-For': this.ip,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(this.id === undefined ? {} : { Cookie: `__Host-${SESSION_COOKIE}=${this.id}` }),
        ...headers,
      },
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, id] = new RegExp(`^__Host-${SESSION_COOKIE}=([^;]*);`).exec(cookie) ?? [];
      if (id !== undefined) this.id = id === '' ? undefined : id;
    }
    return answer;
  }

  /** Signs in; the answer may be a refusal. */
  signIn(email: string, password = PASSWORD): Promise<TestAnswer> {
    return this.call('POST', '/api/session', { body: { email, password } });
  }
}

/** An operator with a browser in which they are signed in. */
export interface TestOperator {
  readonly id: string;
  readonly email: string;
  readonly browser: TestBrowser;
}

/** Invites an operator with the settings' token, and lets them join. */
export async function join(
  app: TestApp,
  invitation: { readonly email: string; readonly role?: string; readonly canChangeProtected?: boolean },
): Promise<TestOperator> {
  const { token } = await app.done('POST', '/api/invitations', { body: invitation });
  const browser = new TestBrowser(app);
  const answer = await browser.call('POST', '/api/invitations/accept', {
    body: { token, password: PASSWORD },
  });
  if (answer.status !== 201) throw new Error(answer.text);
  return { id: answer.json.operator.id, email: answer.json.operator.email, browser };
}
