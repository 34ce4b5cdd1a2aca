import ArrowRight from 'lucide-react/icons/arrow-right';
import { messages } from './messages.ts';

/** The arrow between what something was and what it is now. */
export function Becomes() {
  return (
    <ArrowRight
      size={12}
      role="img"
      aria-label={messages.becomes}
      className="inline shrink-0 self-center align-[-1px] text-ink-3"
    />
  );
}
