import { Door } from './door.tsx';

/** What a visitor sees while there is no account at all. */
export function SetupNeeded({ isLinkDead = false }: { isLinkDead?: boolean }) {
  return (
    <Door
      title="Welcome aboard"
      intro={
        isLinkDead
          ? 'This link is too old: the server has printed another one since. Nobody can sign in yet.'
          : 'Nobody can sign in yet. The first administrator comes in through a link that the server printed when it started.'
      }
    >
      <ol className="list-decimal space-y-2 pl-5 text-ink-2">
        <li>Look at the terminal or the log where Halyard was started.</li>
        <li>
          Open the line that has <code className="font-mono text-xs text-ink">/setup#</code> in it. It works
          once.
        </li>
        <li>It is gone? Start the server again: each start prints a new one.</li>
      </ol>
      <p className="mt-4 text-xs text-ink-3">
        Or start it with <code className="font-mono">HALYARD_ADMIN_EMAIL</code> and{' '}
        <code className="font-mono">HALYARD_ADMIN_PASSWORD</code> to make the first account.
      </p>
    </Door>
  );
}
