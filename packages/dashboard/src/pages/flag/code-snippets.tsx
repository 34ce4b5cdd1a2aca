import { Tabs } from 'radix-ui';
import { useId, useState } from 'react';
import { useEvaluationUrl } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { CodeBlock } from '../../components/copy.tsx';
import { Select } from '../../components/select.tsx';
import { links } from '../../shell/links.ts';
import { SNIPPETS, type SnippetName, snippetOf } from './snippets.ts';

/** Code that reads this flag, to copy. */
export function CodeSnippets({ project, flag }: { project: ProjectRecord; flag: FlagRecord }) {
  const [environment, setEnvironment] = useState(project.environments[0]?.name ?? '');
  const [name, setName] = useState<SnippetName>('curl');
  const id = useId();
  const baseUrl = useEvaluationUrl();
  const value = flag.environments[environment]?.state.value;
  return (
    <section aria-labelledby={id} className="rounded-lg border border-line bg-surface p-4">
      <div className="flex items-center justify-between gap-2">
        <h2 id={id} className="text-base font-semibold">
          Read it in code
        </h2>
        <Select
          label="Environment of the code"
          className="max-w-36 shrink-0"
          value={environment}
          onChange={(event) => setEnvironment(event.target.value)}
        >
          {project.environments.map(({ name: each }) => (
            <option key={each}>{each}</option>
          ))}
        </Select>
      </div>
      <Tabs.Root
        value={name}
        // The tabs give back one of the names they were made with.
        onValueChange={(chosen) => setName(chosen as SnippetName)}
        className="mt-2"
      >
        <Tabs.List aria-label="Language" className="flex flex-wrap gap-1">
          {SNIPPETS.map((each) => (
            <Tabs.Trigger
              key={each}
              value={each}
              className="min-h-7 rounded-md px-2 text-xs font-medium text-ink-2 hover:bg-hover data-[state=active]:bg-accent-soft data-[state=active]:text-accent"
            >
              {each}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {SNIPPETS.map((each) => (
          <Tabs.Content key={each} value={each} className="mt-2 rounded-md">
            <CodeBlock
              label={`${each}: ${flag.key} in ${environment}`}
              code={snippetOf(each, { baseUrl, environment, key: flag.key, value })}
            />
          </Tabs.Content>
        ))}
      </Tabs.Root>
      <p className="mt-2 text-xs text-ink-3">
        All of it is in the{' '}
        <a href={links.clientGuide} className="text-accent underline">
          client guide
        </a>
        .
      </p>
    </section>
  );
}
