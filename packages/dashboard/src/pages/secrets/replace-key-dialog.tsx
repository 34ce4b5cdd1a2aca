import { useState } from 'react';
import { replaceKey, revokeKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { KeyRecord } from '../../api/types.ts';
import { type Expiry, ExpiryField, expiryIn } from '../../components/lifetime.tsx';
import { fullTime } from '../../components/time-ago.tsx';
import { KeyUsage } from './create-key-dialog.tsx';
import { SecretFormDialog } from './create-secret-dialog.tsx';
import { keyTexts as texts } from './messages.tsx';

/** How long the old key works on, unless the person chooses, in days. */
const DAYS = 7;

/** Creates a key with the settings of another one, shows it once, and gives the old one an end. */
export function ReplaceKeyDialog({
  project,
  record,
  environments,
  onClose,
}: {
  project: string;
  record: KeyRecord;
  /** Its environments that exist, in the order of the project. */
  environments: readonly string[];
  onClose: () => void;
}) {
  const { id, name, lastFour, createdAt, expiresAt } = record;
  const [end, setEnd] = useState<Expiry>(() => expiryIn(DAYS));
  const lifetime = expiresAt === undefined ? undefined : Date.parse(expiresAt) - Date.parse(createdAt);

  return (
    <SecretFormDialog
      texts={texts}
      title={texts.replaceTitle(name)}
      action={texts.replaceAction}
      name={name}
      problems={{ expiry: end.kind === 'at' ? undefined : texts.expiryMissing }}
      create={async () => {
        const at = end.kind === 'at' ? end : { at: new Date() };
        const made = await replaceKey(id, at.at.toISOString());
        return { id: made.id, secret: made.key };
      }}
      revoke={revokeKey}
      lost={texts.replaceLost}
      stale={[queryKeys.keys(project), queryKeys.clients(project)]}
      usage={(created) => <KeyUsage project={project} created={created} environments={environments} />}
      onClose={onClose}
    >
      {(form) => (
        <>
          <p>{texts.replaceBody(environments)}</p>
          <ExpiryField
            label={texts.oldKeyEnds(lastFour)}
            isRequired
            defaultDays={DAYS}
            isTried={form.isTried}
            onChange={setEnd}
          />

          {expiresAt !== undefined && lifetime !== undefined && (
            <p className="text-ink-2">
              {texts.replaceLifetime(
                fullTime(new Date(expiresAt)),
                fullTime(new Date(Date.now() + lifetime)),
              )}
            </p>
          )}
        </>
      )}
    </SecretFormDialog>
  );
}
