import { detailsOf, detailsRecord } from '../../domain/project.ts';
import { rawJson, type Writable } from '../../domain/raw-json.ts';
import { isoTimeOr } from '../../management/api/answers.ts';
import { type ImportRules, settingsOf } from './document.ts';
import type { CreatedSecrets, ImportPlan, ImportStep, SectionPlan } from './plan.ts';

/** A plan as the API returns it. */
export function planRecord(
  { declaration, policy, prune }: ImportRules,
  plan: ImportPlan,
  created?: CreatedSecrets,
) {
  const { kept, onlyInProject, sections } = plan;
  return {
    project: declaration.project,
    policy,
    prune,
    projectCreated: plan.project === undefined,
    environmentsCreated: plan.environmentsCreated.map(({ name }) => name),
    environmentsUpdated: plan.environmentsUpdated.map(({ before, after }) => ({
      name: before.name,
      ...changed(settingsOf(before), settingsOf(after)),
    })),
    environmentOrder: plan.order,
    flagsCreated: plan.flagsCreated.map(({ key }) => key),
    flagsUpdated: plan.flagsUpdated.map(({ before, after }) => ({
      key: before.key,
      ...changed(detailsRecord(detailsOf(before)), detailsRecord(detailsOf(after))),
    })),
    flagsArchived: plan.flagsArchived.map(({ flag }) => flag.key),
    flagsRestored: plan.flagsRestored.map(({ key }) => key),
    changes: plan.changes.map(stepRecord),
    ...sectionsRecord(sections, created),
    kept,
    onlyInProject: { ...onlyInProject, ...sections.only },
  };
}

function sectionsRecord(sections: SectionPlan, created: CreatedSecrets | undefined) {
  return {
    keysCreated: (created?.keys ?? sections.keysCreated).map(({ expiresAt, ...key }) => ({
      ...key,
      expiresAt: isoTimeOr(expiresAt),
    })),
    keysRevoked: sections.keysRevoked.map(({ id, name }) => ({ id, name })),
    webhooksCreated: sections.webhooksCreated.map(({ name }) => ({
      name,
      secret: created?.webhooks.get(name),
    })),
    webhooksUpdated: sections.webhooksUpdated.map(({ after }) => ({ name: after.name })),
    webhooksDeleted: sections.webhooksDeleted.map(({ name }) => name),
    membersChanged: sections.membersChanged.map(({ email, before, after }) => ({ email, before, after })),
  };
}

/** The members that differ, before and after. */
function changed<T extends object>(before: T, after: T): { before: Partial<T>; after: Partial<T> } {
  const result: { before: Partial<T>; after: Partial<T> } = { before: {}, after: {} };
  // `keyof T`: own members of a `T`.
  for (const name of Object.keys(before) as (keyof T)[]) {
    if (JSON.stringify(before[name]) === JSON.stringify(after[name])) continue;
    result.before[name] = before[name];
    result.after[name] = after[name];
  }
  return result;
}

function stepRecord({ before, after, ...step }: ImportStep): Writable {
  return { ...step, before: rawJson(before), after: rawJson(after) };
}
