import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { onLostAnswer } from '../api/lost-answers.ts';
import { toast } from '../components/toasts.tsx';
import { messages } from './messages.ts';

/** As long as timers last: until the outcome is known. */
const UNTIL_KNOWN_MS = 2 ** 31 - 1;

/** Says that the answer to a change was lost, and what became of it once that is known. */
export function LostAnswerWatch() {
  const queries = useQueryClient();
  useEffect(
    () =>
      onLostAnswer(async ({ what, outcome: found }) => {
        const about = messages.checking(what);
        const dismiss = toast({ kind: 'news', about, title: about, durationMs: UNTIL_KNOWN_MS });
        const outcome = await found;
        dismiss();
        // The screen that sent it says that it was not saved.
        if (outcome === 'none') return;
        const isUnknown = outcome === 'unknown';
        const title = isUnknown ? messages.outcomeUnknown(what) : messages.answerLost(what);
        toast({
          kind: isUnknown ? 'problem' : 'done',
          title,
          ...(isUnknown ? { detail: messages.lookFirst, durationMs: UNTIL_KNOWN_MS } : {}),
        });
        void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
      }),
    [queries],
  );
  return null;
}
