import PartyPopper from 'lucide-react/icons/party-popper';
import Plug from 'lucide-react/icons/plug';
import { useEffect, useRef, useState } from 'react';
import { Link, useParams } from 'wouter';
import { useClients, useLivePresence } from '../../api/clients.ts';
import { useEnvironments } from '../../api/projects.ts';
import { useEvaluationUrl } from '../../api/session.ts';
import type { EnvironmentClients } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { CodeSection } from '../../components/copy.tsx';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { EnvironmentName } from '../../components/environment-name.tsx';
import { announce } from '../../components/live-region.tsx';
import { Page } from '../../components/page.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { LOCALE, TimeAgo } from '../../components/time-ago.tsx';
import { snippetOf } from '../../flags/snippets.ts';
import { messages } from './messages.tsx';
import { RecentDeliveries } from './recent-deliveries.tsx';

/** The screen "Clients": the connections to a project, and how fast changes reach them. */
export function ClientsPage() {
  const { project = '' } = useParams<{ project: string }>();
  const reading = useClients(project);
  useLivePresence(project);
  const [only] = useEnvironmentFilter(project);
  const isListed = ({ environment }: EnvironmentClients) => only === undefined || environment === only.name;
  const streams = (reading.data ?? []).reduce((sum, each) => sum + each.streams, 0);

  return (
    <Page title={`${messages.title} · ${project}`} heading={messages.title} intro={messages.intro}>
      <Loaded reading={reading} rows={5}>
        {(clients) => (
          <>
            <FirstClientNotice streams={streams} />
            <div className="grid grid-cols-1 gap-3 md:grid-cols-2 lg:grid-cols-3">
              {clients.filter(isListed).map((presence) => (
                <EnvironmentPresence key={presence.environment} presence={presence} />
              ))}
            </div>
            {streams === 0 && <HowToConnect project={project} />}
            <RecentDeliveries project={project} areConnected={streams > 0} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const names = new Intl.Collator(LOCALE, { numeric: true });

type KeyClients = EnvironmentClients['keys'][number];

/** The streams of one environment, in all and by key. */
function EnvironmentPresence({ presence }: { presence: EnvironmentClients }) {
  const { environment: name, streams, nodes, keys } = presence;
  const sorted = keys.toSorted((one, other) => names.compare(one.name, other.name));
  const connected = sorted.filter((key) => key.streams > 0);
  const idle = sorted.filter((key) => key.streams === 0);

  return (
    <section aria-label={name} className="rounded-lg border border-line bg-surface">
      <div className="flex items-baseline justify-between gap-3 px-4 pt-3 pb-2">
        <h2 className="min-w-0 font-medium">
          <EnvironmentName name={name} />
        </h2>
        <p className="shrink-0 text-ink-2">
          <strong className="text-lg font-semibold text-ink">{streams}</strong> {messages.streams(streams)}
          {streams > 0 && messages.onNodes(messages.nodes(nodes))}
        </p>
      </div>

      {keys.length === 0 ? (
        <p className="border-t border-line px-4 py-3 text-ink-3">{messages.noKeys}</p>
      ) : (
        <>
          {connected.length > 0 && <KeyClientList label={messages.keysOf(name)} keys={connected} />}
          {idle.length > 0 && <IdleKeys environment={name} keys={idle} />}
        </>
      )}
    </section>
  );
}

/** The keys without a stream, in one line that opens: most keys of a large project belong to programs that only read now and then. */
function IdleKeys({ environment, keys }: { environment: string; keys: readonly KeyClients[] }) {
  const latest = keys.reduce<string | undefined>(
    (last, { lastSeenAt = '' }) => (lastSeenAt > (last ?? '') ? lastSeenAt : last),
    undefined,
  );

  return (
    <details className="border-t border-line">
      <summary className="cursor-pointer px-4 py-2 text-ink-2">
        {messages.idle(keys.length)}
        {latest !== undefined && (
          <span className="text-xs text-ink-3">
            {messages.lastUsed}
            <TimeAgo at={latest} />
          </span>
        )}
      </summary>
      <KeyClientList label={messages.idleKeysOf(environment)} keys={keys} />
    </details>
  );
}

function KeyClientList({ label, keys }: { label: string; keys: readonly KeyClients[] }) {
  return (
    <ul className="border-t border-line" aria-label={label}>
      {keys.map((key) => (
        <li
          key={key.id}
          className="flex flex-wrap items-baseline justify-between gap-x-3 px-4 py-2 not-first:border-t not-first:border-line"
        >
          <span className="min-w-0 wrap-anywhere">
            {key.name}{' '}
            {key.lastFour !== '' && (
              <code className="font-mono text-xs whitespace-nowrap text-ink-3">…{key.lastFour}</code>
            )}
          </span>

          {key.streams > 0 ? (
            <span className="text-ink-2">
              {key.streams} {messages.streams(key.streams)}
              {key.nodes > 1 && `, ${messages.nodes(key.nodes)}`}
            </span>
          ) : (
            <span className="text-xs text-ink-3">
              {key.lastSeenAt === undefined ? (
                messages.neverUsed
              ) : (
                <>
                  {messages.used} <TimeAgo at={key.lastSeenAt} />
                </>
              )}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Explains how to connect the first client, with a placeholder for the key: the dashboard cannot show it again. */
function HowToConnect({ project }: { project: string }) {
  const environment = useEnvironments(project)[0]?.name ?? 'development';
  const baseUrl = useEvaluationUrl();
  const flag = { baseUrl, environment, key: 'new-checkout', value: undefined };

  return (
    <section
      className="mt-6 rounded-lg border border-line bg-surface p-4 sm:p-6"
      aria-labelledby="how-to-connect"
    >
      <h2 id="how-to-connect" className="flex items-center gap-2 text-lg font-semibold">
        <Plug size={18} className="text-accent" aria-hidden /> {messages.connectTitle}
      </h2>
      <p className="mt-1 mb-4 max-w-2xl text-ink-2">
        {messages.connect(
          (text) => (
            <Link href={links.keys(project)} className="text-accent underline">
              {text}
            </Link>
          ),
          (text) => (
            <a href="/docs/client" className="text-accent underline">
              {text}
            </a>
          ),
        )}
      </p>
      <div className="grid gap-4 lg:grid-cols-2">
        <CodeSection
          title={messages.inTerminal}
          label={messages.terminalLabel}
          code={snippetOf('stream', flag)}
        />
        <CodeSection
          title={messages.inProgram}
          label={messages.programLabel}
          code={snippetOf('typescript', flag)}
        />
      </div>
    </section>
  );
}

/** Celebrates the first client that connects while the screen is open. */
function FirstClientNotice({ streams }: { streams: number }) {
  const before = useRef(streams);
  const [isFirst, setFirst] = useState(false);

  useEffect(() => {
    if (before.current === 0 && streams > 0) {
      setFirst(true);
      announce(messages.firstClientAnnounced);
    }
    before.current = streams;
  }, [streams]);

  if (!isFirst) return null;

  return (
    <p className="mb-3 flex animate-enter items-center gap-2.5 rounded-lg bg-good-soft px-4 py-3 text-good">
      <PartyPopper size={18} className="shrink-0" aria-hidden />
      <span>
        <strong className="font-semibold">{messages.firstClient}</strong> {messages.firstClientHint}
      </span>
    </p>
  );
}
