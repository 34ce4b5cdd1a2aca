import type { Logger } from 'pino';
import { isSameSecret } from '../../domain/secret.ts';
import { logFailure, notFound } from '../../http/errors.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { type PublicCall, tagged } from '../../management/api/operation.ts';
import { cookieIn, removeCookie, setCookie } from '../people/cookies.ts';
import { SIGN_ON_MS } from '../people/operator.ts';
import type { PeopleContext } from '../people/people.ts';
import { sessionCookie, sessionIdIn, verifySession } from '../people/sessions.ts';
import { networkOf } from '../people/sign-in.ts';
import { ProviderError, type SignOnSecrets } from './identity-provider.ts';
import { needsUserInfo, personOf, signOn } from './sign-on.ts';
import { SignOnRefused, SSO_PATHS, type Sso, type SsoProblem } from './sso.ts';

/** The cookie that binds a sign-on to the browser that began it. */
export const SSO_COOKIE = 'halyard_sso';

/** Longest path to return to: with the rest, the cookie stays below the 4 KB that browsers keep. */
const MAX_PATH_LENGTH = 1000;

/** How far the clock of the node that began a sign-on may be ahead, in milliseconds. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Seconds a request may wait for the provider, which answers up to four requests. */
const WORK_SECONDS = 60;

/** A sign-on that has begun, as its browser keeps it. Only that browser can read or change it, so it is not signed. */
interface Begun extends SignOnSecrets {
  /** The page to return to, a path of this server. */
  readonly from: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

const NO_ADMIN =
  'no administrator is left: the groups of the last one give another role. Give someone a group with "admin", or invite with the administration token';

const visited = {
  method: 'get',
  errors: ['not_found'],
  answer: { status: 303, description: 'Where the browser continues.' },
} as const;

/** Mounts the two addresses that browsers visit to sign in with the identity provider. They answer with redirects only. */
export function mountSso(app: ManagementApp, context: PeopleContext, log: Logger): void {
  const isSecure = context.publicUrl.startsWith('https:');
  const { mountPublic } = tagged(app, 'Session');

  mountPublic({
    ...visited,
    path: SSO_PATHS.start,
    id: 'startSingleSignOn',
    summary: 'Visited by a browser: sign in with the identity provider; `from` is the page to return to',
    handle: async (call) => {
      const { provider } = requireSso(context, call);
      const from = ownPath(new URL(call.request.url).searchParams.get('from') ?? '/', context.publicUrl);
      try {
        const { secrets, url } = await provider.begin();
        const begun: Begun = { ...secrets, from, at: context.now() };
        const value = Buffer.from(JSON.stringify(begun)).toString('base64url');
        const cookie = setCookie(SSO_COOKIE, value, { isSecure, maxAgeSeconds: SIGN_ON_MS / 1000 });
        return redirect(url, [cookie]);
      } catch (error) {
        return redirect(signInPage(problemOf(error, call, log), from));
      }
    },
  });

  mountPublic({
    ...visited,
    path: SSO_PATHS.callback,
    id: 'finishSingleSignOn',
    summary: 'Visited by a browser that comes back from the identity provider',
    handle: async (call) => {
      const sso = requireSso(context, call);
      const { request, caller } = call;
      const begun = begunIn(request, { isSecure });
      const cookies = [...removeCookie(SSO_COOKIE)];

      try {
        if (begun === undefined || !isAnswerTo(begun, request, context.now())) {
          // Perhaps the same sign-in was finished in another tab.
          const id = sessionIdIn(request, context.publicUrl);
          const isSignedIn = id !== undefined && (await verifySession(context, id)) !== undefined;
          if (isSignedIn) return redirect('/', cookies);
          throw new SignOnRefused('expired');
        }

        const { settings, provider } = sso;
        const vouched = await provider.finish(new URL(request.url).search, begun, {
          network: networkOf(caller.ip ?? ''),
          needs: (idToken) => needsUserInfo(idToken, settings),
        });

        const person = personOf(vouched, settings);
        const { id } = await signOn(context, person, {
          settings,
          nonce: begun.nonce,
          caller,
          onNoAdmin: () => log.warn(NO_ADMIN),
        });

        const target = new URL(ownPath(begun.from, context.publicUrl), context.publicUrl);
        return redirect(target.href, [
          ...cookies,
          sessionCookie(id, { isSecure, lifetime: settings.session }),
        ]);
      } catch (error) {
        return redirect(signInPage(problemOf(error, call, log), begun?.from ?? '/'), cookies);
      }
    },
  });
}

function requireSso({ sso }: PeopleContext, { request, allow }: PublicCall<unknown>): Sso {
  if (sso === undefined) throw notFound(new URL(request.url).pathname);
  allow(WORK_SECONDS);
  return sso;
}

/** A path of this server as it was given; `/` for anything else, such as the address of another server. */
function ownPath(text: string, publicUrl: string): string {
  // Browsers read "//" and "/\" as another server, and drop control characters.
  if (!/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(text)) return '/';
  const { origin, pathname, search } = new URL(text, publicUrl);
  const isPage = origin === new URL(publicUrl).origin && !/^\/(\/|api(\/|$))/.test(pathname);
  const path = pathname + search;
  return isPage && path.length <= MAX_PATH_LENGTH ? path : '/';
}

function begunIn(request: Request, scheme: { readonly isSecure: boolean }): Begun | undefined {
  try {
    const text = Buffer.from(cookieIn(request, SSO_COOKIE, scheme) ?? '', 'base64url').toString();
    const { state, nonce, verifier, from, at } = JSON.parse(text);
    const isComplete = [state, nonce, verifier, from].every((one) => typeof one === 'string' && one !== '');
    return isComplete && typeof at === 'number' ? { state, nonce, verifier, from, at } : undefined;
  } catch {
    // No cookie, or not one of ours.
    return undefined;
  }
}

/** Whether the browser comes back from what it began, in time. */
function isAnswerTo({ state, at }: Begun, { url }: Request, now: number): boolean {
  const states = new URL(url).searchParams.getAll('state');
  const [returned = ''] = states;
  const age = now - at;
  return (
    states.length === 1 && isSameSecret(returned, state) && age < SIGN_ON_MS && age > -CLOCK_TOLERANCE_MS
  );
}

/** Logs why a person is not signed in, without anything that the provider sent. */
function problemOf(error: unknown, { caller, requestId }: PublicCall<unknown>, log: Logger): SsoProblem {
  if (error instanceof SignOnRefused || error instanceof ProviderError) {
    // JSON leaves out a reason that is undefined.
    const reason = error instanceof ProviderError ? error.message : error.reason;
    log.warn({ ip: caller.ip, problem: error.problem, reason }, 'a single sign-on was refused');
    return error.problem;
  }
  logFailure(error, { log, requestId });
  return 'failed';
}

function signInPage(problem: SsoProblem, from: string): string {
  return `/sign-in?${new URLSearchParams({ sso: problem, ...(from !== '/' && { from }) })}`;
}

function redirect(location: string, cookies: readonly string[] = []): Response {
  const response = new Response(null, { status: 303, headers: { Location: location } });
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
  return response;
}
