/** The colours that an environment can have on a screen, beside its name. */
export const ENVIRONMENT_COLORS = [
  'gray',
  'blue',
  'green',
  'amber',
  'red',
  'violet',
  'teal',
  'pink',
] as const;

/** A colour of an environment. */
export type EnvironmentColor = (typeof ENVIRONMENT_COLORS)[number];

/** How an environment looks that nobody has given a colour or a place. */
export const PLAIN_LOOKS = { protected: false, color: 'gray', position: 0 } as const;

/** One environment of a project: an ordered log of revisions. */
export interface Environment {
  readonly id: string;
  readonly projectId: string;
  /** Unique in its project, immutable. */
  readonly name: string;
  /** Counts committed changes. A deleted and recreated environment goes on counting, so no reader goes back in time. */
  readonly revision: number;
  /** Changes to its states need the permission for it, and a confirmation from people. */
  readonly protected: boolean;
  /** How screens tell it apart: one of {@link ENVIRONMENT_COLORS}. */
  readonly color: EnvironmentColor;
  /** Where it stands among its project's environments on a screen, from 0. */
  readonly position: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}
