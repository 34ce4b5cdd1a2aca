/** A person who uses the dashboard: a signed-in session of the API. */
export class Person {
  readonly #url: string;
  readonly #cookie: string;

  private constructor(url: string, cookie: string) {
    this.#url = url;
    this.#cookie = cookie;
  }

  /** Signs in. */
  static async signIn(
    url: string,
    account: { readonly email: string; readonly password: string },
  ): Promise<Person> {
    const { email, password } = account;
    return Person.#enter(url, 'session', { email, password });
  }

  /** Invites a person, who accepts. */
  async invite(account: {
    readonly email: string;
    readonly name: string;
    readonly password: string;
    readonly role: 'viewer' | 'editor' | 'admin';
    readonly canChangeProtected: boolean;
  }): Promise<Person> {
    const { email, role, canChangeProtected, name, password } = account;
    const { token } = await this.send('POST', 'invitations', { body: { email, role, canChangeProtected } });
    return Person.#enter(this.#url, 'invitations/accept', { token, name, password });
  }

  /**
   * Sends one request below `/api`, confirmed for a protected environment (default: production). Rejects for any other
   * answer than success.
   */
  async send(
    method: string,
    path: string,
    {
      body,
      note,
      confirmed = 'production',
    }: { readonly body?: unknown; readonly note?: string; readonly confirmed?: string } = {},
  ): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.#url}/api/${path}`, {
      method,
      headers: {
        cookie: this.#cookie,
        origin: this.#url,
        'x-confirm-environment': confirmed,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(note === undefined ? {} : { 'x-change-note': note }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    // Every answer of the API is an object, or empty.
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  }

  static async #enter(url: string, path: string, body: unknown): Promise<Person> {
    const response = await fetch(`${url}/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return new Person(url, cookie);
  }
}
