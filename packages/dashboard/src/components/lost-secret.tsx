import type { ApiError } from '../api/api-error.ts';
import { targetOfChange } from '../api/audit.ts';
import { useAction } from './actions.tsx';
import { Button } from './button.tsx';
import { messages } from './messages.ts';

/**
 * Says that something was created whose secret was lost with the answer, and offers to revoke it. Without `revoke` the text
 * says what to do.
 */
export function LostSecret({
  answer,
  text,
  revoke,
  onClose,
}: {
  answer: ApiError;
  text: string;
  /** Revokes what the lost answer was about, by its id. */
  revoke?: (id: string) => Promise<unknown>;
  onClose: () => void;
}) {
  const perform = useAction();
  const [seq] = answer.changes;

  async function run(): Promise<void> {
    const { lostSecret: texts } = messages;
    const revokeLost = async () => revoke?.(await targetOfChange(seq ?? 0));
    const isDone = await perform({
      run: revokeLost,
      done: texts.revoked,
      failed: texts.revokeFailed,
      stale: [],
    });
    if (isDone) onClose();
  }

  return (
    <div className="mt-3 flex flex-col items-start gap-3">
      <p>{text}</p>
      {revoke !== undefined && seq !== undefined && (
        <Button kind="danger" onClick={() => void run()}>
          {messages.lostSecret.revoke}
        </Button>
      )}
    </div>
  );
}
