import { type ComponentType, lazy, Suspense } from 'react';
import type { EnvironmentRecord, FlagRecord, ProjectRecord, StateRecord } from '../../api/types.ts';
import { PartBoundary } from '../../shell/part-boundary.tsx';

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

/** A panel. `name` is unique in its list; `Content` may be `lazy`. */
interface Panel<Props> {
  readonly name: string;
  readonly Content: ComponentType<Props>;
}

/** In an expanded environment, below its value and rollout. */
export const ENVIRONMENT_PANELS: readonly Panel<EnvironmentPanelProps>[] = [
  {
    name: 'rollout plan',
    Content: lazy(async () => ({
      default: (await import('../rollouts/environment-plan.tsx')).EnvironmentPlan,
    })),
  },
];

/** Boxes at the side of the tab "Overview", below "Who gets it?". */
export const SIDE_PANELS: readonly Panel<FlagPanelProps>[] = [
  {
    name: 'usage',
    Content: lazy(async () => ({ default: (await import('../usage/usage-panel.tsx')).UsagePanel })),
  },
];

/** The panels of a list. One that fails is left out, so that the rest of the page keeps working. */
export function Panels<Props extends object>({
  panels,
  props,
}: {
  panels: readonly Panel<Props>[];
  props: Props;
}) {
  return panels.map(({ name, Content }) => (
    <PartBoundary key={name} place={name} frame={() => null}>
      <Suspense fallback={null}>
        <Content {...props} />
      </Suspense>
    </PartBoundary>
  ));
}
