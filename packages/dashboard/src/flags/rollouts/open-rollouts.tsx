import { useId } from 'react';
import { Link } from 'wouter';
import { useFlags } from '../../api/flags.ts';
import { useEnvironments } from '../../api/projects.ts';
import { useRollouts } from '../../api/rollouts.ts';
import { links } from '../../browser/links.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { messages } from './messages.ts';
import { PlanView } from './plan-view.tsx';

/** The running and paused rollout plans of a project; nothing without one. */
export function OpenRollouts({ project }: { project: string }) {
  const id = useId();
  const { data = [] } = useRollouts(project, { status: 'open' });
  const environments = useEnvironments(project);
  const [only] = useEnvironmentFilter(project);
  const { data: flags = [] } = useFlags(project);
  const shown = data.filter((plan) => only === undefined || plan.environment === only.name);
  if (shown.length === 0) return null;

  return (
    <section aria-labelledby={id} className="mb-5">
      <h2 id={id} className="mb-2 text-base font-semibold">
        {messages.list} <span className="font-normal text-ink-3">{shown.length}</span>
      </h2>
      <ul className="overflow-hidden rounded-lg border border-line bg-surface">
        {shown.map((plan) => {
          const environment = environments.find(({ name }) => name === plan.environment);
          const states = flags.find(({ key }) => key === plan.flag)?.environments;

          return (
            <li key={plan.id} className="border-t border-line px-3 py-3 first:border-t-0">
              <h3 className="mb-2 flex flex-wrap items-center gap-x-2 gap-y-1">
                <Link
                  href={`${links.flag(project, plan.flag)}?env=${plan.environment ?? ''}`}
                  className="font-mono text-xs break-all text-accent hover:underline"
                >
                  {plan.flag}
                </Link>
                <span className="text-ink-2">{messages.in}</span>
                {environment !== undefined && <EnvironmentBadge environment={environment} />}
              </h3>
              <PlanView
                project={project}
                environment={environment}
                plan={plan}
                state={states?.[plan.environment ?? '']?.state}
              />
            </li>
          );
        })}
      </ul>
    </section>
  );
}
