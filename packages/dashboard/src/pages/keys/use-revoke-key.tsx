import { fetchClients } from '../../api/clients.ts';
import { type KeyRecord, revokeKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-keys.ts';
import { useDeed } from '../../changes/use-deed.tsx';
import { useConfirm } from '../../components/confirm.tsx';

/** Asks, by the key's name, and revokes it. */
export function useRevokeKey(project: string): (key: KeyRecord) => Promise<void> {
  const confirm = useConfirm();
  const deed = useDeed();
  return async (key) => {
    const { id, name } = key;
    const streams = await openStreams(project, id);
    const isConfirmed = await confirm({
      title: `Revoke ${name}?`,
      body: <RevokeText record={key} streams={streams} />,
      action: 'Revoke the key',
      isDangerous: true,
      typed: name,
    });
    if (!isConfirmed) return;
    await deed({
      run: () => revokeKey(id),
      done: `The key ${name} is revoked`,
      failed: `The key ${name} was not revoked`,
      stale: [queryKeys.keys(project), queryKeys.clients(project)],
    });
  };
}

function RevokeText({ record, streams }: { record: KeyRecord; streams: number | undefined }) {
  const { lastFour, environments } = record;
  return (
    <>
      <p>
        Every request with the key <span className="font-mono text-xs">…{lastFour}</span> for{' '}
        {environments.join(', ')} is refused from now on. {streamsText(streams)} It cannot be undone.
      </p>
      <p className="mt-2">Applications that still use it fall back to their defaults.</p>
    </>
  );
}

function streamsText(streams: number | undefined): string {
  if (streams === undefined) return 'Its open streams are cut.';
  if (streams === 0) return 'No stream is open with it at the moment.';
  return streams === 1 ? '1 open stream is cut at once.' : `${streams} open streams are cut at once.`;
}

/** Asked for afresh; the question does without where that fails. */
async function openStreams(project: string, id: string): Promise<number | undefined> {
  try {
    const environments = await fetchClients(project);
    const own = environments.flatMap(({ keys }) => keys).filter((key) => key.id === id);
    return own.reduce((sum, { streams }) => sum + streams, 0);
  } catch {
    // The key can be revoked without the figure; a lost server shows itself then.
    return undefined;
  }
}
