import { useState } from 'react';
import { useRights } from '../../api/session.ts';
import { createOwnToken, revokeOwnToken, tokenStatus, useOwnTokens } from '../../api/tokens.ts';
import type { TokenRecord } from '../../api/types.ts';
import { useCreating } from '../../browser/use-search-state.ts';
import { CreateButton } from '../../components/button.tsx';
import { useCreateCommand } from '../../components/commands.tsx';
import { mayChange, type RoleChoice, RoleFields } from '../../components/permission-fields.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { TokenDialog } from './create-token-dialog.tsx';
import { messages } from './own-token-messages.ts';
import { SecretList } from './secret-list.tsx';
import { TokenRow, tokenWords } from './token-row.tsx';

/** "Your access tokens" of the screen "Account": those that belong to the signed-in person. (Spec: S23.2) */
export function OwnTokens() {
  const { isCreating, start, stop } = useCreating();
  const tokens = useOwnTokens();
  const now = Date.now();
  const statusOf = (token: TokenRecord) => tokenStatus(token, now);
  useCreateCommand({ id: 'own-token.new', title: messages.createCommand, isAllowed: true, run: start });

  return (
    <>
      <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
        <p className="max-w-prose text-ink-2">{messages.intro}</p>
        <CreateButton onClick={start}>{messages.create}</CreateButton>
      </div>

      <Loaded reading={tokens} rows={2}>
        {(items) =>
          items.length === 0 ? (
            <p className="text-ink-3">{messages.empty}</p>
          ) : (
            <SecretList texts={messages} items={items} statusOf={statusOf} textsOf={tokenWords}>
              {(token) => (
                <TokenRow
                  key={token.id}
                  token={token}
                  status={statusOf(token)}
                  detail={messages.endsWithYou}
                  revoke={revokeOwnToken}
                />
              )}
            </SecretList>
          )
        }
      </Loaded>

      {isCreating && <CreateOwnTokenDialog onClose={stop} />}
    </>
  );
}

/** Creates a token of the signed-in person, by default one that only reads. */
function CreateOwnTokenDialog({ onClose }: { onClose: () => void }) {
  const most = useRights();
  const [rights, setRights] = useState<RoleChoice>({ role: 'viewer', canChangeProtected: false });

  return (
    <TokenDialog
      texts={messages}
      create={(token) => createOwnToken({ ...token, ...rights, canChangeProtected: mayChange(rights) })}
      revoke={revokeOwnToken}
      usage={() => `halyard login ${location.origin}`}
      onClose={onClose}
    >
      {() => (
        <RoleFields
          legend={messages.role}
          hint={messages.roleHint}
          value={rights}
          most={most}
          onChange={setRights}
        />
      )}
    </TokenDialog>
  );
}
