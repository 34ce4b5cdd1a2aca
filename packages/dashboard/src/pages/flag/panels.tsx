import { type ComponentType, lazy, Suspense } from 'react';
import { PartBoundary } from '../../components/part-boundary.tsx';
import type { EnvironmentPanelProps, FlagPanelProps } from '../../flags/panel-props.ts';

/** A panel. `name` is unique in its list; `Content` may be `lazy`. */
interface Panel<Props> {
  readonly name: string;
  readonly Content: ComponentType<Props>;
}

/** Above the environments. */
export const TOP_PANELS: readonly Panel<FlagPanelProps>[] = [
  {
    name: 'proposals',
    Content: lazy(async () => ({
      default: (await import('../../flags/proposals/flag-proposals.tsx')).FlagProposals,
    })),
  },
];

/** In an expanded environment, below its value and rollout. */
export const ENVIRONMENT_PANELS: readonly Panel<EnvironmentPanelProps>[] = [
  {
    name: 'rollout plan',
    Content: lazy(async () => ({
      default: (await import('../../flags/rollouts/environment-plan.tsx')).EnvironmentPlan,
    })),
  },
];

/** Boxes at the side of the tab "Overview", above "Who gets it?". */
export const SIDE_PANELS: readonly Panel<FlagPanelProps>[] = [
  {
    name: 'usage',
    Content: lazy(async () => ({ default: (await import('../../flags/usage/usage-panel.tsx')).UsagePanel })),
  },
];

/** Above the snippets of the tab "Code". */
export const CODE_PANELS: readonly Panel<FlagPanelProps>[] = [
  {
    name: 'code references',
    Content: lazy(async () => ({
      default: (await import('../../flags/code-references/code-panel.tsx')).CodePanel,
    })),
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
