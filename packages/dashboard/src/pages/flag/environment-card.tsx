import { useState } from 'react';
import type { AuditEntryRecord } from '../../api/audit.ts';
import { cellName, useWriteStatus } from '../../api/own-writes.ts';
import type { EnvironmentRecord, FlagRecord } from '../../api/types.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { useChangeState } from '../../changes/change-state.tsx';
import { classNames } from '../../components/class-names.ts';
import { ENVIRONMENT_FILL } from '../../components/environment-badge.tsx';
import { useLeaveGuard } from '../../shell/leave-guard.ts';
import { useNews } from '../flags/use-news.ts';
import { ArchivedDraft } from './archived-draft.tsx';
import { CardFooter } from './card-footer.tsx';
import { CardHead } from './card-head.tsx';
import { newestChange } from './last-changes.ts';
import { MissingState } from './missing-state.tsx';
import { OvertakenBanner } from './overtaken-banner.tsx';
import { RolloutField } from './rollout-field.tsx';
import { SaveBar } from './save-bar.tsx';
import type { ScheduleStart } from './schedule-dialog.tsx';
import { problemsOf, stateOf } from './state-draft.ts';
import { useStateDraft } from './use-state-draft.ts';
import { useValueText } from './use-value-text.ts';
import { ValueField } from './value-field.tsx';

/**
 * A flag's state in one environment: the switch acts at once, value and rollout when they are saved. Of an archived flag
 * nothing is shown but what somebody was typing when it was archived.
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
  const held = useStateDraft({ record, valueText }, status === 'saving');
  const [note, setNote] = useState('');
  const change = newestChange(record, last);
  const changeState = useChangeState(project);
  const isArchived = flag.archivedAt !== undefined;
  const readOnlyReason = useReadOnlyReason()(environment);
  const obstacle = isArchived ? 'The flag is archived.' : readOnlyReason;
  const isNews = useNews(record);
  const { draft, base, isDirty } = held;
  const problems = problemsOf(draft);
  const isSound = problems.value === undefined && problems.rollout === undefined;
  useLeaveGuard(isDirty, `What you typed for ${key} in ${name} is not saved, and would be lost.`);

  function flip(enabled: boolean): void {
    // It stays enabled while it is being saved, or it would lose the focus.
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
    if (outcome === 'discarded') held.reset();
    if (outcome === 'done') setNote('');
  }

  if (isArchived && !isDirty) return null;
  return (
    <section
      aria-label={name}
      data-environment={name}
      data-news={isNews || undefined}
      className={classNames(
        'overflow-hidden rounded-lg border border-line bg-surface',
        isNews && 'animate-flash',
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
            onEdit={held.edit}
            onSubmit={() => void save()}
          />
          <RolloutField
            environment={name}
            draft={draft}
            problem={problems.rollout}
            isReadOnly={obstacle !== undefined}
            onEdit={held.edit}
            onSubmit={() => void save()}
          />
        </div>
      )}
      {isArchived && <ArchivedDraft onDiscard={held.reset} />}
      {!isArchived && held.isOvertaken && (
        <OvertakenBanner record={record} by={change?.by} onDiscard={held.reset} onKeep={held.keep} />
      )}
      {!isArchived && isDirty && (
        <SaveBar
          {...{ environment, note, isSound }}
          isSaving={status === 'saving'}
          onNote={setNote}
          onSave={() => void save()}
          onDiscard={held.reset}
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
