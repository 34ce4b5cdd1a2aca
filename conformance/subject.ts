import { beforeAll, describe, setDefaultTimeout } from 'bun:test';
import { type NodeProcess, sharedPostgres, startNode } from '@halyard/testing';

/** The service under test: where it is, and who may prepare data in it. */
export interface Subject {
  readonly name: string;
  /** Base address, without a slash at its end. */
  readonly url: string;
  /** Access token of the management API. */
  readonly adminToken: string;
}

/** A subject that starts when it is first needed. */
export interface LazySubject {
  readonly name: string;
  start(): Promise<Subject>;
}

/**
 * Defines the tests of one section for every subject: a real node on each engine and one with workers, or the one
 * installation that `HALYARD_CONFORMANCE_URL` and `HALYARD_CONFORMANCE_TOKEN` name. `define` gets a function, because the node is only
 * there once the tests run; each node is started once and serves all sections. Nodes end with this process.
 */
export function conformance(section: string, define: (subject: () => Subject) => void): void {
  // Generous, because the machine may be busy; nothing here waits longer than it must.
  setDefaultTimeout(60_000);
  for (const lazy of SUBJECTS) {
    describe(`${section} (${lazy.name})`, () => {
      let started: Subject | undefined;
      beforeAll(async () => {
        started = await lazy.start();
      }, 120_000);
      define(() => {
        if (started === undefined) throw new Error('the subject is there only while tests run');
        return started;
      });
    });
  }
}

/** Every subject, for tests of a file that wait for all of them at once. */
export const SUBJECTS: readonly LazySubject[] = subjectsFrom(process.env);

function subjectsFrom(env: Record<string, string | undefined>): readonly LazySubject[] {
  const { HALYARD_CONFORMANCE_URL: url, HALYARD_CONFORMANCE_TOKEN: adminToken } = env;
  if (url === undefined) {
    return [
      once('sqlite', startOnSqlite),
      once('postgres', startOnPostgres),
      once('two workers', startWithWorkers),
    ];
  }
  if (adminToken === undefined) {
    throw new Error(
      'HALYARD_CONFORMANCE_TOKEN is missing: give an access token of the installation under test',
    );
  }
  const subject = { name: url, url: url.replace(/\/$/, ''), adminToken };
  return [{ name: url, start: async () => subject }];
}

function once(name: string, start: () => Promise<NodeProcess>): LazySubject {
  let running: Promise<Subject> | undefined;
  return {
    name,
    start: () => {
      running ??= start().then(({ url, adminToken }) => ({ name, url, adminToken }));
      return running;
    },
  };
}

async function startOnSqlite(): Promise<NodeProcess> {
  return await startNode();
}

async function startOnPostgres(): Promise<NodeProcess> {
  const postgres = await sharedPostgres();
  return await startNode({ databaseUrl: await postgres.createDatabase() });
}

async function startWithWorkers(): Promise<NodeProcess> {
  return await startNode({ env: { HALYARD_WORKERS: '2' } });
}
