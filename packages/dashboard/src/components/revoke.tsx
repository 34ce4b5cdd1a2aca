import type { QueryKey } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useConfirmedAction } from './actions.tsx';
import { Button } from './button.tsx';
import { RecordActions } from './tables.tsx';

/** What a screen says about revoking one of its records. The functions take its name. */
interface RevokeTexts {
  readonly revoke: string;
  readonly revokeNamed: (name: string) => string;
  readonly revokeTitle: (name: string) => string;
  readonly revokeAction: string;
  readonly revoked: (name: string) => string;
  readonly revokeFailed: (name: string) => string;
}

/** The actions on a key or token: revokes it, once its name is typed. Empty if that is not possible. */
export function RevokeActions({
  name,
  isPossible,
  texts,
  body,
  run,
  stale,
}: {
  name: string;
  isPossible: boolean;
  texts: RevokeTexts;
  /** What the question says about the consequences. */
  body: () => ReactNode | Promise<ReactNode>;
  run: () => Promise<unknown>;
  /** The lists to read again. */
  stale: readonly QueryKey[];
}) {
  const perform = useConfirmedAction();
  async function revoke(): Promise<void> {
    const question = { title: texts.revokeTitle(name), body: await body(), action: texts.revokeAction };
    await perform(
      { ...question, isDangerous: true, typed: name },
      { run, done: texts.revoked(name), failed: texts.revokeFailed(name), stale },
    );
  }
  return (
    <RecordActions>
      {isPossible && (
        <Button aria-label={texts.revokeNamed(name)} onClick={() => void revoke()}>
          {texts.revoke}
        </Button>
      )}
    </RecordActions>
  );
}
