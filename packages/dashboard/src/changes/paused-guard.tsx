import ShieldOff from 'lucide-react/icons/shield-off';
import { announce } from '../components/live-region.tsx';
import { messages } from './dialog-messages.ts';

/** Shows that the person has paused the question for an environment, and resumes it. */
export function PausedGuard({
  environment,
  minutes,
  onResume,
}: {
  environment: string;
  /** How long it is still paused. */
  minutes: number;
  onResume: () => void;
}) {
  return (
    <button
      type="button"
      title={messages.guardPaused(environment)}
      className="inline-flex h-7 max-w-96 shrink-0 items-center gap-1.5 rounded-full bg-warn-soft px-2.5 text-xs text-warn hover:underline forced-colors:border"
      onClick={() => {
        onResume();
        announce(messages.guardResumed(environment));
      }}
    >
      <ShieldOff size={13} aria-hidden className="shrink-0" />
      <span className="truncate max-md:sr-only">{environment}</span>
      <span className="whitespace-nowrap max-sm:sr-only">{messages.guardLeft(minutes)}</span>
    </button>
  );
}
