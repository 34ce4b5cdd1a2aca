import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { digestOf } from '../packages/server/src/domain/secret.ts';

/** How much to put into the file of a stopped node that has no project yet. */
export interface LargeState {
  readonly projects: number;
  readonly environmentsPerProject: number;
  /** Each has a state in every environment of its project. */
  readonly flagsPerProject: number;
  readonly keysPerProject: number;
  /** Relay tokens, by number; each opens the projects that {@link projectsOf} says. */
  readonly relayTokens: readonly string[];
  /** The numbers of the projects that a token has. */
  readonly projectsOf: (token: number) => readonly number[];
}

/** The project key of a number. */
export function keyOf(index: number): string {
  return `proj_live_${String(index).padStart(43, 'k')}`;
}

/** The name of a project. */
export function projectName(index: number): string {
  return `project-${index}`;
}

/** The name of an environment within its project. */
export function environmentName(index: number): string {
  return `environment-${index}`;
}

/** Fills the file. The API would take an hour. Key {@link keyOf} `n` opens all of project `n` modulo their number. */
export function fillLargeState(dataFolder: string, state: LargeState): void {
  using database = new Database(join(dataFolder, 'halyard.db'), { readwrite: true });
  database.run('PRAGMA synchronous = OFF');
  database.transaction(() => {
    const project = database.prepare('INSERT INTO projects (id, name, created_at) VALUES (?, ?, 1)');
    const environment = database.prepare(
      'INSERT INTO environments (id, project_id, name, revision, created_at) VALUES (?, ?, ?, 1, 1)',
    );
    const flag = database.prepare(
      `INSERT INTO flags (project_id, key, description, tags, created_at) VALUES (?, ?, '', '[]', 1)`,
    );
    const flagState = database.prepare(
      `INSERT INTO flag_states (environment_id, flag_key, project_id, state, revision, updated_at)
        VALUES (?, ?, ?, ?, 1, 1)`,
    );
    const key = database.prepare(
      `INSERT INTO project_keys (id, project_id, name, digest, last_four, environments, created_at)
        VALUES (?, ?, ?, ?, 'kkkk', ?, 1)`,
    );

    const names = range(state.environmentsPerProject).map(environmentName);
    for (const p of range(state.projects)) {
      project.run(`p${p}`, projectName(p));
      for (const f of range(state.flagsPerProject)) flag.run(`p${p}`, `flag-${f}`);
      for (const [e, name] of names.entries()) {
        environment.run(`e${p}-${e}`, `p${p}`, name);
        for (const f of range(state.flagsPerProject))
          flagState.run(`e${p}-${e}`, `flag-${f}`, `p${p}`, `{"enabled":true,"value":"value ${p} ${f}"}`);
      }
      for (const k of range(state.keysPerProject)) {
        const n = k * state.projects + p;
        key.run(`k${n}`, `p${p}`, `key ${k}`, digestOf(keyOf(n)), JSON.stringify(names));
      }
    }

    const token = database.prepare(
      'INSERT INTO relay_tokens (id, name, active_name, digest, projects, created_at) VALUES (?, ?, ?, ?, ?, 1)',
    );
    for (const [n, secret] of state.relayTokens.entries()) {
      const projects = JSON.stringify(state.projectsOf(n).map((p) => `p${p}`));
      token.run(`r${n}`, `relay ${n}`, `relay ${n}`, digestOf(secret), projects);
    }
  })();
  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
