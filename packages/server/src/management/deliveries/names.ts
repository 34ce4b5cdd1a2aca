import type { ChangePayload, LogRow } from '../../domain/change-log.ts';
import type { ServedPlaces } from '../../domain/read-side.ts';

/** Where something takes place, by name; what belongs to no project has neither. */
export interface PlaceNames {
  readonly project?: string;
  readonly environment?: string;
}

/**
 * The names behind the ids of the change log. The catalog has forgotten a deleted project or environment by the time
 * its row is told to screens; this remembers until then.
 */
export class Names {
  readonly #projects = new Map<string, string>();
  readonly #environments = new Map<string, { readonly projectId: string; readonly name: string }>();

  /** Begins again with what the catalog holds. */
  load(catalog: ServedPlaces): void {
    this.#projects.clear();
    this.#environments.clear();
    for (const [name, id] of catalog.projects()) this.#projects.set(id, name);
    for (const { id, projectId, name } of catalog.environments())
      this.#environments.set(id, { projectId, name });
  }

  /** Learns the name that a row brings. */
  learn(row: LogRow): void {
    if (row.kind === 'project.created') {
      const { name }: ChangePayload['project.created'] = JSON.parse(row.payload);
      this.#projects.set(row.projectId, name);
    } else if (row.kind === 'environment.created' && row.environmentId !== undefined) {
      const { name }: ChangePayload['environment.created'] = JSON.parse(row.payload);
      this.#environments.set(row.environmentId, { projectId: row.projectId, name });
    }
  }

  /** Forgets what a row has deleted. */
  forget(row: LogRow): void {
    if (row.kind === 'environment.deleted') this.#environments.delete(row.environmentId ?? '');
    if (row.kind !== 'project.deleted') return;
    this.#projects.delete(row.projectId);
    for (const [id, { projectId }] of this.#environments)
      if (projectId === row.projectId) this.#environments.delete(id);
  }

  /** The place of a project and perhaps an environment, by their ids. */
  place(projectId: string, environmentId?: string): PlaceNames {
    const project = this.#projects.get(projectId);
    const environment = environmentId === undefined ? undefined : this.#environments.get(environmentId)?.name;
    return {
      ...(project === undefined ? {} : { project }),
      ...(environment === undefined ? {} : { environment }),
    };
  }

  /** The place of an environment by its id alone; without members when there is none. */
  placeOf(environmentId: string): PlaceNames {
    const known = this.#environments.get(environmentId);
    return known === undefined ? {} : this.place(known.projectId, environmentId);
  }
}
