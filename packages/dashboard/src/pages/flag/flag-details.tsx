import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useCallback, useState } from 'react';
import { updateFlagInCache } from '../../api/flag-cache.ts';
import { changeFlagTexts, type FlagTexts } from '../../api/flags.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import type { AuditEntryRecord, FlagRecord, FlagValueKind, ProjectRecord } from '../../api/types.ts';
import { VALUE_KIND_HINT, VALUE_KINDS } from '../../components/audit/messages.ts';
import { Author } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { INPUT } from '../../components/field.tsx';
import { announce } from '../../components/live-region.tsx';
import { PeoplePicker, useOwnerName } from '../../components/people-picker.tsx';
import { Select } from '../../components/select.tsx';
import { TagInput } from '../../components/tag-input.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { tagsOf, useChoices } from '../../flags/flag-tags.ts';
import { EditableText } from './editable-text.tsx';
import { messages } from './messages.tsx';
import { NamedValuesFact } from './named-values-fact.tsx';

const words = messages.details;

/** A flag's description, tags and owner, each editable in place; its creation and last change. */
export function FlagDetails({
  project,
  flag,
  last,
}: {
  project: ProjectRecord;
  flag: FlagRecord;
  last: AuditEntryRecord | undefined;
}) {
  const update = useUpdateFlag(project.name, flag.key);
  const canEdit = useCan('editor');
  const known = useKnownTexts(project.name);
  const nameOf = useOwnerName();
  const { description, tags, owner } = flag;

  return (
    <div className="-mt-1 flex flex-col gap-2">
      <EditableText
        label={words.description}
        text={description}
        empty={words.noDescription}
        longest={2000}
        isLong
        canEdit={canEdit}
        onSave={(text) => update({ description: text })}
      >
        <LongText text={description} />
      </EditableText>
      <dl className="flex flex-wrap items-center gap-x-5 gap-y-1.5 text-xs">
        <EditableFact
          label={words.tags}
          text={tags.join(', ')}
          hint={words.tagsHint}
          empty={words.noTags}
          longest={1100}
          canEdit={canEdit}
          onSave={(text) => update({ tags: tagsOf(text) })}
          control={({ label, text, onChange }) => (
            <TagInput
              aria-label={label}
              tags={tagsOf(text)}
              known={known.tags}
              onChange={(next) => onChange(next.join(', '))}
            />
          )}
        >
          <Tags tags={tags} />
        </EditableFact>

        <EditableFact
          label={words.owner}
          text={owner}
          empty={words.noOwner}
          longest={100}
          canEdit={canEdit}
          onSave={(text) => update({ owner: text })}
          control={({ label, text, onChange }) => (
            <PeoplePicker
              aria-label={label}
              className={INPUT}
              value={text}
              others={known.owners}
              onChange={onChange}
            />
          )}
        >
          <span className="wrap-anywhere">{nameOf(owner)}</span>
        </EditableFact>

        {(canEdit || flag.valueKind !== 'any') && (
          <EditableFact
            label={words.kind}
            text={flag.valueKind}
            hint={VALUE_KIND_HINT}
            empty=""
            longest={10}
            isAbsent={flag.valueKind === 'any'}
            canEdit={canEdit}
            // The choices are the kinds.
            onSave={(kind) => update({ valueKind: kind as FlagValueKind })}
            control={({ label, text, onChange }) => (
              <Select kind="field" label={label} value={text} choices={VALUE_KINDS} onSelect={onChange} />
            )}
          >
            <span title={VALUE_KIND_HINT}>{VALUE_KINDS.find(([kind]) => kind === flag.valueKind)?.[1]}</span>
          </EditableFact>
        )}

        <NamedValuesFact project={project.name} flag={flag} canEdit={canEdit} />

        <EditableFact
          label={words.lifetime}
          text={flag.permanent ? 'permanent' : 'temporary'}
          empty=""
          longest={10}
          canEdit={canEdit}
          onSave={(text) => update({ permanent: text === 'permanent' })}
          control={({ label, text, onChange }) => (
            <Select kind="field" label={label} value={text} choices={LIFETIMES} onSelect={onChange} />
          )}
        >
          {flag.permanent ? words.permanent : words.temporary}
        </EditableFact>

        {last !== undefined && (
          <Fact name={words.lastChange}>
            <span>
              <TimeAgo at={last.at} /> {words.by} <Author actor={last.actor} />
            </span>
          </Fact>
        )}
      </dl>
    </div>
  );
}

/** The tags and owners of the project's flags, if the list is cached: it is too long to read only for suggestions. */
function useKnownTexts(project: string) {
  const { data } = useQuery<readonly FlagRecord[]>({
    queryKey: queryKeys.flags(project),
    queryFn: skipToken,
  });
  return useChoices(data ?? NONE);
}

const NONE: readonly FlagRecord[] = [];

const LIFETIMES = [
  ['temporary', words.temporary],
  ['permanent', words.permanent],
] as const;

/** A fact about the flag that can be edited in place. Its label is its name. */
function EditableFact(props: ComponentProps<typeof EditableText>) {
  return (
    <Fact name={props.label} isNamed={props.isAbsent !== true}>
      <EditableText {...props} />
    </Fact>
  );
}

/** A fact about the flag, by name. */
function Fact({
  name,
  isNamed = true,
  children,
}: {
  name: string;
  /** Whether the name is visible; otherwise only screen readers get it, because the content says it. */
  isNamed?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={classNames('flex min-w-0 gap-1.5', isNamed && 'items-baseline')}>
      <dt className={isNamed ? 'text-ink-3' : 'sr-only'}>{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}

/** Longer texts are cut, in characters: about four lines. */
const LONG = 400;

/** Shows the first lines of a text, and all of it when the person asks. */
function LongText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= LONG) return <span className="text-ink-2">{text}</span>;
  return (
    <>
      <span className={classNames('text-ink-2', isWhole ? 'block' : 'line-clamp-4')}>{text}</span>
      <button
        type="button"
        aria-expanded={isWhole}
        className="min-h-6 text-xs text-accent hover:underline"
        onClick={() => setWhole(!isWhole)}
      >
        {isWhole ? words.showLess : words.showAll}
      </button>
    </>
  );
}

function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <span className="flex flex-wrap gap-1">
      {tags.map((tag) => (
        <span key={tag} className="rounded bg-hover px-1.5 py-px wrap-anywhere text-ink-2">
          {tag}
        </span>
      ))}
    </span>
  );
}

/** Saves a flag's texts; rejects with the API's refusal. */
function useUpdateFlag(project: string, key: string): (texts: FlagTexts) => Promise<void> {
  const queries = useQueryClient();
  return useCallback(
    async (texts) => {
      const { description, tags, owner, permanent, valueKind } = await changeFlagTexts(project, key, texts);
      updateFlagInCache(queries, project, key, (flag) => ({
        ...flag,
        description,
        tags,
        owner,
        permanent,
        valueKind,
      }));
      announce(words.saved);
    },
    [project, key, queries],
  );
}
