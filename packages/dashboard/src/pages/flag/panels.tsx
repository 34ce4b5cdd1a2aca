import type { ComponentType } from 'react';
import { lazyPart } from '../../components/lazy-part.ts';
import { SparePart } from '../../components/parts.tsx';
import type { EnvironmentPanelProps, FlagPanelProps } from '../../flags/panel-props.ts';
import { FlagProposals } from '../../flags/proposals/flag-proposals.tsx';
import { UsagePanel } from '../../flags/usage/usage-panel.tsx';

/** A panel. `name` is unique in its list; `Content` may be `lazy`. */
interface Panel<Props> {
  readonly name: string;
  readonly Content: ComponentType<Props>;
}

/** Above the environments. */
export const TOP_PANELS: readonly Panel<FlagPanelProps>[] = [
  // Not loaded later: it would push the environments down.
  { name: 'proposals', Content: FlagProposals },
];

/** In an expanded environment, below its value and rollout. */
export const ENVIRONMENT_PANELS: readonly Panel<EnvironmentPanelProps>[] = [
  {
    name: 'rollout plan',
    Content: lazyPart(() => import('../../flags/rollouts/environment-plan.tsx'), 'EnvironmentPlan'),
  },
];

/** Boxes at the side of the tab "Overview", above "Who gets it?". */
export const SIDE_PANELS: readonly Panel<FlagPanelProps>[] = [
  // The first box.
  { name: 'usage', Content: UsagePanel },
];

/** Above the snippets of the tab "Code". */
export const CODE_PANELS: readonly Panel<FlagPanelProps>[] = [
  {
    name: 'code references',
    Content: lazyPart(() => import('../../flags/code-references/code-panel.tsx'), 'CodePanel'),
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
    <SparePart key={name}>
      <Content {...props} />
    </SparePart>
  ));
}
