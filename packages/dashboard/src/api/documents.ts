import type { Wanted } from './approvals.ts';
import { request } from './request.ts';
import type { ImportPlan } from './types.ts';

/** A document of a project, as it was exported or written. */
export interface ProjectDocument {
  /** Unique on this page: the same file may have other contents later. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** How an import treats what the project has. */
export interface ImportRules {
  readonly policy: 'create-only' | 'enforce';
  /** With `enforce`: whether what the document lacks is removed. */
  readonly prune: boolean;
}

/** What an import would change, by the server's own comparison. Writes nothing. */
export function previewImport(
  document: ProjectDocument,
  rules: ImportRules,
  signal?: AbortSignal,
): Promise<ImportPlan> {
  return request('POST', `${pathOf(rules)}&dryRun=true`, { ...bodyOf(document), signal });
}

/**
 * Imports a document, all or nothing: what was previewed as `plan`, or `revision_conflict`. `confirmed` names the protected
 * environments that it changes.
 */
export function importDocument(
  document: ProjectDocument,
  rules: ImportRules,
  { plan, ...wanted }: Wanted & { readonly confirmed: readonly string[]; readonly plan: string | undefined },
): Promise<ImportPlan> {
  const path = pathOf(rules);
  // A server of an older version does not name plans.
  return request('POST', plan === undefined ? path : `${path}&plan=${plan}`, {
    ...bodyOf(document),
    ...wanted,
  });
}

function pathOf({ policy, prune }: ImportRules): string {
  return `/api/import?policy=${policy}&prune=${prune && policy === 'enforce'}`;
}

function bodyOf({ text }: ProjectDocument) {
  return { text, mediaType: text.trimStart().startsWith('{') ? 'application/json' : 'application/yaml' };
}
