import { useLiveStatus } from '../api/live.tsx';
import type { LiveStatus } from '../api/live-connection.ts';
import { classNames } from '../components/class-names.ts';

const LOOKS: Readonly<Record<LiveStatus, readonly [word: string, title: string, mark: string]>> = {
  open: ['Live', 'Changes of others appear here at once', 'bg-env-green'],
  connecting: ['Connecting', 'Connecting to the server', 'bg-env-gray animate-shimmer'],
  lost: ['Offline', 'No connection: what you see may be old. It is being tried again', 'bg-env-red'],
  paused: ['Paused', 'This tab was hidden: updates go on when it is shown', 'bg-env-gray'],
};

/** Whether changes arrive as they happen. */
export function ConnectionDot() {
  const [word, title, mark] = LOOKS[useLiveStatus()];
  return (
    <span className="inline-flex items-center gap-1.5 text-xs text-ink-3" title={title} role="status">
      <span aria-hidden className={classNames('size-2 rounded-full forced-color-adjust-none', mark)} />
      <span className="max-sm:sr-only">{word}</span>
    </span>
  );
}
