/** A flag's state as the management API takes it. */
export interface FlagStateInput {
  readonly enabled: boolean;
  readonly value?: unknown;
  readonly rolloutPct?: number;
}

/** One step of a multi-flag change; `null` removes the state. */
export interface ChangeInput {
  readonly key: string;
  readonly state: FlagStateInput | null;
}

/** The answer of a write of one flag's state. */
export interface StateWritten {
  readonly key: string;
  readonly state: FlagStateInput;
  readonly revision: number;
  readonly changed: boolean;
  readonly environmentRevision: number;
  /** The row of the change log; absent when nothing changed. */
  readonly seq?: number;
}

/** A new project key, shown this once. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
}

/** Any other answer than success. */
export class ManagementError extends Error {
  override readonly name = 'ManagementError';
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;

  constructor(what: string, status: number, body: unknown, headers: Headers) {
    super(`${what} answered ${status}: ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Extras of one request. */
export interface ManagementRequest {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default 30,000 ms. */
  readonly timeoutMs?: number;
}

/** Where the management API is and who asks. */
export interface ManagementOptions {
  readonly url: string;
  readonly adminToken: string;
}

/** Prepares data through the real management API. Every method rejects with a {@link ManagementError} on refusal. */
export class Management {
  readonly #options: ManagementOptions;

  constructor(options: ManagementOptions) {
    this.#options = options;
  }

  /** Sends one request and returns the parsed body; `undefined` for an empty one. */
  async request(method: string, path: string, request: ManagementRequest = {}): Promise<unknown> {
    const response = await fetch(`${this.#options.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#options.adminToken}`,
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      signal: AbortSignal.timeout(request.timeoutMs ?? 30_000),
    });
    const text = await response.text();
    const body: unknown = parseBody(text);
    if (!response.ok) throw new ManagementError(`${method} ${path}`, response.status, body, response.headers);
    return body;
  }

  /** Makes a project with `development`, `staging` and `production`. */
  async createProject(name: string): Promise<void> {
    await this.request('POST', '/api/projects', { body: { name } });
  }

  async deleteProject(name: string): Promise<void> {
    await this.request('DELETE', `/api/projects/${encodeURIComponent(name)}`);
  }

  async createEnvironment(project: string, name: string): Promise<void> {
    await this.request('POST', `/api/projects/${encodeURIComponent(project)}/environments`, {
      body: { name },
    });
  }

  async deleteEnvironment(project: string, name: string): Promise<void> {
    await this.request('DELETE', environmentPath(project, name));
  }

  /** The environment's states and its revision. */
  async states(project: string, environment: string): Promise<EnvironmentStates> {
    // The answer's shape is the management API's contract; a test that gets another one fails where it uses it.
    return (await this.request('GET', `${environmentPath(project, environment)}/flags`)) as EnvironmentStates;
  }

  /** Writes one whole state; makes the flag where it is missing. */
  async putState(
    project: string,
    environment: string,
    key: string,
    state: FlagStateInput,
    request: ManagementRequest = {},
  ): Promise<StateWritten> {
    const path = `${environmentPath(project, environment)}/flags/${encodeURIComponent(key)}`;
    // As in `states`.
    return (await this.request('PUT', path, { ...request, body: state })) as StateWritten;
  }

  /** Removes a flag's state from one environment. */
  async removeState(project: string, environment: string, key: string): Promise<void> {
    await this.request('DELETE', `${environmentPath(project, environment)}/flags/${encodeURIComponent(key)}`);
  }

  /** Writes several states as one change: one revision, one frame. */
  async change(
    project: string,
    environment: string,
    changes: readonly ChangeInput[],
    request: ManagementRequest = {},
  ): Promise<ChangeWritten> {
    const path = `${environmentPath(project, environment)}/changes`;
    // As in `states`.
    return (await this.request('POST', path, { ...request, body: { changes } })) as ChangeWritten;
  }

  /** Makes a relay token; `scope` has names of `projects` and `environments`. */
  async createRelayToken(
    name: string,
    scope: object = {},
  ): Promise<{ readonly id: string; readonly token: string }> {
    const body = { name, ...scope };
    // As in `states`.
    return (await this.request('POST', '/api/relay-tokens', { body })) as { id: string; token: string };
  }

  /** Makes a project key for the environments. `expiresAt` is ISO 8601. */
  async createKey(
    project: string,
    environments: readonly string[],
    options: { readonly name?: string; readonly expiresAt?: string } = {},
  ): Promise<CreatedKey> {
    const { name = 'test', ...rest } = options;
    const path = `/api/projects/${encodeURIComponent(project)}/keys`;
    // As in `states`.
    return (await this.request('POST', path, { body: { name, environments, ...rest } })) as CreatedKey;
  }

  /** Revokes a key. Revoking it again does nothing. */
  async revokeKey(id: string): Promise<void> {
    await this.request('DELETE', `/api/keys/${encodeURIComponent(id)}`);
  }
}

/** What `GET …/flags` of an environment answers. */
export interface EnvironmentStates {
  readonly environment: string;
  readonly revision: number;
  readonly flags: readonly {
    readonly key: string;
    readonly state: FlagStateInput;
    readonly revision: number;
  }[];
}

/** The answer of a change of several flags. */
export interface ChangeWritten {
  readonly environment: string;
  readonly revision: number;
  readonly changed: readonly string[];
}

function environmentPath(project: string, environment: string): string {
  return `/api/projects/${encodeURIComponent(project)}/environments/${encodeURIComponent(environment)}`;
}

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: an answer from below the service, reported as it is.
    return text;
  }
}
