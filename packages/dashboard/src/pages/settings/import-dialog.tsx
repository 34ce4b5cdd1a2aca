import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { isMade, isProposed, isRefusal } from '../../api/api-error.ts';
import {
  type ImportRules,
  importDocument,
  type ProjectDocument,
  previewImport,
} from '../../api/documents.ts';
import { useCatchUp } from '../../api/live.tsx';
import { useProjects } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentRecord, ImportPlan, ProjectRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { messages as dialogs } from '../../changes/dialog-messages.ts';
import { NoteField } from '../../changes/note-field.tsx';
import { PausedPlans } from '../../changes/production-guard.tsx';
import { ProtectedNote } from '../../changes/protected-note.tsx';
import { DeliveryProof } from '../../components/delivery-proof.tsx';
import { CheckField, ChoiceField, FormError } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { SkeletonRows } from '../../components/screen-states.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages } from './import-messages.ts';
import { isNothing, namesOfOthers, thingsOf } from './import-plan.ts';
import { ImportPreview, refusalsOf } from './import-preview.tsx';

const POLICIES = (['create-only', 'enforce'] as const).map((policy) => {
  const [label, hint] = messages.policies[policy];
  return [
    policy,
    <span key={policy}>
      <span className="font-medium">{label}</span>
      <span className="block text-xs text-ink-2">{hint}</span>
    </span>,
  ] as const;
});

/**
 * Shows what the import of a document would change, and imports it: directly, or as a proposal where other people must approve. If
 * the comparison has changed since it was shown, it shows the new one instead.
 */
