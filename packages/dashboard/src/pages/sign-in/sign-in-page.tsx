import { useEffect } from 'react';
import { Redirect, useSearch, useSearchParams } from 'wouter';
import { useSession } from '../../api/session.ts';
import type { SessionRecord, SsoProblem } from '../../api/types.ts';
import { resumeGuards } from '../../changes/change-guards.tsx';
import { Button } from '../../components/button.tsx';
import { FormError } from '../../components/field.tsx';
import { AuthLayout, SetupNeeded } from './auth-layout.tsx';
import { messages } from './messages.tsx';
import { SignInForm, ssoAddress } from './sign-in-form.tsx';

/** The screen "Sign in". */
export function SignInPage() {
  const { data: session } = useSession();
  const search = useSearch();
  const target = returnPath(search);
  // One person's "don't ask again" must not apply to the next person at this browser.
  useEffect(resumeGuards, []);
  if (session?.signedIn) return <Redirect to={target} replace />;
  if (session?.setupNeeded && session.sso === undefined) return <SetupNeeded />;
  return (
    <AuthLayout title={messages.signInTitle} intro={target === '/' ? undefined : messages.signInReturn}>
      {session?.sso === undefined ? (
        <SignInForm />
      ) : (
        <SsoSignIn sso={session.sso} isFirst={session.setupNeeded} target={target} search={search} />
      )}
    </AuthLayout>
  );
}

/** The way to the identity provider, what went wrong there, and the form for passwords where they are accepted. */
function SsoSignIn({
  sso,
  isFirst,
  target,
  search,
}: {
  sso: NonNullable<SessionRecord['sso']>;
  /** Whether there are no accounts yet. */
  isFirst: boolean;
  target: string;
  search: string;
}) {
  const problem = problemIn(search);
  const [, setParams] = useSearchParams();

  /** The person tries another way: what is wrong with this one would stand beside what is wrong with that. */
  function forgetProblem(): void {
    if (problem === undefined) return;
    setParams(
      (params) => {
        params.delete('sso');
        return params;
      },
      { replace: true },
    );
  }

  return (
    <div className="flex flex-col gap-4">
      {problem !== undefined && <FormError>{messages.ssoProblems[problem](sso.label)}</FormError>}
      <Button
        kind="primary"
        // A long name of the provider gets more lines.
        className="h-auto! min-h-8 py-1 whitespace-normal!"
        autoFocus
        onClick={() => location.assign(ssoAddress(sso, target))}
      >
        <span className="wrap-anywhere">{messages.signInWith(sso.label)}</span>
      </Button>
      {isFirst && <p className="text-xs text-ink-3">{messages.ssoFirst}</p>}
      {!isFirst && !sso.only && (
        <>
          <div className="flex items-center gap-3 text-xs text-ink-3">
            <span className="h-px flex-1 bg-line" /> {messages.or} <span className="h-px flex-1 bg-line" />
          </div>
          <SignInForm isSecondChoice onTry={forgetProblem} />
        </>
      )}
    </div>
  );
}

/** What the server says about the last sign-in with the identity provider. */
function problemIn(search: string): SsoProblem | undefined {
  const code = new URLSearchParams(search).get('sso');
  if (code === null) return undefined;
  // The check makes it one.
  return Object.hasOwn(messages.ssoProblems, code) ? (code as SsoProblem) : 'failed';
}

/** The page to open after signing in: the one the person came from if it is on this server, else the first. */
function returnPath(search: string): string {
  const from = new URLSearchParams(search).get('from') ?? '/';
  // "//host" and "/\host" are addresses of other servers.
  return /^\/(?![/\\])/.test(from) ? from : '/';
}
