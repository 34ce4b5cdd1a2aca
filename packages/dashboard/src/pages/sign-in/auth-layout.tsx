import { type ReactNode, useEffect } from 'react';
import { Logo } from '../../components/logo.tsx';
import { messages } from './messages.tsx';

/** The frame of the screens that need no session. */
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

/** Explains how to create the first account. */
export function SetupNeeded({ isLinkExpired = false }: { isLinkExpired?: boolean }) {
  const [terminal, restart, container] = messages.setupSteps;
  return (
    <AuthLayout
      title={messages.setupNeededTitle}
      intro={isLinkExpired ? messages.setupLinkExpired : messages.setupNeeded}
    >
      <ol className="list-decimal space-y-2 pl-5 text-ink-2">
        <li>{terminal}</li>
        <li>{restart}</li>
        <li>{container}</li>
      </ol>
      <p className="mt-4 text-xs text-ink-3">{messages.setupBySettings}</p>
    </AuthLayout>
  );
}
