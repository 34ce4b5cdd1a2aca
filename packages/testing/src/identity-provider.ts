import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A person at the provider. Absent claims are not sent. */
export interface ProviderPerson {
  readonly sub: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The client that the provider knows. */
export interface ProviderClient {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The address of the dashboard, without a slash at its end. */
  readonly publicUrl: string;
  /** Where the provider listens on 127.0.0.1. Default: a free port. */
  readonly port?: number;
  /** The name of the key that signs ID tokens. Each provider has a key of its own. Default: `key`. */
  readonly keyId?: string;
}

/** A real OpenID provider in this process. It signs people in without a form. */
export interface TestIdentityProvider {
  readonly issuer: string;
  /** The person who signs in; without one, the sign-in is canceled. */
  person: ProviderPerson | undefined;
  /** Claims that only the UserInfo endpoint returns. */
  readonly onlyInUserInfo: Set<string>;
  /** Changes answers on their way out, by path. */
  readonly tampering: Map<string, (body: Record<string, unknown>) => unknown>;
  /** The requests so far, such as `GET /jwks`. */
  readonly asked: string[];
  /** A token with these claims, signed with the provider's key or with another one of the same name. */
  sign(claims: object, key?: 'own' | 'foreign'): Promise<string>;
  close(): void;
}

/** What this file uses of the package, which has no types of its own. */
interface Provider {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  readonly Grant: new (owner: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
}

interface Context {
  readonly path: string;
  readonly method: string;
  body: unknown;
  status: number;
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}

const SCOPE = 'openid email profile';
const CLAIMS = {
  openid: ['sub'],
  email: ['email', 'email_verified'],
  profile: ['name', 'groups', 'realm_access'],
};

/** Starts a provider that signs in its `person` without asking. */
export async function startIdentityProvider(client: ProviderClient): Promise<TestIdentityProvider> {
  const keys = { own: await newKey(), foreign: await newKey() };
  // Without the uses of the private half, which the public one does not have.
  const { key_ops: _, ext: __, ...jwk } = await crypto.subtle.exportKey('jwk', keys.own.privateKey);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(client.port ?? 0, '127.0.0.1', resolve));
  // A TCP server has this kind of address.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const known = new Map<string, ProviderPerson>();
  const identityProvider: TestIdentityProvider = {
    issuer,
    person: undefined,
    onlyInUserInfo: new Set(),
    tampering: new Map(),
    asked: [],
    sign: (claims, key = 'own') => sign(claims, keys[key].privateKey),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };

  const configuration = {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [`${client.publicUrl}/api/sso/callback`],
        post_logout_redirect_uris: [`${client.publicUrl}/sign-in`],
      },
    ],
    claims: CLAIMS,
    conformIdTokenClaims: false,
    cookies: { keys: ['the key of its cookies'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    jwks: { keys: [{ ...jwk, use: 'sig', kid: client.keyId ?? 'key' }] },
    pkce: { required: () => true },
    ttl: {
      IdToken: 300,
      AccessToken: 300,
      AuthorizationCode: 60,
      Grant: 600,
      Interaction: 600,
      Session: 600,
    },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: (use: string) => {
        const { person } = identityProvider;
        const { claims } = (person?.sub === sub ? person : known.get(sub)) ?? { claims: {} };
        const isSent = ([name]: [string, unknown]) =>
          use === 'userinfo' || !identityProvider.onlyInUserInfo.has(name);
        return { sub, ...Object.fromEntries(Object.entries(claims).filter(isSent)) };
      },
    }),
    loadExistingGrant: async ({ oidc }: Context) => {
      const grant = new provider.Grant({
        clientId: oidc.client.clientId,
        accountId: oidc.session.accountId,
      });
      grant.addOIDCScope(SCOPE);
      await grant.save();
      return grant;
    },
  };

  const provider = await newProvider(issuer, configuration);
  provider.use(async (context, next) => {
    identityProvider.asked.push(`${context.method} ${context.path}`);
    await next();
    const tamper = identityProvider.tampering.get(context.path);
    // The bodies of the paths that tests change are objects.
    if (tamper === undefined) return;
    context.body = await tamper(context.body as Record<string, unknown>);
    context.status = 200;
  });

  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return answer(request, response);
    const { person } = identityProvider;
    if (person !== undefined) known.set(person.sub, person);
    void provider.interactionFinished(
      request,
      response,
      person === undefined ? { error: 'access_denied' } : { login: { accountId: person.sub } },
    );
  });
  return identityProvider;
}

/** The page that asks whether to sign out. */
function logoutSource(context: Pick<Context, 'body'>, form: string): void {
  const yes = '<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>';
  context.body = `<!doctype html><link rel="icon" href="data:,"><title>Sign out</title>${form}${yes}`;
}

/** Loads the package and creates a provider, without its advice on the console about production. */
async function newProvider(issuer: string, configuration: object): Promise<Provider> {
  const { info, warn } = console;
  Object.assign(console, { info: () => {}, warn: () => {} });
  try {
    // @ts-expect-error: the package has no types.
    const { Provider } = await import('oidc-provider');
    return new Provider(issuer, configuration);
  } finally {
    Object.assign(console, { info, warn });
  }
}

const RS256 = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};

function newKey(): Promise<CryptoKeyPair> {
  // `CryptoKeyPair`: this algorithm has two keys.
  return crypto.subtle.generateKey(RS256, true, ['sign', 'verify']) as Promise<CryptoKeyPair>;
}

async function sign(claims: object, key: CryptoKey): Promise<string> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'RS256', kid: 'key', typ: 'JWT' })}.${part(claims)}`;
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key, Buffer.from(text));
  return `${text}.${Buffer.from(signature).toString('base64url')}`;
}
