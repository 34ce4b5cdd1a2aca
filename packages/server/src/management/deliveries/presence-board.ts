import type { StreamPresence } from '../../domain/delivery.ts';
import type { ServedPlaces } from '../../domain/read-side.ts';
import type { ScreenEvent } from './screen-event.ts';

interface EnvironmentCount {
  readonly environment: string;
  readonly streams: number;
  readonly nodes: number;
}

/** What screens have been told of the connected clients, so that they are told again only when it is something else. */
export class PresenceBoard {
  readonly #catalog: Pick<ServedPlaces, 'projects' | 'environments'>;
  readonly #told = new Map<string, string>();

  constructor(catalog: Pick<ServedPlaces, 'projects' | 'environments'>) {
    this.#catalog = catalog;
  }

  /** The events for the projects whose figures are others than at the last call. */
  update(presence: readonly StreamPresence[]): readonly ScreenEvent[] {
    const events: ScreenEvent[] = [];
    for (const [project, environments] of this.#countAll(presence)) {
      const told = JSON.stringify(environments);
      if (this.#told.get(project) === told) continue;
      // Of a project that nobody is connected to there is nothing to tell, once that has been told.
      const isQuiet = environments.every(({ streams }) => streams === 0);
      if (isQuiet && !this.#told.has(project)) continue;
      this.#told.set(project, told);
      events.push({
        name: 'presence',
        project,
        data: { project, environments: environments.map((each) => ({ ...each })) },
      });
    }
    return events;
  }

  /** Somebody new watches: at the next update everything is told again. */
  tellAgain(): void {
    this.#told.clear();
  }

  #countAll(presence: readonly StreamPresence[]): Map<string, EnvironmentCount[]> {
    const byEnvironment = Map.groupBy(presence, ({ environmentId }) => environmentId);
    const names = new Map([...this.#catalog.projects()].map(([name, id]) => [id, name]));
    const byProject = new Map<string, EnvironmentCount[]>();
    for (const { id, projectId, name: environment } of this.#catalog.environments()) {
      const rows = byEnvironment.get(id) ?? [];
      const project = names.get(projectId);
      if (project === undefined) continue;
      const streams = rows.reduce((sum, row) => sum + row.streams, 0);
      const nodes = new Set(rows.map(({ node }) => node)).size;
      const environments = byProject.get(project);
      if (environments === undefined) byProject.set(project, [{ environment, streams, nodes }]);
      else environments.push({ environment, streams, nodes });
    }
    return byProject;
  }
}
