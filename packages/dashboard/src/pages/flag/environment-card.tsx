import { useState } from 'react';
import { cellName, useWriteStatus, type WriteStatus } from '../../api/own-writes.ts';
import type { AuditEntryRecord, EnvironmentRecord, FlagRecord, StateRecord } from '../../api/types.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { useChangeState } from '../../changes/change-state.tsx';
import { ENVIRONMENT_FILL, EnvironmentBadge, WriteMark } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { Switch } from '../../components/switch.tsx';
import { useLeaveGuard } from '../../shell/leave-guard.ts';
import { useForeignChange } from '../flags/state-cell.tsx';
import { CardFooter, newestChange } from './card-footer.tsx';
import { ArchivedDraft, OvertakenBanner, SaveBar } from './draft-bars.tsx';
import type { ScheduleStart } from './flag-schedules.tsx';
import { messages } from './messages.tsx';
import { RolloutField } from './rollout-field.tsx';
import { problemsOf, stateOf } from './state-draft.ts';
import { useStateDraft, useValueText } from './use-state-draft.ts';
import { ValueField } from './value-field.tsx';

const words = messages.card;

/**
 * A flag's state in one environment: the switch acts at once, value and rollout after saving. An archived flag shows
 * only a draft that was open when it was archived.
 */
export function EnvironmentCard({
  project,
  environment,
  flag,
  last,
  isWholeHistory,
  onSchedule,
}: {
  project: string;
  environment: EnvironmentRecord;
  flag: FlagRecord;
  /** The newest entry of the history about this environment, as far as it is loaded. */
  last: AuditEntryRecord | undefined;
  /** Whether all of the history is loaded. */
  isWholeHistory: boolean;
  onSchedule: (start: Omit<ScheduleStart, 'environment'>) => void;
}) {
  const { key } = flag;
  const { name } = environment;
  const record = flag.environments[name];
  const valueText = useValueText({ project, environment: name, key }, record);
  const status = useWriteStatus(cellName(project, name, key));
  const editing = useStateDraft({ record, valueText }, status === 'saving');
  const [note, setNote] = useState('');
  const change = newestChange(record, last);
  const changeState = useChangeState(project);
  const isArchived = flag.archivedAt !== undefined;
  const readOnlyReason = useReadOnlyReason()(environment);
  const obstacle = isArchived ? words.archived : readOnlyReason;
  const isForeign = useForeignChange(record);
  const { draft, base, isDirty } = editing;
  const problems = problemsOf(draft);
  const isSound = problems.value === undefined && problems.rollout === undefined;
  useLeaveGuard(isDirty, words.unsaved(key, name));

  function flip(enabled: boolean): void {
    // The switch stays enabled while saving, or it would lose the focus.
    if (status === 'saving') return;
    const texts = { before: valueText, after: valueText };
    void changeState({ key, environment, before: record, after: { ...record?.state, enabled }, texts });
  }

  async function save(): Promise<void> {
    if (!isSound || !isDirty || obstacle !== undefined || status === 'saving') return;
    const { state, valueText: after } = stateOf(draft, record?.state.enabled ?? false);
    const outcome = await changeState({
      ...{ key, environment, before: base.record, after: state },
      ...(note.trim() === '' ? {} : { note: note.trim() }),
      texts: { before: base.valueText, after },
      isDraft: true,
    });
    if (outcome === 'discarded') editing.reset();
    if (outcome === 'done') setNote('');
  }

  if (isArchived && !isDirty) return null;
  return (
    <section
      aria-label={name}
      data-environment={name}
      data-news={isForeign || undefined}
      className={classNames(
        'overflow-hidden rounded-lg border border-line bg-surface',
        isForeign && 'animate-flash',
      )}
    >
      <div aria-hidden className={classNames('h-1', ENVIRONMENT_FILL[environment.color])} />
      <CardHead {...{ environment, flagKey: key, record, status, obstacle }} onFlip={flip} />
      {record === undefined && !isDirty ? (
        <MissingState environment={name} canAdd={obstacle === undefined} onAdd={() => flip(false)} />
      ) : (
        <div className="grid gap-x-5 gap-y-4 px-4 pb-3 md:grid-cols-[minmax(0,1fr)_17rem]">
          <ValueField
            environment={name}
            draft={draft}
            served={base.valueText}
            problem={problems.value}
            isReadOnly={obstacle !== undefined}
            onEdit={editing.edit}
            onSubmit={() => void save()}
          />
          <RolloutField
            environment={name}
            draft={draft}
            problem={problems.rollout}
            isReadOnly={obstacle !== undefined}
            onEdit={editing.edit}
            onSubmit={() => void save()}
          />
        </div>
      )}
      {isArchived && <ArchivedDraft onDiscard={editing.reset} />}
      {!isArchived && editing.isOvertaken && (
        <OvertakenBanner record={record} by={change?.by} onDiscard={editing.reset} onKeep={editing.keep} />
      )}
      {!isArchived && isDirty && (
        <SaveBar
          {...{ environment, note, isSound }}
          isSaving={status === 'saving'}
          onNote={setNote}
          onSave={() => void save()}
          onDiscard={editing.reset}
          onSchedule={() => onSchedule({ draft: isSound ? draft : undefined, valueText })}
        />
      )}
      <CardFooter
        {...{ project, environment, change, canEdit: obstacle === undefined }}
        isNew={change === undefined && isWholeHistory}
        isThere={record !== undefined}
        onSchedule={() => onSchedule({ draft: undefined, valueText })}
        onRemove={() =>
          void changeState({ key, environment, before: record, after: null, texts: { before: valueText } })
        }
      />
    </section>
  );
}

/** The environment's name, and the switch with its state in words. */
function CardHead({
  environment,
  flagKey,
  record,
  status,
  obstacle,
  onFlip,
}: {
  environment: EnvironmentRecord;
  flagKey: string;
  record: StateRecord | undefined;
  status: WriteStatus | undefined;
  /** Why the state cannot be changed. */
  obstacle: string | undefined;
  onFlip: (enabled: boolean) => void;
}) {
  const { name } = environment;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 pt-3 pb-2">
      <h2 className="min-w-0 flex-1 text-base font-semibold">
        <EnvironmentBadge environment={environment} className="max-w-full" />
      </h2>
      <WriteMark status={status} />
      <span title={obstacle} className="flex items-center gap-2">
        <span className="font-medium">
          {record === undefined ? words.notSet : record.state.enabled ? words.on : words.off}
        </span>
        <Switch
          label={`${flagKey} in ${name}`}
          checked={record?.state.enabled ?? false}
          disabled={obstacle !== undefined}
          aria-busy={status === 'saving'}
          onChange={(event) => onFlip(event.target.checked)}
        />
      </span>
      {obstacle !== undefined && <p className="w-full text-xs text-ink-3">{obstacle}</p>}
    </div>
  );
}

/** Shown where a flag has no state in an environment. */
function MissingState({
  environment,
  canAdd,
  onAdd,
}: {
  environment: string;
  canAdd: boolean;
  onAdd: () => void;
}) {
  return (
    <div className="px-4 pb-4">
      <p className="max-w-xl text-ink-2">{words.missing(environment)}</p>
      {canAdd && (
        <Button className="mt-2" onClick={onAdd}>
          {words.add(environment)}
        </Button>
      )}
    </div>
  );
}
