import { Tabs } from 'radix-ui';
import { useId, useState } from 'react';
import { useEvaluationUrl } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { CodeBlock } from '../../components/copy.tsx';
import { Select } from '../../components/select.tsx';
import { links } from '../../shell/links.ts';
import { messages } from './messages.ts';
import { SNIPPETS, type SnippetName, snippetOf } from './snippets.ts';

const words = messages.snippets;

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
          {words.title}
        </h2>
        <Select
          label={words.environment}
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
        // The tabs return one of their own names.
        onValueChange={(selected) => setName(selected as SnippetName)}
        className="mt-2"
      >
        <Tabs.List aria-label={words.language} className="flex flex-wrap gap-1">
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
              label={words.label(each, flag.key, environment)}
              code={snippetOf(each, { baseUrl, environment, key: flag.key, value })}
            />
          </Tabs.Content>
        ))}
      </Tabs.Root>
      <p className="mt-2 text-xs text-ink-3">
        {words.guide[0]}{' '}
        <a href={links.clientGuide} className="text-accent underline">
          {words.guide[1]}
        </a>
        {words.guide[2]}
      </p>
    </section>
  );
}
