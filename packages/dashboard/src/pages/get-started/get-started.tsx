import Check from 'lucide-react/icons/check';
import X from 'lucide-react/icons/x';
import { useEffect, useState } from 'react';
import { useClients, useLivePresence, useProjectDeliveries } from '../../api/clients.ts';
import { useKeys } from '../../api/keys.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { useStored } from '../../browser/stored.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { DialogPart } from '../../components/dialog-part.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { GRID } from '../../components/page.tsx';
import { messages } from './messages.ts';

const CreateKeyDialog = lazyPart(() => import('../secrets/create-key-dialog.tsx'), 'CreateKeyDialog');

interface Props {
  readonly project: ProjectRecord;
  readonly hasFlags: boolean;
  readonly onCreateFlag: () => void;
}

/**
 * Leads from a new project to the first change that a client receives, and ticks each step as soon as it happens. It
 * does not appear once a client has connected, unless this browser has shown it before that.
 */
export function GetStarted({ project, hasFlags, onCreateFlag }: Props) {
  const [stored, store] = useStored(`get-started.${project.name}`);
  const { progress, isLoading } = useProgress(project.name);
  const isNew = progress !== undefined && !progress.isConnected;
  const isKnown = progress !== undefined;
  useEffect(() => {
    // A project that has clients needs no more looks at whether it has.
    if (stored === undefined && isKnown) store(isNew ? 'shown' : 'hidden');
  }, [stored, isKnown, isNew, store]);
  const [isCreating, setCreating] = useState(false);
  if (stored === 'hidden') return null;
  // Without flags it is most likely new, and keeps its place until that is known. Flags wait for it.
  if (isLoading && hasFlags) return <span data-get-started hidden />;
  if (!isLoading && (progress === undefined || (stored === undefined && !isNew))) return null;

  const { hasKey, isConnected, delivery } = progress ?? NOTHING_DONE;
  const arrived = isConnected ? delivery : undefined;
  const createKey = () => setCreating(true);
  const steps: readonly Step[] = [
    { ...messages.flag, isDone: hasFlags, run: onCreateFlag },
    { ...messages.key, isDone: hasKey, run: createKey },
    { ...messages.connect, isDone: isConnected, run: hasKey ? createKey : undefined },
    {
      ...messages.change,
      isDone: arrived !== undefined,
      news: arrived && messages.arrived(arrived.seen, arrived.slowestMs),
    },
  ];
  const left = steps.filter(({ isDone }) => !isDone).length;
  const next = steps.findIndex(({ isDone }) => !isDone);

  return (
    <div data-get-started className={classNames(GRID, 'pb-3', isLoading && 'invisible')}>
      <section
        aria-labelledby="get-started"
        className="rounded-lg border border-line bg-surface px-4 pt-2 pb-3"
      >
        <div className="flex items-center gap-2">
          <h2 id="get-started" className="font-semibold">
            {messages.title}
          </h2>
          <span className="flex-1 text-xs text-ink-3" role="status">
            {messages.left(left)}
          </span>
          <IconButton icon={X} iconSize={15} label={messages.dismiss} onClick={() => store('hidden')} />
        </div>

        <ol
          aria-label={messages.steps}
          // The button of a step that is done gives way to that of the next one.
          data-home="[data-get-started] ol button"
          className="mt-1 grid gap-x-6 gap-y-2 sm:grid-cols-2 lg:grid-cols-4"
        >
          {steps.map((step, index) => (
            <StepItem key={step.title} step={step} number={index + 1} isNext={index === next} />
          ))}
        </ol>
      </section>

      {isCreating && (
        <DialogPart title={messages.key.title} onClose={() => setCreating(false)}>
          <CreateKeyDialog
            project={project}
            initial={{
              name: messages.keyName,
              environments: project.environments.slice(0, 1).map(({ name }) => name),
            }}
            onClose={() => setCreating(false)}
          />
        </DialogPart>
      )}
    </div>
  );
}

const NOTHING_DONE = { hasKey: false, isConnected: false, delivery: undefined };

interface Step {
  readonly title: string;
  readonly hint: string;
  /** The text of the button that runs it, if it has one. */
  readonly action?: string;
  readonly run?: (() => void) | undefined;
  readonly isDone: boolean;
  /** What it led to. */
  readonly news?: string | undefined;
}

/** A step with its mark; the next one also has a hint on phones, and its button. */
function StepItem({ step, number, isNext }: { step: Step; number: number; isNext: boolean }) {
  const { title, hint, action, run, isDone, news } = step;
  return (
    <li className="flex min-w-0 items-start gap-2.5" data-done={isDone}>
      <Mark number={number} isDone={isDone} isNext={isNext} />
      <div className="min-w-0">
        <p className={classNames('leading-6', isDone ? 'text-ink-2' : 'font-medium')}>
          {title}
          {isDone && <span className="sr-only"> ({messages.done})</span>}
        </p>
        {(isNext || !isDone) && (
          <p className={classNames('text-xs text-ink-3', !isNext && 'max-sm:hidden')}>{hint}</p>
        )}
        {news !== undefined && <p className="text-xs text-good">{news}</p>}
        {isNext && run !== undefined && (
          <Button kind="primary" className="mt-1.5 h-7" onClick={run}>
            {action}
          </Button>
        )}
      </div>
    </li>
  );
}

/** What was done in a project so far, updated live. */
function useProgress(project: string) {
  const lists = [useKeys(project), useClients(project), useProjectDeliveries(project)] as const;
  useLivePresence(project);
  const [{ data: keys }, { data: clients }, { data: deliveries }] = lists;
  const isLoading = lists.some(({ isPending }) => isPending);
  if (keys === undefined || clients === undefined || deliveries === undefined)
    return { isLoading, progress: undefined };

  const active = keys.filter(({ status }) => status === 'active');
  const progress = {
    hasKey: active.length > 0,
    isConnected:
      active.some(({ lastUsedAt }) => lastUsedAt !== undefined) ||
      clients.some(
        ({ streams, keys }) => streams > 0 || keys.some(({ lastSeenAt }) => lastSeenAt !== undefined),
      ),
    delivery: deliveries.find(({ streams, seen }) => streams > 0 && seen >= streams),
  };
  return { isLoading, progress };
}

function Mark({ number, isDone, isNext }: { number: number; isDone: boolean; isNext: boolean }) {
  return (
    <span
      aria-hidden
      className={classNames(
        'mt-0.5 flex size-5 shrink-0 items-center justify-center rounded-full text-xs font-semibold',
        isDone ? 'bg-good-soft text-good' : isNext ? 'bg-accent text-accent-ink' : 'bg-hover text-ink-2',
      )}
    >
      {isDone ? <Check size={13} /> : number}
    </span>
  );
}
