import { Fragment, useId, useState } from 'react';
import { useFlagInCode } from '../../api/code-references.ts';
import type { CodePlace, CodeReport, FlagInCode } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import type { FlagPanelProps } from '../panel-props.ts';
import { ReportTime } from './found-in-code.tsx';
import { messages } from './messages.ts';

/** Places that are shown at first. */
const FEW = 5;

type Found = FlagInCode['repositories'][number];

/** Where the code of each repository has the flag. Renders nothing if no repository has looked for it. */
export function CodePanel({ project, flag }: FlagPanelProps) {
  const id = useId();
  const { data } = useFlagInCode(project.name, flag.key);
  if (data === undefined || data.repositories.length === 0) return null;

  return (
    <section aria-labelledby={id} className="max-w-4xl">
      <h2 id={id} className="mb-2 text-base font-semibold">
        {messages.title}
      </h2>
      <div className="divide-y divide-line rounded-lg border border-line bg-surface">
        {data.repositories.map((found) => (
          <Repository key={found.repository} found={found} />
        ))}
      </div>
      <p className="mt-2 text-xs text-ink-3">{messages.note}</p>
    </section>
  );
}

function Repository({ found }: { found: Found }) {
  const { repository, places, files, first } = found;
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? first : first.slice(0, FEW);

  return (
    <div className="px-4 py-3">
      <h3 className="font-medium wrap-anywhere">{repository}</h3>
      <p className="text-ink-2">{places === 0 ? messages.notFound : messages.found(places, files)}</p>
      <ReportTime report={found} isNamed={false} />

      {shown.length > 0 && (
        <ul aria-label={messages.placesOf(repository)} className="mt-1.5 flex flex-col text-xs">
          {shown.map((place) => (
            <li key={`${place.path}:${place.line}`} className="py-1 font-mono wrap-anywhere">
              <Place report={found} place={place} />
            </li>
          ))}
        </ul>
      )}
      {shown.length < first.length && (
        <Button className="mt-2" onClick={() => setWhole(true)}>
          {messages.showAll(first.length)}
        </Button>
      )}
      {shown.length === first.length && first.length < places && (
        <p className="mt-1 text-xs text-ink-3">{messages.morePlaces(places - first.length)}</p>
      )}
    </div>
  );
}

function Place({ report, place }: { report: CodeReport; place: CodePlace }) {
  // A path breaks after its folders.
  const text = `${place.path}:${place.line}`.split(/(?<=\/)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a path do not move
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
  if (report.link === undefined) return text;
  return (
    <a
      href={addressOf(report.link, report.commit, place)}
      target="_blank"
      rel="noreferrer"
      className="-my-1 inline-block py-1 text-accent hover:underline"
    >
      {text}
    </a>
  );
}

/** The address of a place. Its parts are escaped, so that they stay within the path and the query of the link. */
function addressOf(link: string, commit: string, { path, line }: CodePlace): string {
  const parts = new Map([
    ['{commit}', encodeURIComponent(commit)],
    ['{path}', path.split('/').map(encodeURIComponent).join('/')],
    ['{line}', String(line)],
  ]);
  return link.replaceAll(/\{(?:commit|path|line)\}/g, (name) => parts.get(name) ?? name);
}
