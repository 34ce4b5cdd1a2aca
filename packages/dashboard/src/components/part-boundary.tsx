import { Component, type ReactNode, Suspense, useEffect } from 'react';
import { useLiveStatus } from '../api/live.tsx';
import { Button } from './button.tsx';
import { CodeBlock } from './copy.tsx';
import { messages } from './messages.ts';
import { Page } from './page.tsx';

const words = messages.failure;

interface Properties {
  /** Names the part: a failed one is retried when the name changes. */
  readonly place: string;
  /** Frames the error. `screen`: the part is the whole screen, without anything unsaved, and also reloads by itself. */
  readonly frame: 'screen' | ((title: string, content: ReactNode) => ReactNode);
  /** Shown until its file is loaded; by default nothing. */
  readonly fallback?: ReactNode;
  readonly children: ReactNode;
}

interface Failed {
  readonly error: unknown;
}

/**
 * Shows something in place of a part that is loaded, and an error in place of one that fails, instead of losing the whole page: its file could not be loaded, as after
 * an upgrade of the server, or it has a bug.
 */
export class PartBoundary extends Component<Properties, { readonly failed: Failed | undefined }> {
  override readonly state: { readonly failed: Failed | undefined } = { failed: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { failed: { error } };
  }

  override componentDidUpdate({ place }: Properties): void {
    if (this.state.failed !== undefined && place !== this.props.place) this.setState({ failed: undefined });
  }

  override render(): ReactNode {
    const { frame, fallback = null, children } = this.props;
    const { failed } = this.state;
    if (failed === undefined) return <Suspense fallback={fallback}>{children}</Suspense>;
    const framed = frame === 'screen' ? screenOf : frame;
    return isMissingFile(failed.error)
      ? framed(words.missing, <MissingPart error={failed.error} reloads={frame === 'screen'} />)
      : framed(words.broken, <BrokenPart error={failed.error} />);
  }
}

function screenOf(title: string, content: ReactNode): ReactNode {
  return <Page title={title}>{content}</Page>;
}

/** Whether the file of a part could not be loaded, in the words of Chromium, Firefox and Safari. */
function isMissingFile(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    /Failed to fetch dynamically|error loading dynamically|Importing a module script failed/.test(
      error.message,
    )
  );
}

/** How often a missing file is asked for, in milliseconds: the page does not notice every gap of the network. */
const RETRY_MS = 10_000;

/** `reloads`: the page reloads by itself once the file is there. Only where it takes the whole screen, with nothing unsaved. */
function MissingPart({ error, reloads }: { error: unknown; reloads: boolean }) {
  const status = useLiveStatus();
  useEffect(() => {
    if (!reloads) return;
    // After an upgrade the file has another name, which only the page knows.
    if (status === 'open') void reloadWhenReachable(location.pathname);
    const attempt = () => void reloadWhenReachable(fileOf(error));
    addEventListener('online', attempt);
    const timer = setInterval(attempt, RETRY_MS);
    return () => {
      removeEventListener('online', attempt);
      clearInterval(timer);
    };
  }, [error, reloads, status]);
  return (
    <div role="alert" className="flex flex-col items-start gap-4">
      <p className="text-ink-2">{words.missingWhy}</p>
      <ReloadButton />
    </div>
  );
}

function BrokenPart({ error }: { error: unknown }) {
  return (
    <div role="alert" className="flex max-w-2xl flex-col items-start gap-4">
      <p className="text-ink-2">{words.brokenWhy}</p>
      <div className="w-full">
        <CodeBlock label={words.report} code={reportOf(error)} />
      </div>
      <ReloadButton />
    </div>
  );
}

function ReloadButton() {
  return (
    <Button kind="primary" onClick={() => location.reload()}>
      {words.reload}
    </Button>
  );
}

/** How many lines of the stack a report has. */
const MOST_LINES = 4;

/** The error and where it happened; the names of the files tell the version. */
function reportOf(error: unknown): string {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const places = stack.split('\n').filter((line) => line.includes('/assets/'));
  const lines = places.slice(0, MOST_LINES).map((line) => line.trim().replaceAll(location.origin, ''));
  return [`${name}: ${message}`, ...lines].join('\n');
}

/**
 * Fetches the files of every screen while the browser is idle, one after the other, so that screens open at once and
 * survive an outage. They only go into the browser's cache: a failed `import()` would be remembered until a reload.
 */
export async function prefetchParts(): Promise<void> {
  const list = document.querySelector<HTMLMetaElement>('meta[name="parts"]')?.content ?? '';
  for (const path of list.split(' ').filter(Boolean)) {
    await idle();
    // Without it, the file is fetched when its screen is shown.
    await fetch(path).then(
      (response) => response.arrayBuffer(),
      () => undefined,
    );
  }
}

/** Resolves at the next moment without work; on a busy page, after two seconds. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no idle callbacks.
    if (typeof requestIdleCallback === 'function') requestIdleCallback(() => resolve(), { timeout: 2_000 });
    else setTimeout(resolve, 200);
  });
}

/** How long after a reload the page does not reload by itself again, in milliseconds. */
const PAUSE_MS = 30_000;
const RELOADED = 'halyard.reloaded';

/** The file that a browser says it could not load; the page where it names none, as Safari does. */
function fileOf(error: unknown): string {
  const [path] = /\/assets\/\S+/.exec(error instanceof Error ? error.message : '') ?? [];
  return path ?? location.pathname;
}

/**
 * Reloads the page if the server has a file: browsers keep a part that could not be loaded as failed until then. Does
 * nothing shortly after the last time, so that a part that is really missing causes no endless reloads.
 */
async function reloadWhenReachable(file: string): Promise<void> {
  const answer = await fetch(file, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
  if (answer?.ok !== true) return;
  try {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED) ?? 0) < PAUSE_MS) return;
    sessionStorage.setItem(RELOADED, String(Date.now()));
  } catch {
    // Without storage nothing would stop a loop.
    return;
  }
  location.reload();
}
