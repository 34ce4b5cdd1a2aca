import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import {
  type FormEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { type ApiError, isMade, isProposed, isSessionEnd, messageOf } from '../api/api-error.ts';
import { useLostAnswers } from '../api/lost-answers.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { FormError } from './field.tsx';
import { announce } from './live-region.tsx';
import { messages } from './messages.ts';
import { ErrorText } from './screen-states.tsx';

/** A form: its problems, whether it is being submitted, and why it was refused. */
export interface Form<Name extends string = string> {
  /** Spread onto the `<form>`. */
  readonly props: {
    readonly ref: RefObject<HTMLFormElement | null>;
    readonly noValidate: true;
    readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  };
  readonly isBusy: boolean;
  /** Whether it was submitted with problems; from then on they are shown. */
  readonly isTried: boolean;
  /** The problem to show below a field. */
  readonly problem: (name: Name) => string | undefined;
  /** The error that `submit` threw. */
  readonly error: unknown;
}

/** The first control with a problem; in a group, the first of them. */
const INVALID = '[aria-invalid="true"], [data-invalid] :is(input, select, button)';

/** The text that describes a control: its problem. */
function descriptionOf(control: HTMLElement): string {
  const ids = control.getAttribute('aria-describedby')?.split(' ') ?? [];
  return ids.map((id) => document.getElementById(id)?.textContent ?? '').join(' ');
}

/**
 * Submits a form: shows its problems and focuses the first, submits once at a time, and keeps the error that `submit`
 * throws. The lists in `stale` are read again in any case, because outdated data may be why it was refused.
 */
export function useForm<Name extends string = never>({
  problems,
  submit,
  stale = [],
}: {
  /** By field; `undefined` for a valid one. */
  problems?: Readonly<Record<Name, string | undefined>>;
  submit: () => unknown;
  stale?: readonly QueryKey[];
}): Form<Name> {
  const queries = useQueryClient();
  const ref = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [tries, setTries] = useState(0);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (tries === 0) return;
    const wrong = ref.current?.querySelector<HTMLElement>(INVALID);
    // Screen readers say nothing of a field that has the focus already.
    if (wrong && wrong === document.activeElement) announce(descriptionOf(wrong));
    wrong?.focus();
  }, [tries]);

  async function send(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      await submit();
      setTries(0);
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
      for (const queryKey of stale) void queries.invalidateQueries({ queryKey });
    }
  }

  function onSubmit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    if (isBusy) return;
    if (Object.values(problems ?? {}).some((problem) => problem !== undefined)) setTries(tries + 1);
    else void send();
  }

  return {
    props: { ref, noValidate: true, onSubmit },
    isBusy,
    isTried: tries > 0,
    // The change may have arrived already, and would make the input look wrong.
    problem: (name) => (tries > 0 && !isBusy ? problems?.[name] : undefined),
    error,
  };
}

/**
 * Why a request was refused, or that it is unknown for now whether it was made. Empty without an error, and if the session
 * has ended: the sign-in dialog shows that.
 */
export function RefusalNote({ error }: { error: unknown }) {
  const isChecking = useLostAnswers() > 0;
  if (isChecking || isMade(error))
    return (
      <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
        {isChecking ? messages.checking : messageOf(error)}
      </p>
    );
  if (error === null || error === undefined || isSessionEnd(error) || isProposed(error)) return null;
  return (
    <FormError>
      <ErrorText error={error} />
    </FormError>
  );
}

/** The ref of a button that takes the focus once it is ready, as after a preview has loaded, unless a person has moved the focus by then. */
function useFocusOnceReady(isReady: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const first = useRef<Element>(null);
  // After the dialog inside has taken the focus.
  useLayoutEffect(() => {
    first.current = document.activeElement;
  }, []);

  useEffect(() => {
    if (isReady && document.activeElement === first.current) button.current?.focus({ preventScroll: true });
  }, [isReady]);
  return button;
}

/** A dialog with a form, a submit button and a cancel button. */
export function FormDialog({
  title,
  form,
  action,
  kind = 'primary',
  obstacle,
  focused,
  isQuestion = false,
  className,
  lost,
  onClose,
  children,
}: {
  title: string;
  form: Pick<Form, 'props' | 'isBusy' | 'error'>;
  /** The label of the submit button. */
  action: string;
  kind?: 'primary' | 'danger';
  /** Why it cannot be submitted now: shown beside the button, which is disabled. */
  obstacle?: string | undefined;
  /** The button that has the focus when the dialog opens. Default: its first field. */
  focused?: 'action' | 'cancel' | undefined;
  /** It closes without asking, because nothing typed in it is worth keeping. */
  isQuestion?: boolean;
  className?: string;
  /** What to do about a secret that was in a lost answer. */
  lost?: (answer: ApiError) => ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const id = useId();
  const { error } = form;
  const submit = useFocusOnceReady(focused === 'action' && obstacle === undefined);
  useEffect(() => {
    if (isProposed(error)) onClose();
  }, [error, onClose]);

  // What was made must not be submitted again.
  if (isMade(error))
    return (
      <Dialog title={title} onClose={onClose} isQuestion>
        <RefusalNote error={error} />
        {lost?.(error)}
        <DialogActions>
          <Button data-autofocus onClick={onClose}>
            {messages.close}
          </Button>
        </DialogActions>
      </Dialog>
    );

  return (
    <Dialog
      title={title}
      onClose={onClose}
      isQuestion={isQuestion}
      {...(className === undefined ? {} : { className })}
    >
      <form {...form.props}>
        <div className="flex flex-col gap-4">
          {children}
          <RefusalNote error={error} />
        </div>

        <DialogActions>
          {obstacle !== undefined && (
            <p id={id} aria-live="polite" className="min-w-0 flex-1 basis-40 self-center text-ink-2">
              {obstacle}
            </p>
          )}

          <Button onClick={onClose} data-autofocus={focused === 'cancel' || undefined}>
            Cancel
          </Button>
          <Button
            ref={submit}
            type="submit"
            kind={kind}
            disabled={obstacle !== undefined || form.isBusy}
            aria-describedby={obstacle === undefined ? undefined : id}
            data-autofocus={focused === 'action' || undefined}
          >
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
