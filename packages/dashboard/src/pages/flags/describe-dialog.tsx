import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { isMade, messageOf } from '../../api/api-error.ts';
import { updateFlagInCache } from '../../api/flag-cache.ts';
import { changeFlagTexts, type FlagTexts } from '../../api/flags.ts';
import type { FlagRecord } from '../../api/types.ts';
import { FormDialog, useForm } from '../../components/form.tsx';
import { PeopleField } from '../../components/people-picker.tsx';
import { TagField } from '../../components/tag-input.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages } from './dialog-messages.ts';

const words = messages.describe;

/** How many flags are changed at the same time: each is a separate request. */
const AT_ONCE = 4;

/** Adds tags to the selected flags, removes tags from them, and sets their owner. */
export function DescribeDialog({
  project,
  flags: selected,
  known,
  onClose,
  onDone,
}: {
  project: string;
  flags: readonly FlagRecord[];
  known: { readonly tags: readonly string[]; readonly owners: readonly string[] };
  onClose: () => void;
  onDone: () => void;
}) {
  // Other people may change the list at the same time.
  const [flags] = useState(selected);
  const [added, setAdded] = useState<readonly string[]>([]);
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const [owner, setOwner] = useState('');
  const change = useChangeTexts(project);
  const isNothing = added.length === 0 && removed.length === 0 && owner.trim() === '';
  const form = useForm({
    problems: { tags: isNothing ? words.nothing : undefined },
    submit: async () => {
      const isDone = await change(flags, (flag) => textsAfter(flag, { added, removed, owner: owner.trim() }));
      onClose();
      if (isDone) onDone();
    },
  });
  const present = [...new Set(flags.flatMap(({ tags }) => tags))].sort();

  return (
    <FormDialog title={words.title(flags.length)} form={form} action={words.submit} onClose={onClose}>
      <TagField
        label={words.add}
        hint={words.addHint}
        error={form.problem('tags')}
        tags={added}
        known={known.tags}
        onChange={setAdded}
      />
      {present.length > 0 && (
        <TagField label={words.remove} tags={removed} known={present} onChange={setRemoved} />
      )}
      <PeopleField
        label={words.owner}
        hint={words.ownerHint}
        value={owner}
        others={known.owners}
        onChange={setOwner}
      />
    </FormDialog>
  );
}

/** What changes of a flag's texts; `undefined` if nothing does. */
function textsAfter(
  flag: Pick<FlagRecord, 'tags' | 'owner'>,
  {
    added,
    removed,
    owner,
  }: { readonly added: readonly string[]; readonly removed: readonly string[]; readonly owner: string },
): FlagTexts | undefined {
  const tags = [...new Set([...flag.tags.filter((tag) => !removed.includes(tag)), ...added])];
  const hasNewTags = tags.join(',') !== flag.tags.join(',');
  const hasNewOwner = owner !== '' && owner !== flag.owner;
  if (!hasNewTags && !hasNewOwner) return undefined;
  return { ...(hasNewTags ? { tags } : {}), ...(hasNewOwner ? { owner } : {}) };
}

/** Changes the texts of flags, reports how many were changed, and resolves with whether all were. */
function useChangeTexts(project: string) {
  const queries = useQueryClient();
  return async (
    flags: readonly FlagRecord[],
    textsOf: (flag: FlagRecord) => FlagTexts | undefined,
  ): Promise<boolean> => {
    const refused: string[] = [];
    let done = 0;
    for (let start = 0; start < flags.length; start += AT_ONCE)
      await Promise.all(flags.slice(start, start + AT_ONCE).map(changeOne));
    if (refused.length === 0) toast({ kind: 'done', title: words.done(done) });
    else
      toast({
        kind: 'problem',
        title: words.failed(refused.length, flags.length),
        detail: refused.slice(0, 3).join(' '),
      });
    return refused.length === 0;

    async function changeOne(flag: FlagRecord): Promise<void> {
      const texts = textsOf(flag);
      if (texts === undefined) return;
      try {
        const { description, tags, owner } = await changeFlagTexts(project, flag.key, texts);
        updateFlagInCache(queries, project, flag.key, (now) => ({ ...now, description, tags, owner }));
        done++;
      } catch (error) {
        if (isMade(error)) done++;
        else refused.push(`${flag.key}: ${messageOf(error)}`);
      }
    }
  };
}
