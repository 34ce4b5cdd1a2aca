import { type ReactNode, useEffect } from 'react';
import { Logo } from '../../shell/logo.tsx';

/** The frame of the screens before somebody is signed in. */
export function AuthLayout({
  title,
  intro,
  children,
}: {
  title: string;
  intro?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Halyard`;
  }, [title]);
  return (
    <main className="flex min-h-dvh flex-col items-center px-4 pt-[14vh] pb-10">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2.5">
          <Logo size={28} />
          <span className="text-lg font-semibold">Halyard</span>
        </div>
        <div className="rounded-lg border border-line bg-surface p-6">
          <h1 className="text-lg font-semibold">{title}</h1>
          {intro !== undefined && <div className="mt-1 text-ink-2">{intro}</div>}
          <div className="mt-4">{children}</div>
        </div>
      </div>
    </main>
  );
}

/** What a visitor sees while there is no account at all. */
export function SetupNeeded({ isLinkDead = false }: { isLinkDead?: boolean }) {
  return (
    <AuthLayout
      title="Welcome aboard"
      intro={
        isLinkDead
          ? 'This link is too old: the server has printed another one since. Nobody can sign in yet.'
          : 'Nobody can sign in yet. The first administrator needs a one-time link.'
      }
    >
      <ol className="list-decimal space-y-2 pl-5 text-ink-2">
        <li>
          In the terminal where Halyard was started, open the link with{' '}
          <code className="font-mono text-xs text-ink">/setup#</code> in it. It works once.
        </li>
        <li>It is gone? Start the server again: each start prints a new one.</li>
        <li>
          Without a terminal, such as in a container, run there{' '}
          <code className="font-mono text-xs text-ink">
            halyard operator invite you@example.com --role admin
          </code>
          : it prints a link.
        </li>
      </ol>
      <p className="mt-4 text-xs text-ink-3">
        Or start it with <code className="font-mono">HALYARD_ADMIN_EMAIL</code> and{' '}
        <code className="font-mono">HALYARD_ADMIN_PASSWORD</code> to make the first account.
      </p>
    </AuthLayout>
  );
}
