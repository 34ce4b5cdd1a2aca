import type { Configuration, CustomFetch, ExportedJWKSCache } from 'openid-client';
import type { Logger } from 'pino';
import { normalizeIssuer, type SsoSettings } from '../../domain/sso.ts';

/** Longest that the provider may take to answer one request, in seconds. A sign-in sends at most three. */
const TIMEOUT_SECONDS = 5;

/** Longest answer of the provider, in bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** How far the provider's clock may differ, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 60;

/** How long the provider's description is used before it is read again, in milliseconds. */
const DESCRIPTION_MS = 3_600_000;

/** After a failure, how long the next request fails without asking, in milliseconds. */
const PAUSE_MS = 5000;

/** Sign-ins that are checked at once on this node; more are refused. One network gets half of them at most. */
const MAX_AT_ONCE = 40;

/** What is wrong: the provider cannot be used now, it refused the person, or its answer cannot be trusted. */
export type ProviderProblem = 'unavailable' | 'denied' | 'invalid';

/** The provider does not vouch for the person. The message is for the log: it holds no code, token or claim. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly problem: ProviderProblem;

  constructor(problem: ProviderProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** The secrets of one sign-in: what the provider must return, and what proves that it was begun here. */
export interface SignOnSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The claims of a person, from the ID token and the UserInfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

/** The person that the provider vouches for. */
export interface VouchedPerson {
  readonly subject: string;
  readonly idToken: Claims;
  /** Absent where the provider has no such endpoint, or the ID token has all that is needed. */
  readonly userInfo?: Claims;
  /** The scopes that the provider says it knows. */
  readonly offeredScopes: readonly string[];
}

/** How an answer of the provider is checked. */
export interface FinishOptions {
  /** Where the browser is: places are shared between networks. */
  readonly network: string;
  /** Whether the UserInfo endpoint must be asked, too. */
  readonly needs: (idToken: Claims) => boolean;
}

/** What an {@link IdentityProvider} needs. */
export interface IdentityProviderOptions {
  readonly settings: SsoSettings;
  /** The address the provider sends people back to, exactly as it is registered there. */
  readonly redirectUri: string;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

type Library = typeof import('openid-client');

interface Known {
  readonly library: Library;
  /** As the library needs it, without keys that it has read. */
  readonly newConfiguration: () => Configuration;
  readonly configuration: Configuration;
  readonly readAt: number;
}

/** The library reads the keys again for a token of an unknown one, if it has had them for longer than this, in seconds. */
const KEYS_SECONDS = 60;

/**
 * The identity provider, by OpenID Connect. Its description is read when it is first needed, so that a node starts without
 * it. Every method rejects with a {@link ProviderError}.
 */
export class IdentityProvider {
  readonly #options: IdentityProviderOptions;
  #known: Known | undefined;
  #reading: Promise<Known> | undefined;
  #failure: { readonly error: ProviderError; readonly until: number } | undefined;
  /** The keys of the provider, dated so that a token of an unknown key lets the library read them again, once. */
  #keys: ExportedJWKSCache | undefined;
  /** How many sign-ins are checked now, by network. */
  readonly #running = new Map<string, number>();

  constructor(options: IdentityProviderOptions) {
    this.#options = options;
  }

  /** New secrets for a sign-in, and the page of the provider where it continues. */
  async begin(): Promise<{ readonly secrets: SignOnSecrets; readonly url: string }> {
    const { library, configuration } = await this.#ready();
    const { scopes } = this.#options.settings;
    const verifier = library.randomPKCECodeVerifier();
    const secrets = { state: library.randomState(), nonce: library.randomNonce(), verifier };
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#options.redirectUri,
      scope: scopes,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { secrets, url: this.#webAddress(url) };
  }

  /** The person whom the provider's answer vouches for: `search` is the query with which the browser came back. */
  async finish(
    search: string,
    secrets: SignOnSecrets,
    { network, needs }: FinishOptions,
  ): Promise<VouchedPerson> {
    this.#take(network);
    try {
      const known = await this.#ready();
      return await this.#exchange(known, search, secrets, needs).catch((error: unknown) => {
        throw problemOf(error, known.library);
      });
    } finally {
      this.#count(network, -1);
    }
  }

