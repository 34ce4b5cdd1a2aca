import { expect } from 'bun:test';
import { HOUR_MS } from '../../domain/clock.ts';
import type { TestApp, TestRequest } from '../../management/api/test-app.ts';

/** What tests of schedules do in the application that `current` returns. */
export function scheduleTests(current: () => TestApp) {
  const call: TestApp['call'] = (...request) => current().call(...request);

  /** A project with a schedule that is due an hour from now by the node's clock. */
  async function scheduled(changes: object[], more: object = {}, request: TestRequest = {}) {
    const { name, path } = await current().project();
    const made = await schedule(path, changes, more, request);
    expect([made.status, made.json.status]).toEqual([201, 'pending']);
    return { name, path, id: made.json.id as string, record: made.json };
  }

  /** Schedules changes of flags, and creates missing flags. */
  async function schedule(
    path: string,
    changes: readonly object[],
    more: object = {},
    request: TestRequest = {},
  ) {
    for (const change of changes) {
      if ('key' in change) await call('POST', `${path}/flags`, { body: { key: change.key } });
    }
    const dueAt = new Date(current().node.now + HOUR_MS).toISOString();
    const body = { environment: 'production', dueAt, changes, ...more };
    return call('POST', `${path}/schedules`, { body, ...request });
  }

  /** Lets an hour pass. */
  const pass = () => {
    current().node.now += HOUR_MS;
  };

  async function recordOf({ path, id }: { readonly path: string; readonly id: string }) {
    const { schedules } = (await call('GET', `${path}/schedules`)).json;
    return schedules.find((one: { id: string }) => one.id === id);
  }

  const flagsOf = async (path: string) => (await call('GET', `${path}/environments/production/flags`)).json;

  return { scheduled, schedule, pass, recordOf, flagsOf };
}