export function ImportDialog({
  project,
  document,
  onClose,
}: {
  project: ProjectRecord;
  document: ProjectDocument;
  onClose: () => void;
}) {
  const [rules, setRules] = useState<ImportRules>({ policy: 'create-only', prune: false });
  const [note, setNote] = useState('');
  // What an earlier comparison did not show.
  const [outdated, setOutdated] = useState<readonly string[]>();
  const { askApproval } = useChangeGuards();
  const preview = useImportPreview(document, rules);
  const finish = useFinish(project.name, document, onClose);

  const plan = preview.data;
  const touched = plan === undefined ? [] : touchedBy(plan, project.environments);
  const needsApproval = plan?.notAllowed?.some(({ code }) => code === 'approval_required') === true;
  const needsReason = plan?.notAllowed?.some(({ code }) => code === 'reason_required') === true;
  const guarded = touched.filter((environment) => environment.protected);
  const count = plan === undefined ? 0 : thingsOf(plan).length;

  const form = useForm({
    problems: {
      note: needsReason && !needsApproval && note.trim() === '' ? dialogs.noteMissing : undefined,
    },
    submit: async () => {
      if (plan === undefined) return;
      setOutdated(undefined);
      const wanted = await askApproval({
        project: project.name,
        environments: touched.filter(({ approvals }) => needsApproval || approvals === 0),
        what: messages.what(document.name),
        list: <ImportPreview plan={plan} />,
        note: note.trim(),
      });
      if (wanted === undefined) return;

      const confirmed = guarded.map(({ name }) => name);
      try {
        finish(plan, await importDocument(document, rules, { ...wanted, confirmed, plan: plan.plan }));
      } catch (error) {
        if (isRefusal(error, 'revision_conflict')) {
          const now = await previewImport(document, rules);
          preview.replace(now);
          setOutdated(namesOfOthers(plan, now));
          return;
        }
        if (isMade(error) || isProposed(error)) finish(plan);
        throw error;
      }
    },
  });

  const isOther = plan !== undefined && plan.project !== project.name;
  const isUnreadable = isRefusal(preview.error, 'invalid_argument');
  const obstacle = obstacleTo(plan, { isOther, isPending: preview.isPending });

  return (
    <FormDialog
      title={messages.dialog(document.name)}
      form={{ ...form, error: form.error ?? (isUnreadable ? undefined : preview.error) }}
      action={needsApproval ? messages.propose : messages.action(count)}
      kind={plan !== undefined && thingsOf(plan).some(({ isRemoval }) => isRemoval) ? 'danger' : 'primary'}
      obstacle={obstacle}
      isQuestion={note === ''}
      className="w-[min(48rem,calc(100vw-2rem))]"
      onClose={onClose}
    >
      <Rules rules={rules} onChange={setRules} />

      {outdated !== undefined && (
        <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          {messages.changed(outdated)}
        </p>
      )}
      {preview.isPending && <SkeletonRows rows={3} />}
      {isUnreadable && (
        // The message names the line and the mistake, so the author can fix the document.
        <FormError>
          {messages.notImportable} <span className="block wrap-anywhere">{preview.error?.message}</span>
        </FormError>
      )}
      {isOther && <OtherProject name={plan.project} />}

      {plan !== undefined && !isOther && (
        <>
          {guarded.map((environment) => (
            <ProtectedNote key={environment.name} project={project.name} environment={environment} />
          ))}
          {touched.map((environment) => (
            <PausedPlans
              key={environment.name}
              project={project.name}
              environment={environment}
              steps={stepsIn(plan, environment.name)}
            />
          ))}

          {isNothing(plan) && <p className="text-ink-2">{messages.nothing}</p>}
          <ImportPreview plan={plan} />
          {count > 0 && !needsApproval && (
            <NoteField
              value={note}
              isRequired={needsReason}
              error={form.problem('note')}
              onChange={setNote}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}

function Rules({ rules, onChange }: { rules: ImportRules; onChange: (rules: ImportRules) => void }) {
  return (
    <>
      <ChoiceField
        legend={messages.policy}
        layout="rows"
        isFocused
        choices={POLICIES}
        selected={rules.policy}
        onSelect={(policy) => onChange({ policy, prune: policy === 'enforce' && rules.prune })}
      />
      {rules.policy === 'enforce' && (
        <CheckField
          label={messages.prune}
          hint={messages.pruneHint}
          isChecked={rules.prune}
          onChange={(prune) => onChange({ ...rules, prune })}
        />
      )}
    </>
  );
}

/** The document belongs to another project. */
function OtherProject({ name }: { name: string }) {
  const { data: projects = [] } = useProjects();
  return (
    <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
      {messages.otherProject(name)}{' '}
      {projects.some((each) => each.name === name) && (
        <Link href={links.projectSettings(name)} className="underline">
          {messages.openOther}
        </Link>
      )}
    </p>
  );
}

/** Why the import cannot be submitted; `undefined` when it can. */
function obstacleTo(
  plan: ImportPlan | undefined,
  { isOther, isPending }: { readonly isOther: boolean; readonly isPending: boolean },
): string | undefined {
  if (isPending) return messages.comparing;
  if (plan === undefined) return messages.noPreview;
  if (isOther) return messages.notHere;
  if (isNothing(plan)) return messages.nothing;
  // This screen has no place for secrets that are shown once.
  if (plan.keysCreated.length + plan.webhooksCreated.length > 0) return messages.hasSecrets;
  return refusalsOf(plan).length > 0 ? messages.blocked : undefined;
}

/** The server's comparison with the project, and a function to replace it by a newer one. */
function useImportPreview(document: ProjectDocument, rules: ImportRules) {
  const queries = useQueryClient();
  // Not the text: a key is compared at each render.
  const queryKey = ['import-preview', document.id, rules];
  const { data, error, isPending } = useQuery({
    queryKey,
    queryFn: ({ signal }) => previewImport(document, rules, signal),
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
  });
  return { data, error, isPending, replace: (plan: ImportPlan) => queries.setQueryData(queryKey, plan) };
}

/** Returns what to do once the import was made or proposed: `done` is absent where its answer is. */
function useFinish(project: string, { name }: ProjectDocument, onClose: () => void) {
  const queries = useQueryClient();
  const catchUp = useCatchUp();
  return (shown: ImportPlan, done?: ImportPlan): void => {
    catchUp();
    void queries.invalidateQueries({ queryKey: queryKeys.project(project) });
    if (done === undefined) return;

    const isAsShown = JSON.stringify(thingsOf(done)) === JSON.stringify(thingsOf(shown));
    toast({
      kind: isAsShown ? 'done' : 'problem',
      title: messages.done(name),
      detail: isAsShown ? (
        <DeliveryProof seq={done.seq} />
      ) : (
        <>
          {messages.differs}{' '}
          <Link href={links.history(project)} className="underline">
            {messages.history}
          </Link>
        </>
      ),
    });
    onClose();
  };
}

/** The environments that an import changes; all, if it archives flags or changes what guards an environment. */
function touchedBy(
  { changes, flagsArchived, environmentsUpdated }: ImportPlan,
  environments: readonly EnvironmentRecord[],
): readonly EnvironmentRecord[] {
  if (flagsArchived.length > 0 || environmentsUpdated.length > 0) return environments;
  const names = new Set(changes.map(({ environment }) => environment));
  return environments.filter(({ name }) => names.has(name));
}

function stepsIn({ changes }: ImportPlan, name: string) {
  return changes.flatMap(({ environment, key, before, after }) =>
    environment === name ? [{ key, before, after }] : [],
  );
}
