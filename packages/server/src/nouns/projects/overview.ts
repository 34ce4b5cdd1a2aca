import { defined, isRecord } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import type { Project } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { administers, sees } from '../../management/rights.ts';
import { type LastChange, type ProjectFigures, readFigures, readLastChanges } from './overview-query.ts';
import { readProjects } from './project-table.ts';

/** A project with its figures. Who may not list the webhooks of a project gets no count of those that fail. */
export interface ProjectOverview extends Project, Omit<ProjectFigures, 'failingWebhooks'> {
  readonly failingWebhooks?: number;
  readonly lastChange?: LastChange;
}

/**
 * The projects that the actor may see, with their figures, by name: three statements in one snapshot, however many projects
 * there are. `choose` picks those to count for.
 */
export function overview(
  context: ManagementContext,
  actor: Actor,
  choose: (projects: readonly Project[]) => readonly Project[],
): Promise<readonly ProjectOverview[]> {
  return context.store.read(async (db) => {
    const visible = (await readProjects(db)).filter(({ id }) => sees(actor, id));
    const projects = choose(visible);
    const figures = await readFigures(db, projects, context.now());
    const changes = await readLastChanges(db, projects);

    return projects.flatMap((project) => {
      const counts = figures.get(project.id);
      if (counts === undefined) return [];
      const { failingWebhooks, ...others } = counts;
      const isAdmin = administers(actor, [project.id]);
      const shown = { failingWebhooks: isAdmin ? failingWebhooks : undefined };
      return [{ ...project, ...others, ...defined({ ...shown, lastChange: changes.get(project.id) }) }];
    });
  });
}

/** Keys of flags that a version of a schedule or a proposal is shortened to. */
const MOST_KEYS = 20;

/** What a version in the audit log says in short. */
type ShortVersion = {
  readonly enabled?: boolean;
  readonly rolloutPct?: number;
  readonly name?: string;
  readonly changes?: readonly { readonly key: string }[];
};

/** A version in the audit log in short: names and switches, never a value, which may be long. */
export function shortVersion(text: string | undefined): ShortVersion | undefined {
  const version = parsed(text);
  if (!isRecord(version)) return undefined;

  const { enabled, rolloutPct, name, changes } = version;
  return defined({
    enabled: typeof enabled === 'boolean' ? enabled : undefined,
    rolloutPct: typeof rolloutPct === 'number' ? rolloutPct : undefined,
    name: typeof name === 'string' ? name : undefined,
    changes: Array.isArray(changes) ? changes.slice(0, MOST_KEYS).flatMap(keyOf) : undefined,
  });
}

function keyOf(change: unknown): readonly { readonly key: string }[] {
  return isRecord(change) && typeof change.key === 'string' ? [{ key: change.key }] : [];
}

/** `undefined` for a damaged text. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