  /** Takes a place while the network holds fewer than are free, so that false answers of one network leave places for others. */
  #take(network: string): void {
    const taken = [...this.#running.values()].reduce((sum, count) => sum + count, 0);
    if ((this.#running.get(network) ?? 0) >= MAX_AT_ONCE - taken)
      throw new ProviderError('unavailable', 'too many sign-ins at once');
    this.#count(network, 1);
  }

  #count(network: string, change: 1 | -1): void {
    const count = (this.#running.get(network) ?? 0) + change;
    if (count === 0) this.#running.delete(network);
    else this.#running.set(network, count);
  }

  /** Where the browser ends the person's session at the provider; `undefined` where the provider has no such page or does not answer. */
  async signOutUrl(returnTo: string): Promise<string | undefined> {
    try {
      const { library, configuration } = await this.#ready();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      return this.#webAddress(
        library.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }),
      );
    } catch {
      // The session here has ended all the same.
      return undefined;
    }
  }

  async #exchange(
    { library, newConfiguration }: Known,
    search: string,
    { state, nonce, verifier }: SignOnSecrets,
    needs: (idToken: Claims) => boolean,
  ): Promise<VouchedPerson> {
    const { redirectUri, settings } = this.#options;
    // A new one each time, because the library takes keys from outside only into one that has read none.
    const configuration = newConfiguration();
    if (this.#keys !== undefined) library.setJwksCache(configuration, this.#keys);

    const tokens = await library
      .authorizationCodeGrant(configuration, new URL(redirectUri + search), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      .finally(() => this.#keepKeys(library.getJwksCache(configuration)));
    const idToken = tokens.claims();
    if (idToken === undefined || idToken.sub === '' || normalizeIssuer(idToken.iss) !== settings.issuer) {
      throw new ProviderError('invalid', 'the ID token is of another issuer');
    }
    const subject = idToken.sub;
    const { userinfo_endpoint: endpoint, scopes_supported: offeredScopes = [] } =
      configuration.serverMetadata();
    if (!needs(idToken) || endpoint === undefined) return { subject, idToken, offeredScopes };

    const userInfo = await library.fetchUserInfo(configuration, tokens.access_token, subject);
    return { subject, idToken, userInfo, offeredScopes };
  }

  #keepKeys(read: ExportedJWKSCache | undefined): void {
    if (read === undefined || read.uat === this.#keys?.uat) return;
    this.#keys = { jwks: read.jwks, uat: read.uat - KEYS_SECONDS };
  }

  /** The library and the provider's description: from memory, or read now. An old one serves if that fails. */
  async #ready(): Promise<Known> {
    const now = this.#options.now();
    const known = this.#known;
    if (known !== undefined && now - known.readAt < DESCRIPTION_MS) return known;
    if (this.#failure !== undefined && now < this.#failure.until) {
      if (known !== undefined) return known;
      throw this.#failure.error;
    }
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    try {
      return await this.#reading;
    } catch (error) {
      if (known !== undefined) return known;
      throw error;
    }
  }

  async #read(): Promise<Known> {
    const { now, settings, log } = this.#options;
    // Loaded here, so that a node without single sign-on never loads it.
    const library = await import('openid-client');
    try {
      const newConfiguration = await this.#discover(library);
      const known = { library, newConfiguration, configuration: newConfiguration(), readAt: now() };
      this.#known = known;
      this.#failure = undefined;
      return known;
    } catch (cause) {
      const { message } = problemOf(cause, library);
      const error = new ProviderError('unavailable', message);
      this.#failure = { error, until: now() + PAUSE_MS };
      log.warn({ issuer: settings.issuer, reason: message }, 'the identity provider cannot be used');
      throw error;
    }
  }

  async #discover(library: Library): Promise<() => Configuration> {
    const { issuer, clientId, clientSecret } = this.#options.settings;
    const isPlain = issuer.startsWith('http:');
    const described = await library.discovery(new URL(issuer), clientId, undefined, library.None(), {
      [library.customFetch]: boundedFetch,
      timeout: TIMEOUT_SECONDS,
      ...(isPlain && { execute: [library.allowInsecureRequests] }),
    });

    const { supportsPKCE: _, ...metadata } = described.serverMetadata();
    // The library lets Entra ID name an issuer for all tenants: anyone with a Microsoft account could sign in.
    if (normalizeIssuer(metadata.issuer) !== issuer) {
      throw new ProviderError(
        'unavailable',
        `the provider calls itself ${metadata.issuer}: set that as the issuer`,
      );
    }
    const { authorization_endpoint: page = '' } = metadata;
    if (!URL.canParse(page))
      throw new ProviderError('unavailable', 'the provider names no page to sign in at');
    this.#webAddress(new URL(page));

    const accepted = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const secretIn = accepted.includes('client_secret_post')
      ? library.ClientSecretPost
      : library.ClientSecretBasic;

    return () => {
      const configuration = new library.Configuration(
        metadata,
        clientId,
        { [library.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
        clientSecret === undefined ? library.None() : secretIn(clientSecret),
      );
      configuration.timeout = TIMEOUT_SECONDS;
      configuration[library.customFetch] = boundedFetch;
      if (isPlain) library.allowInsecureRequests(configuration);
      // Also checks the signature of ID tokens, which TLS to the token endpoint vouches for already.
      library.enableNonRepudiationChecks(configuration);
      return configuration;
    };
  }

  /** The address of a page that the provider named. */
  #webAddress(url: URL): string {
    const isWeb =
      url.protocol === 'https:' ||
      (url.protocol === 'http:' && this.#options.settings.issuer.startsWith('http:'));
    if (isWeb) return url.href;
    throw new ProviderError('unavailable', 'the provider names a page that is not at an https:// address');
  }
}

/** A `fetch` that follows no redirect and refuses an answer that is too long, compressed or not. */
const boundedFetch: CustomFetch = async (url, { body, ...options }) => {
  // `URLSearchParams`: the library sends forms only, or nothing.
  const form = body as URLSearchParams | null | undefined;
  const response = await fetch(url, { ...options, ...(form && { body: form }), redirect: 'manual' });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new ProviderError('unavailable', 'the answer is too long');
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(size === 0 ? null : Buffer.concat(chunks), { status, headers });
};

/** Codes of the library for an answer that it understood but does not trust. */
const UNTRUSTED =
  /^OAUTH_(INVALID_RESPONSE|JWT_TIMESTAMP_CHECK_FAILED|JWT_CLAIM_COMPARISON_FAILED|JSON_ATTRIBUTE_COMPARISON_FAILED|KEY_SELECTION_FAILED|UNSUPPORTED_OPERATION|PARSE_ERROR|JWT_USERINFO_EXPECTED)$/;

/** What an error of the library means. Its causes are left out: they hold codes, tokens and claims. */
function problemOf(error: unknown, library: Library): ProviderError {
  if (error instanceof ProviderError) return error;
  const inner = error instanceof Error ? error.cause : undefined;
  if (inner instanceof ProviderError) return inner;
  if (error instanceof library.AuthorizationResponseError) {
    const problem = isPassing(error.error) ? 'unavailable' : 'denied';
    return new ProviderError(problem, `the provider answered ${errorCode(error.error)}`);
  }
  if (error instanceof library.ResponseBodyError) {
    // A used or foreign code; anything else is between this server and the provider, such as a wrong client secret.
    const problem = error.error === 'invalid_grant' ? 'invalid' : 'unavailable';
    return new ProviderError(problem, `the provider refused the request: ${errorCode(error.error)}`);
  }
  if (error instanceof library.ClientError) {
    const problem = UNTRUSTED.test(error.code ?? '') ? 'invalid' : 'unavailable';
    return new ProviderError(
      problem,
      `${error.message}${error.code === undefined ? '' : ` (${error.code})`}${systemCode(inner)}`,
    );
  }
  return new ProviderError('unavailable', `the provider does not answer${systemCode(error)}`);
}

/** Errors of the authorization endpoint that may pass by themselves. */
function isPassing(code: string): boolean {
  return code === 'server_error' || code === 'temporarily_unavailable';
}

/** An error code of OAuth: text of the provider, so it is cut to what a code may be. */
function errorCode(text: string): string {
  return /^[a-z_]{1,64}$/.test(text) ? text : 'an unknown error';
}

/** The code of a failed connection, such as ECONNREFUSED. */
function systemCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^(?!OAUTH_)[A-Za-z_]{1,64}$/.test(code) ? `: ${code}` : '';
}
