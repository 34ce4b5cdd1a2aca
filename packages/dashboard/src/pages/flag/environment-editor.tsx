import { useLayoutEffect, useState } from 'react';
import { useNamedValues } from '../../api/named-values.ts';
import { useShownState } from '../../api/state-writes.ts';
import type { AuditEntryRecord, EnvironmentRecord, FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useChangeState } from '../../changes/change-state.tsx';
import { Button } from '../../components/button.tsx';
import { useLeaveGuard } from '../../components/confirm.tsx';
import { CardFooter, newestChange } from './card-footer.tsx';
import { ArchivedDraft, DraftDiff, OvertakenBanner, SaveBar } from './draft-bars.tsx';
import type { ScheduleStart } from './flag-schedules.tsx';
import { messages } from './messages.tsx';
import { ENVIRONMENT_PANELS, Panels } from './panels.tsx';
import { RolloutField } from './rollout-field.tsx';
import { controlOf, problemsOf, stateOf } from './state-draft.ts';
import { useStateDraft, useValueText } from './use-state-draft.ts';
import { problemText, ValueField } from './value-field.tsx';

const words = messages.card;

/**
 * Edits a flag's state in one environment: value and rollout act after saving. The row above has the switch, which acts at
 * once. Of an archived flag it shows only a draft that was open when the flag was archived.
 */
export function EnvironmentEditor({
  project,
  environment,
  flag,
  last,
  isWholeHistory,
  obstacle,
  bars,
  onDirty,
  onSchedule,
  onCopyFrom,
}: {
  project: ProjectRecord;
  environment: EnvironmentRecord;
  flag: FlagRecord;
  /** The newest entry of the history about this environment, as far as it is loaded. */
  last: AuditEntryRecord | undefined;
  /** Whether all of the history is loaded. */
  isWholeHistory: boolean;
  /** Why the state cannot be changed. */
  obstacle: string | undefined;
  /** Where the bar of a draft is shown. */
  bars: HTMLElement | null;
  onDirty: (name: string, isDirty: boolean) => void;
  onSchedule: (start: ScheduleStart) => void;
  /** Asks for an environment to copy the state from. */
  onCopyFrom: (environment: string) => void;
}) {
  const { key } = flag;
  const { name } = environment;
  const record = flag.environments[name];
  const place = { project: project.name, environment: name, key };
  const valueText = useValueText(place, record);
  const { status, shown } = useShownState(place, record);
  const editing = useStateDraft(place, { record, valueText }, status === 'saving');
  const [note, setNote] = useState('');
  const change = newestChange(shown, last);
  const changeState = useChangeState(project.name);
  const isArchived = flag.archivedAt !== undefined;
  const { draft, base, isDirty } = editing;
  const control = controlOf(flag.valueKind, base.valueText);
  const problems = problemsOf(draft, control);
  const values = useNamedValues(project.name, flag);
  const isSound = problems.value === undefined && problems.rollout === undefined;
  useLeaveGuard(isDirty, words.unsaved(key, name));
  useLayoutEffect(() => {
    onDirty(name, isDirty);
    return () => onDirty(name, false);
  }, [name, isDirty, onDirty]);

  async function save(): Promise<void> {
    if (!isSound || !isDirty || obstacle !== undefined || status === 'saving') return;
    const { state, valueText: after } = stateOf(draft, record?.state.enabled ?? false);
    const outcome = await changeState({
      key,
      environment,
      before: base.record,
      after: state,
      ...(note.trim() === '' ? {} : { note: note.trim() }),
      texts: { before: base.valueText, after },
      isDraft: true,
    });
    if (outcome === 'discarded') editing.reset();
    if (outcome === 'done') setNote('');
  }

  return (
    <>
      {obstacle !== undefined && <p className="px-4 pt-3 text-xs text-ink-3">{obstacle}</p>}
      {shown === undefined && !isDirty ? (
        <MissingState
          environment={name}
          canAdd={obstacle === undefined}
          onAdd={() => void changeState({ key, environment, before: undefined, after: { enabled: false } })}
        />
      ) : (
        <div className="grid gap-x-5 gap-y-4 px-4 pt-3 pb-3 md:grid-cols-[minmax(0,1fr)_17rem]">
          <ValueField
            environment={name}
            control={control}
            declared={flag.valueKind}
            values={values}
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
        <OvertakenBanner
          before={base.record?.state}
          record={record}
          by={change?.by}
          onDiscard={editing.reset}
          onKeep={editing.keep}
        />
      )}
      {isDirty && isSound && <DraftDiff before={base.record?.state} draft={draft} />}
      {!isArchived && isDirty && bars !== null && (
        <SaveBar
          host={bars}
          environment={environment}
          note={note}
          problem={problems.value === undefined ? problems.rollout : problemText(problems.value, control)}
          isSaving={status === 'saving'}
          onNote={setNote}
          onSave={() => void save()}
          onDiscard={editing.reset}
          onSchedule={() => onSchedule({ environment, draft: isSound ? draft : undefined, valueText })}
        />
      )}
      {!isArchived && (
        <Panels panels={ENVIRONMENT_PANELS} props={{ project, flag, environment, record, obstacle }} />
      )}
      <CardFooter
        project={project.name}
        environment={environment}
        change={change}
        canEdit={obstacle === undefined}
        isNew={change === undefined && isWholeHistory}
        isThere={shown !== undefined}
        onSchedule={() => onSchedule({ environment, draft: undefined, valueText })}
        onCopy={project.environments.length > 1 ? () => onCopyFrom(name) : undefined}
        onRemove={() =>
          void changeState({ key, environment, before: shown, after: null, texts: { before: valueText } })
        }
      />
    </>
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
    <div className="px-4 py-3">
      <p className="max-w-xl text-ink-2">{words.missing(environment)}</p>
      {canAdd && (
        <Button className="mt-2" onClick={onAdd}>
          {words.add(environment)}
        </Button>
      )}
    </div>
  );
}
