import { type ChangeInput, Management, type NodeProcess } from '@halyard/testing';

/** The one project of a bench, in which everything is measured. */
export const PROJECT = 'bench';
/** The environment in which everything is measured. */
export const ENVIRONMENT = 'production';

/** A filled environment and what opens it. */
export interface Fixture {
  readonly management: Management;
  /** Headers that a read needs. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Most flags written as one change. */
const BATCH = 2000;

/** Makes a project with `count` flags in one environment, and a key to it. */
export async function fillNode(
  node: Pick<NodeProcess, 'url' | 'adminToken'>,
  count: number,
): Promise<Fixture> {
  const management = new Management(node);
  await management.createProject(PROJECT);
  for (let first = 0; first < count; first += BATCH) {
    const changes = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => flag(first + index));
    await management.change(PROJECT, ENVIRONMENT, changes);
  }
  const { key } = await management.createKey(PROJECT, [ENVIRONMENT]);
  return { management, headers: { 'X-Service-Key': key } };
}

/** The key of the flag of that number: `flag-00042`. */
export function flagKey(index: number): string {
  return `flag-${String(index).padStart(5, '0')}`;
}

/** A mixture as it is found in practice: switches, texts, rollouts; about 80 bytes each inside the map. */
function flag(index: number): ChangeInput {
  const state = {
    enabled: index % 2 === 0,
    value: `variant ${index % 7} of a text value`,
    ...(index % 3 === 0 ? { rolloutPct: index % 101 } : {}),
  };
  return { key: flagKey(index), state };
}
