import { useState } from 'react';
import { Link } from 'wouter';
import { useEvaluationUrl } from '../../api/session.ts';
import type { FlagRecord, FlagValueKind, Json, ProjectRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { useStoredChoice } from '../../browser/stored.ts';
import { CodeBlock } from '../../components/copy.tsx';
import { Section } from '../../components/section.tsx';
import { SelectField } from '../../components/select.tsx';
import { SNIPPET_GROUPS, SNIPPETS, type SnippetName, snippetOf } from '../../flags/snippets.ts';
import { messages } from './messages.tsx';

const words = messages.snippets;

/** The page of the server about the handler, which keeps the key of pages. */
const HANDLER = '/docs/client-guide#flags-in-a-page-without-the-key';

/** The snippets that run in pages, which have no key. */
const IN_PAGES: ReadonlySet<SnippetName> = new Set(['react', 'web']);

const LANGUAGES = Object.entries(SNIPPET_GROUPS).map(([group, names]) => ({
  group,
  choices: names.map((name) => [name, SNIPPETS[name].name] as const),
}));

/** A value of each declared kind, where the flag has none yet: it decides the type that the code reads. */
const SAMPLES: Readonly<Record<FlagValueKind, Json | undefined>> = {
  any: undefined,
  none: undefined,
  text: '',
  number: 0.5,
  json: {},
};

const NAMES = Object.values(SNIPPET_GROUPS).flat();

/** Code that reads this flag, to copy, in the language that was selected last. */
export function CodeSnippets({ project, flag }: { project: ProjectRecord; flag: FlagRecord }) {
  const [environment, setEnvironment] = useState(project.environments[0]?.name ?? '');
  const [language, setLanguage] = useStoredChoice<SnippetName>('snippet', NAMES, 'typescript');
  const baseUrl = useEvaluationUrl();
  const { name, packages = [], client } = SNIPPETS[language];
  const value = flag.environments[environment]?.state.value ?? SAMPLES[flag.valueKind];

  return (
    <Section title={words.title} className="max-w-4xl">
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label={words.language}
          value={language}
          // The choices are the names.
          onSelect={(choice) => setLanguage(choice as SnippetName)}
          choices={LANGUAGES}
        />
        <SelectField
          label={words.environment}
          value={environment}
          onSelect={setEnvironment}
          choices={project.environments.map((each) => each.name)}
        />
      </div>

      {packages.length > 0 && (
        <p className="mt-3 text-xs text-ink-2">
          {words.packages}
          {packages.map((each) => (
            <code key={each} className="mr-2 wrap-anywhere">
              {each}
            </code>
          ))}
          {client !== undefined && words.installHint((text) => <DocsLink to={client}>{text}</DocsLink>)}
        </p>
      )}

      <div className="mt-3">
        <CodeBlock
          label={words.label(name, flag.key, environment)}
          code={snippetOf(language, { baseUrl, environment, key: flag.key, value })}
        />
      </div>

      <p className="mt-2 text-xs text-ink-3">
        {IN_PAGES.has(language)
          ? words.pageHint((text) => <DocsLink to={HANDLER}>{text}</DocsLink>)
          : words.serverHint((text) => (
              <Link href={links.keys(project.name)} className="text-accent underline">
                {text}
              </Link>
            ))}{' '}
        {words.more((text) => (
          <DocsLink to={links.languages}>{text}</DocsLink>
        ))}
      </p>
    </Section>
  );
}

function DocsLink({ to, children }: { to: string; children: string }) {
  return (
    <a href={to} className="text-accent underline">
      {children}
    </a>
  );
}
