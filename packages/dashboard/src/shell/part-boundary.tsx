import { Component, type ReactNode } from 'react';
import { Button } from '../components/button.tsx';
import { Page } from '../components/page.tsx';

interface Properties {
  /** What is shown: a part that has failed is tried again when it is another. */
  readonly place: string;
  /** Stands where the part would be; by default a screen with {@link MissingPart}. */
  readonly fallback?: ReactNode;
  readonly children: ReactNode;
}

/**
 * Says so where a part of the dashboard cannot be shown: after an upgrade of the server its file has another name, and
 * without this the whole page would be taken away with it.
 */
export class PartBoundary extends Component<Properties, { readonly hasFailed: boolean }> {
  override readonly state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidUpdate({ place }: Properties): void {
    if (this.state.hasFailed && place !== this.props.place) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    const { fallback = <MissingScreen />, children } = this.props;
    return this.state.hasFailed ? fallback : children;
  }
}

function MissingScreen() {
  return (
    <Page title="This screen could not be loaded">
      <MissingPart />
    </Page>
  );
}

/** What to do about a part that is not there. */
export function MissingPart() {
  return (
    <div role="alert" className="flex flex-col items-start gap-4">
      <p className="text-ink-2">
        The server may have been upgraded since this page was opened, or cannot be reached at the moment.
      </p>
      <Button kind="primary" onClick={() => location.reload()}>
        Load the page anew
      </Button>
    </div>
  );
}
