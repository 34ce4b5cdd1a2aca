import type { EnvironmentRecord, FlagRecord, ProjectRecord, StateRecord } from '../api/types.ts';

/** What a panel of a flag's page gets. */
export interface FlagPanelProps {
  readonly project: ProjectRecord;
  readonly flag: FlagRecord;
}

/** What a panel of one environment gets. */
export interface EnvironmentPanelProps extends FlagPanelProps {
  readonly environment: EnvironmentRecord;
  /** `undefined` where the flag is not set. */
  readonly record: StateRecord | undefined;
  /** Why the state cannot be changed; `undefined` if it can be. */
  readonly obstacle: string | undefined;
}
