import { Component, type ReactNode, useEffect } from 'react';
import { useLiveStatus } from '../api/live.tsx';
import { Button } from '../components/button.tsx';
import { CodeBlock } from '../components/code-block.tsx';
import { Page } from '../components/page.tsx';
import { reloadWhenReachable } from './parts.ts';

interface Properties {
  /** What is shown: a part that has failed is tried again when it is another. */
  readonly place: string;
  /** Frames what stands where the part would be; by default a screen. */
  readonly frame?: (title: string, content: ReactNode) => ReactNode;
  readonly children: ReactNode;
}

interface Failed {
  readonly error: unknown;
}

/**
 * Says so where a part of the dashboard cannot be shown, instead of losing the whole page: its file could not be loaded,
 * as after an upgrade of the server, or it has a bug.
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
    const { frame = screenOf, children } = this.props;
    const { failed } = this.state;
    if (failed === undefined) return children;
    return isMissingFile(failed.error)
      ? frame('This screen could not be loaded', <MissingPart reloads={this.props.frame === undefined} />)
      : frame('Something went wrong', <BrokenPart error={failed.error} />);
  }
}

function screenOf(title: string, content: ReactNode): ReactNode {
  return <Page title={title}>{content}</Page>;
}

/** Whether the file of a part could not be loaded: so say Chromium, Firefox and Safari, in this order. */
function isMissingFile(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    /Failed to fetch dynamically|error loading dynamically|Importing a module script failed/.test(
      error.message,
    )
  );
}

/** `reloads`: the page reloads by itself once the server answers. Only where it takes the whole screen, with nothing unsaved. */
function MissingPart({ reloads }: { reloads: boolean }) {
  const status = useLiveStatus();
  useEffect(() => {
    if (reloads && status === 'open') void reloadWhenReachable();
  }, [reloads, status]);
  return (
    <div role="alert" className="flex flex-col items-start gap-4">
      <p className="text-ink-2">
        The server cannot be reached at the moment, or was upgraded since this page was opened.
      </p>
      <ReloadButton />
    </div>
  );
}

function BrokenPart({ error }: { error: unknown }) {
  return (
    <div role="alert" className="flex max-w-2xl flex-col items-start gap-4">
      <p className="text-ink-2">
        This is a bug in Halyard, not something you did. Reload the page. If it happens again, please report
        this:
      </p>
      <div className="w-full">
        <CodeBlock label="What to report" code={reportOf(error)} />
      </div>
      <ReloadButton />
    </div>
  );
}

function ReloadButton() {
  return (
    <Button kind="primary" onClick={() => location.reload()}>
      Reload the page
    </Button>
  );
}

/** As many lines of the stack tell where it happened. */
const MOST_LINES = 4;

/** The error and where it happened; the names of the files tell the version. */
function reportOf(error: unknown): string {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const places = stack.split('\n').filter((line) => line.includes('/assets/'));
  const lines = places.slice(0, MOST_LINES).map((line) => line.trim().replaceAll(location.origin, ''));
  return [`${name}: ${message}`, ...lines].join('\n');
}
